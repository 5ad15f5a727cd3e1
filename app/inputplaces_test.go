package app

import (
	"path/filepath"
	"slices"
	"testing"

	"sandglass/app/runlog"
	"sandglass/planner"
)

func TestInputPlaces(t *testing.T) {
	for _, tt := range []struct {
		spec BuildSpec
		want []planner.InputPlace
	}{
		{BuildSpec{}, nil},
		{BuildSpec{Competitions: []string{"leaf"}, Datasets: []string{"a/b", "a/c=data/./leaves"}, Kernels: []string{"a/k"}},
			[]planner.InputPlace{{Ref: "leaf", Folder: "data"}, {Ref: "a/b", Folder: "data"}, {Ref: "a/c", Folder: "data/leaves"}, {Ref: "a/k", Folder: "data"}}},
		{BuildSpec{Layout: "nested", Competitions: []string{"leaf"}, Datasets: []string{"a/b"}, Kernels: []string{"a/k"}},
			[]planner.InputPlace{{Ref: "leaf", Folder: "data"}, {Ref: "a/b", Folder: "data/ext/b"}, {Ref: "a/k", Folder: "data/ext/kout-k"}}},
	} {
		dir := t.TempDir()
		if err := writeJSON(filepath.Join(dir, notesName), buildNotes{BuildID: "b1", Spec: tt.spec}); err != nil {
			t.Fatal(err)
		}
		if got := inputPlaces(runlog.Run{BuildDir: dir, BuildID: "b1"}); !slices.Equal(got, tt.want) {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
		if got := inputPlaces(runlog.Run{BuildDir: dir, BuildID: "b2"}); got != nil {
			t.Errorf("of another build: %+v", got)
		}
	}
}
