package app

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sandglass/app/keychain"
	"sandglass/kaggle/sandbox"
)

// smallDisk mounts a little file system, or skips the test where that is not allowed.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if runtime.GOOS != "linux" {
		t.Skip("needs a tmpfs")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no tmpfs here: %v %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	return dir
}

// ends waits in real time until a run is over.
func ends(t *testing.T, a *App, kernel string) RunView {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		v, err := a.Refresh(t.Context(), kernel)
		if err == nil && v.Ended {
			return v
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not end: %s %v", kernel, v.State, err)
		}
	}
}

// A disk that fills up during a collect: said in words, nothing half is taken for
// whole, and after making room the collect completes.
func TestCollectOnAFullDisk(t *testing.T) {
	disk := smallDisk(t, "size=300k")
	files := sessionFiles()
	w := newWorld(t, sandbox.Options{}, saves(files))
	a := w.open(t, "")
	defer closeApp(t, a)
	row := pushDir(t, a, buildProject(t, a, t.TempDir(), "full-disk-run").Dir, PushOptions{})
	ends(t, a, row.Kernel)
	to := filepath.Join(disk, "outputs")
	_, err := a.Collect(t.Context(), row.Kernel, CollectOptions{Dir: to}, nil)
	if err == nil || !isFull(err) || !strings.Contains(err.Error(), "collect again") {
		t.Fatalf("on a full disk: %v", err)
	}
	if x := Explain(err); !strings.Contains(strings.ToLower(x.Title+x.Sentence+x.Action), "disk") {
		t.Errorf("explained as %+v", x)
	}
	checkWhole(t, "full disk", to, files, false)
	if r := getRun(t, a, row.ID); !r.CollectedAt.IsZero() {
		t.Error("called collected")
	}
	if out, err := exec.Command("mount", "-o", "remount,size=20m", disk).CombinedOutput(); err != nil {
		t.Skipf("no remount: %v %s", err, out)
	}
	if _, err := a.Collect(t.Context(), row.Kernel, CollectOptions{Dir: to}, nil); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	checkWhole(t, "with room", to, files, true)
}

// A home that cannot be written is refused with what to do.
func TestReadOnlyHome(t *testing.T) {
	disk := smallDisk(t, "ro,size=100k")
	_, err := Open(t.Context(), Options{Home: filepath.Join(disk, "home"), Getenv: envOf(nil), Keychain: keychain.Memory()})
	if err == nil || !strings.Contains(err.Error(), "SANDGLASS_HOME") {
		t.Errorf("got %v", err)
	}
	_, err = Open(t.Context(), Options{Home: disk, Getenv: envOf(nil), Keychain: keychain.Memory()})
	if err == nil {
		t.Error("a read-only home was opened")
	}
}

// Real scripts that go wrong, in the real executor.
func TestScriptsThatGoWrong(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	w := newWorld(t, sandbox.Options{}, nil)
	a := w.open(t, "")
	defer closeApp(t, a)
	t.Run("own kernel crashes", func(t *testing.T) {
		dir := kernelFolder(t, "crashing-script", "none", nil)
		writeAll(t, dir, map[string]string{"main.py": "print('begin')\nraise ValueError('no such column: target')\n"})
		row := pushDir(t, a, dir, PushOptions{Hours: 0.1})
		ends(t, a, row.Kernel)
		c, err := a.Collect(t.Context(), row.Kernel, CollectOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Run.State != StateError || c.Run.Outcome != OutcomeFailed || len(c.Run.Findings) == 0 || c.Run.Findings[0].Level != "bad" {
			t.Errorf("state %s, outcome %s, findings %+v", c.Run.State, c.Run.Outcome, c.Run.Findings)
		}
		lines, _, err := a.LogLines(t.Context(), row.ID, 0, -1)
		var text strings.Builder
		for _, l := range lines {
			text.WriteString(l.Text + "\n")
		}
		if err != nil || !strings.Contains(text.String(), "no such column: target") {
			t.Errorf("log %q %v", text.String(), err)
		}
	})
	t.Run("command without the contract's outputs", func(t *testing.T) {
		project := t.TempDir()
		writeAll(t, project, map[string]string{"src/train.py": "print('I save nothing')\n", "data/folds.csv": "id,fold\n1,0\n2,1\n"})
		b, err := a.Build(t.Context(), BuildSpec{Project: project, Name: "silent", Command: "python src/train.py --folds {fold}", Hours: 0.2, Accelerator: "none"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := pushDir(t, a, b.Dir, PushOptions{})
		ends(t, a, row.Kernel)
		c, err := a.Collect(t.Context(), row.Kernel, CollectOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Run.Tasks) != 2 || c.Run.Score != nil || c.Run.Outcome == "" || len(c.Run.Findings) == 0 {
			t.Errorf("%d tasks, score %v, outcome %q, findings %+v", len(c.Run.Tasks), c.Run.Score, c.Run.Outcome, c.Run.Findings)
		}
		t.Logf("outcome %s: %+v", c.Run.Outcome, c.Run.Findings)
	})
}

// A cancelled collect leaves what it has and says so.
func TestCollectCancelled(t *testing.T) {
	files := sessionFiles()
	w := newWorld(t, sandbox.Options{}, saves(files))
	a := w.open(t, "")
	defer closeApp(t, a)
	project := t.TempDir()
	row := pushDir(t, a, buildProject(t, a, project, "cancelled-collect").Dir, PushOptions{})
	ends(t, a, row.Kernel)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := a.Collect(ctx, row.Kernel, CollectOptions{}, func(p Progress) {
		if p.Stage == "Downloading" {
			cancel()
		}
	})
	if err == nil {
		t.Fatal("a cancelled collect ended well")
	}
	if _, err := os.Stat(filepath.Join(project, "artifacts", "leaf", "score.json")); err == nil {
		t.Error("an artifact was placed by a cancelled collect")
	}
	if _, err := a.Collect(t.Context(), row.Kernel, CollectOptions{Weights: true}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(project, "artifacts", "leaf", "fold0.pt")); err != nil {
		t.Errorf("weights were asked for: %v", err)
	}
}

// TestCollectWithoutTheProject: a project folder that was moved, or is on a disk that is not there, is not made anew; collecting
// again when it is back brings the results home.
func TestCollectWithoutTheProject(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, saves(sessionFiles()))
	a := w.open(t, "")
	defer closeApp(t, a)
	project := filepath.Join(t.TempDir(), "project")
	row := pushDir(t, a, buildProject(t, a, project, "no-project").Dir, PushOptions{})
	ends(t, a, row.Kernel)
	if err := os.Rename(project, project+"-moved"); err != nil {
		t.Fatal(err)
	}
	c, err := a.Collect(t.Context(), row.Kernel, CollectOptions{}, nil)
	if err != nil || c.New == 0 || !strings.Contains(strings.Join(c.Problems, "\n"), "is not there") {
		t.Fatalf("%d files, %q: %v", c.New, c.Problems, err)
	}
	if _, err := os.Stat(project); !os.IsNotExist(err) {
		t.Errorf("the project's folder was made anew: %v", err)
	}
	if err := os.Rename(project+"-moved", project); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Collect(t.Context(), row.Kernel, CollectOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(project, "artifacts", "leaf", "score.json")); err != nil {
		t.Error(err)
	}
}
