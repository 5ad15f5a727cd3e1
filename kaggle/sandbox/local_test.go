package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// What a sandbox has is found beside a sandbox that runs, and nothing of it is changed.
func TestSourceFolder(t *testing.T) {
	home, data := t.TempDir(), t.TempDir()
	if dir, err := SourceFolder(home, "dataset", "ann/leaves"); err != nil || dir != "" {
		t.Fatalf("a sandbox that never ran: %q, %v", dir, err)
	}
	s, err := New(Options{Home: home, Username: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.WriteFile(filepath.Join(data, "train.csv"), []byte("id\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, add := range []error{
		s.AddDataset("ann", "leaves", data), s.AddCompetition("contest", data, true), s.AddCompetition("closed", data, false),
		s.AddModel("ann/net/pytorch/base/2", data), s.AddKernel(KernelSeed{Slug: "old-run", Output: data}),
	} {
		if add != nil {
			t.Fatal(add)
		}
	}
	for _, tt := range []struct{ kind, ref, want string }{
		{"dataset", "Ann/Leaves", data}, {"dataset", "bob/leaves", ""}, {"dataset", "leaves", ""},
		{"competition", "contest", data}, {"competition", "closed", ""},
		{"model", "ann/net/pytorch/base", data}, {"model", "ann/net/pytorch/base/1", ""},
		{"kernel", "ann/none", ""}, {"gift", "ann/leaves", ""},
	} {
		got, err := SourceFolder(home, tt.kind, tt.ref)
		if err != nil || got != tt.want {
			t.Errorf("%s %s: %q, %v; want %q", tt.kind, tt.ref, got, err, tt.want)
		}
	}
	dir, err := SourceFolder(home, "kernel", "ann/old-run")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "train.csv")); err != nil {
		t.Errorf("the output of a run: %q, %v", dir, err)
	}
	if err := os.WriteFile(filepath.Join(home, "state.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := SourceFolder(home, "dataset", "ann/leaves"); err == nil {
		t.Error("a damaged state is not told")
	}
}

func TestFakeDevices(t *testing.T) {
	for shape, want := range map[string][2]int{"": {0, 0}, "none": {0, 0}, "NvidiaTeslaT4": {2, 0}, "TpuV5E8": {0, 8}, "NvidiaL4": {4, 0}} {
		if g, c := FakeDevices(shape); g != want[0] || c != want[1] {
			t.Errorf("%s: %d GPUs, %d chips", shape, g, c)
		}
	}
	if got := MountTarget(LayoutNew, "dataset", "a/b"); got != "datasets/a/b" {
		t.Errorf("mounted at %s", got)
	}
}
