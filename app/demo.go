package app

import (
	"context"
	"errors"
)

var errNotReady = errors.New("not ready")

// WriteDemo writes the demo project and says how to build it.
func WriteDemo(dir string) (BuildSpec, error) { return BuildSpec{}, errNotReady }

// StartDemo runs the demo.
func (a *App) StartDemo(ctx context.Context, progress func(Progress)) (RunRow, error) {
	return RunRow{}, errNotReady
}
