package app

import (
	"errors"
	"testing"

	"sandglass/kaggle/sandbox"
)

func TestBacklogIsEditedAndReopened(t *testing.T) {
	a := newWorld(t, sandbox.Options{}, nil).open(t, "")
	defer closeApp(t, a)
	first, err := a.AddBacklog(t.Context(), BacklogItem{Name: "seed2", Hours: 5})
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.AddBacklog(t.Context(), BacklogItem{Name: "wide"})
	if err != nil {
		t.Fatal(err)
	}
	gain := .002
	edited := first
	edited.Name, edited.Hours, edited.Gain, edited.Validated, edited.State = " seed  3 ", 6, &gain, true, BacklogDone
	got, err := a.EditBacklog(t.Context(), edited)
	if err != nil || got.Name != "seed 3" || got.Hours != 6 || *got.Gain != gain || !got.Validated || got.State != BacklogTodo || !got.AddedAt.Equal(first.AddedAt) {
		t.Errorf("edited: %+v, %v", got, err)
	}
	if _, err := a.EditBacklog(t.Context(), got); err != nil {
		t.Errorf("its own name again: %v", err)
	}
	var call *CallError
	for _, bad := range []BacklogItem{{ID: first.ID, Name: "WIDE"}, {ID: first.ID}, {ID: 99, Name: "x"}} {
		if _, err := a.EditBacklog(t.Context(), bad); !errors.As(err, &call) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := a.MarkBacklog(t.Context(), "wide", BacklogDropped); err != nil {
		t.Fatal(err)
	}
	if _, err := a.EditBacklog(t.Context(), second); !errors.As(err, &call) {
		t.Errorf("a dropped item is edited: %v", err)
	}
	if back, err := a.ReopenBacklog(t.Context(), second.ID); err != nil || back.State != BacklogTodo {
		t.Errorf("reopened: %+v, %v", back, err)
	}
	if _, err := a.MarkBacklog(t.Context(), "wide", BacklogDropped); err != nil {
		t.Fatal(err)
	}
	if _, err := a.AddBacklog(t.Context(), BacklogItem{Name: "wide"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ReopenBacklog(t.Context(), second.ID); !errors.As(err, &call) {
		t.Errorf("reopened beside another of its name: %v", err)
	}
}
