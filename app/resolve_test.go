package app

import (
	"errors"
	"strings"
	"testing"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

// TestResolveWays: a run answers to everything a person may call it.
func TestResolveWays(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, works(0))
	a := w.open(t, "")
	defer closeApp(t, a)
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[int]int64{}
	for _, v := range []int{1, 2} {
		r, err := a.store.CreateRun(t.Context(), runlog.Run{Account: acc.ID, Kernel: acc.Username + "/idea-train", Name: "My idea", Version: v, State: StateComplete, Origin: originPush})
		if err != nil {
			t.Fatal(err)
		}
		ids[v] = r.ID
	}
	for name, version := range map[string]int{
		"idea-train": 2, "idea-train/1": 1, "idea-train/v1": 1, acc.Username + "/idea-train": 2, acc.Username + "/idea-train/1": 1,
		"My idea": 2, "My idea/1": 1, "My idea/v2": 2, " idea-train ": 2,
	} {
		if r, err := a.Resolve(t.Context(), name); err != nil || r.ID != ids[version] {
			t.Errorf("%q: run %d of version %d, %v; want version %d", name, r.ID, r.Version, err, version)
		}
	}
	for _, name := range []string{"idea-train/3", "nothing/1", "a b c", "/1", "idea-train/0", "idea-train/-1"} {
		if _, err := a.Resolve(t.Context(), name); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), "/VERSION") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
