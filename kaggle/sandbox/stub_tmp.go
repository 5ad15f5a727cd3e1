package sandbox

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

type state struct{ Username, Key, Token string }
type liveSession struct{}
type faultRule struct{}
type pythonExecutor struct {
	path string
	log  *slog.Logger
	now  func() time.Time
}

func (p *pythonExecutor) Run(ctx context.Context, job Job) Result { return Result{} }
func (s *Sandbox) open() error                                    { return nil }
func (s *Sandbox) unlock()                                        {}
func (s *Sandbox) saveLocked() error                              { return nil }
func newFaults() *Faults                                          { return &Faults{} }
func (s *Sandbox) routes() http.Handler                           { return nil }
func validOwner(string) bool                                      { return true }

// Add puts a rule in force and returns it with its ID.
func (f *Faults) Add(rule Fault) (Fault, error) { return rule, nil }

// List returns the rules in force, oldest first.
func (f *Faults) List() []Fault { return nil }

// Clear removes every rule.
func (f *Faults) Clear() {}
