package runlog

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestBacklog(t *testing.T) {
	ctx := context.Background()
	l, err := Open(ctx, filepath.Join(t.TempDir(), "log.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	gain := .004
	in := BacklogItem{Name: "seed2", Project: "/p", Command: "python x.py", Pool: "gpu", Hours: 5.7, Gain: &gain, Validated: true, State: "todo"}
	b, err := l.AddBacklog(ctx, in, nil)
	if err != nil || b.ID == 0 || b.AddedAt.IsZero() || b.Gain == nil || *b.Gain != gain || b.GainSD != nil || !b.Validated || b.Divisible {
		t.Fatalf("got %+v, %v", b, err)
	}
	no := errors.New("no")
	if _, err := l.AddBacklog(ctx, in, func(others []BacklogItem) error {
		if len(others) == 1 && others[0].Name == "seed2" {
			return no
		}
		return nil
	}); err != no {
		t.Errorf("the check said no: %v", err)
	}
	if _, err := l.UpdateBacklog(ctx, b.ID, func(b *BacklogItem) error { b.State = "done"; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := l.UpdateBacklog(ctx, b.ID, func(b *BacklogItem) error { b.State = "lost"; return no }); err != no {
		t.Errorf("the change refused: %v", err)
	}
	list, err := l.Backlog(ctx)
	if err != nil || len(list) != 1 || list[0].State != "done" || list[0].Hours != 5.7 {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := l.UpdateBacklog(ctx, 99, func(*BacklogItem) error { return nil }); !errors.Is(err, ErrNotFound) {
		t.Errorf("an item that is not there: %v", err)
	}
}
