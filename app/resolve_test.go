package app

import (
	"errors"
	"strconv"
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

// TestRunOfAnotherAccount: a number names any run of the log; asked or deleted as another account it would be another kernel.
func TestRunOfAnotherAccount(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, works(0))
	a := w.open(t, "")
	defer closeApp(t, a)
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := a.store.SaveAccount(t.Context(), runlog.Account{Username: acc.Username, Kind: "sandbox", Endpoint: "http://127.0.0.1:1", AuthKind: "key", Store: "file"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.store.CreateRun(t.Context(), runlog.Run{Account: other.ID, Kernel: acc.Username + "/same-name", Name: "same-name", Version: 1, State: StateRunning, Origin: originPush})
	if err != nil {
		t.Fatal(err)
	}
	number := strconv.FormatInt(r.ID, 10)
	_, refresh := a.Refresh(t.Context(), number)
	_, collect := a.Collect(t.Context(), number, CollectOptions{}, nil)
	for what, err := range map[string]error{"refresh": refresh, "collect": collect, "delete": a.Delete(t.Context(), number)} {
		var call *CallError
		if !errors.As(err, &call) || !strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := getRun(t, a, r.ID); got.State != StateRunning || w.count("DeleteKernel") != 0 {
		t.Errorf("%s, %d deletes", got.State, w.count("DeleteKernel"))
	}
}
