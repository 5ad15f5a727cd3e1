package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandglass/kaggle"
)

// real opens a sandbox that runs Python, or skips where there is none.
func real(t *testing.T, opt Options) (*Sandbox, web) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs Python")
	}
	path, _, err := FindPython(t.Context())
	if err != nil {
		t.Skip(err)
	}
	opt.Python = path
	s := open(t, opt)
	return s, use(t, s)
}

func TestScript(t *testing.T) {
	s, w := real(t, Options{})
	t.Setenv("KAGGLE_KEY", "must not be seen")
	w.pushed("leaf-fold-0", map[string]any{"machineShape": "NvidiaTeslaT4", "text": `
import json, os, subprocess, sys
print("héllo", flush=True)
sys.stderr.write("half a "); sys.stderr.write("line\n")
os.makedirs("sub")
with open("sub/env.json", "w") as f:
    json.dump({**os.environ, "cwd": os.getcwd(), "main": __name__}, f)
with open("smi.txt", "w") as f:
    f.write(subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, universal_newlines=True).stdout)
    f.write(subprocess.run(["nvidia-smi", "--query-gpu=index,name,memory.total,utilization.gpu,power.draw", "--format=csv,noheader,nounits"],
        stdout=subprocess.PIPE, universal_newlines=True).stdout)
`})
	want(t, "status", w.ended("leaf-fold-0"), StatusComplete)
	_, log := w.output("leaf-fold-0")
	wantText(t, "log", log, "héllo\n", "half a line\n")
	var env map[string]string
	if err := json.Unmarshal([]byte(w.file("leaf-fold-0", "sub/env.json")), &env); err != nil {
		t.Fatal(err)
	}
	want(t, "cwd", env["cwd"], env["KAGGLE_WORKING"])
	want(t, "run type", env["KAGGLE_KERNEL_RUN_TYPE"], "Batch")
	want(t, "GPUs", env["SANDGLASS_FAKE_GPUS"], "2")
	want(t, "__name__", env["main"], "__main__")
	for k, v := range env {
		if strings.Contains(v, s.Key()) || strings.Contains(v, s.Token()) || k == "KAGGLE_KEY" {
			t.Errorf("the session sees a credential in %s", k)
		}
	}
	if !filepath.IsAbs(env["KAGGLE_INPUT"]) || env["HOME"] == os.Getenv("HOME") {
		t.Errorf("KAGGLE_INPUT %q must be absolute and HOME %q the session's own", env["KAGGLE_INPUT"], env["HOME"])
	}
	smi := w.file("leaf-fold-0", "smi.txt")
	wantText(t, "nvidia-smi", smi, "GPU 0: Tesla T4 (UUID: GPU-", "GPU 1: Tesla T4", "0, Tesla T4, 15360, ", "1, Tesla T4, 15360, ")
	for _, d := range []string{"src", "home", "input", "bin"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(env["KAGGLE_WORKING"]), d)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the session's %s folder is still there", d)
		}
	}
}

func TestScriptThatFails(t *testing.T) {
	_, w := real(t, Options{})
	w.pushed("leaf-fold-0", map[string]any{"text": "open('kept.txt','w').write('kept')\nraise SystemExit(3)"})
	want(t, "status", w.ended("leaf-fold-0"), StatusError)
	ans := into[kaggle.StatusResponse](w, kaggle.PathStatus, kaggle.StatusRequest{UserName: "sam-roe", KernelSlug: "leaf-fold-0"})
	want(t, "why", ans.FailureMessage, "the process ended with exit code 3")
	want(t, "output", w.file("leaf-fold-0", "kept.txt"), "kept")
	w.pushed("r-language", map[string]any{"language": "r", "text": "print(1)"})
	want(t, "another language", w.ended("r-language"), StatusError)
}

func notebook(kernelspec bool, cells ...string) string {
	nb := map[string]any{"nbformat": 4, "nbformat_minor": 4, "metadata": map[string]any{}}
	if kernelspec {
		nb["metadata"] = map[string]any{"kernelspec": map[string]string{"name": "python3"}}
	}
	list := []any{map[string]any{"cell_type": "markdown", "source": "# 1 +"}}
	for _, c := range cells {
		list = append(list, map[string]any{"cell_type": "code", "source": c, "outputs": []any{}})
	}
	nb["cells"] = list
	raw, _ := json.Marshal(nb)
	return string(raw)
}

func TestNotebook(t *testing.T) {
	_, w := real(t, Options{})
	nb := map[string]any{"kernelType": "notebook", "text": notebook(true,
		"!pip install x \\\n    y\n%matplotlib inline\nx = 1\nfiles = !ls\nprint('first', x, files, __name__)",
		"%%bash\nrm -rf everything\n",
		"text = '''\n!not a command\n'''\nif x:\n    !echo hi\n    x += 1",
		"import pickle\nclass A: pass\npickle.loads(pickle.dumps(A()))\ndisplay(x)\nopen('o.txt', 'w').write(text + str(x))",
		"def f():\n    raise ValueError('bad')\nf()",
		"open('never.txt', 'w')")}
	w.pushed("nb-fold-0", nb)
	want(t, "status", w.ended("nb-fold-0"), StatusError)
	ans, log := w.output("nb-fold-0")
	wantText(t, "log", log, "first 1 [] __main__", "cell 1: skipped, not Python: !pip install x", "skipped, not Python: %matplotlib inline",
		"skipped, not Python: %%bash", `File "<cell 5>", line 2, in f`, "raise ValueError('bad')", "ValueError: bad")
	want(t, "cells share a namespace, strings are left alone", w.file("nb-fold-0", "o.txt"), "\n!not a command\n2")
	want(t, "files", len(ans.Files), 1)

	w.pushed("nb-no-spec", map[string]any{"kernelType": "notebook", "text": notebook(false, "print(1)")})
	want(t, "without a kernelspec", w.ended("nb-no-spec"), StatusError)
	st := into[kaggle.StatusResponse](w, kaggle.PathStatus, kaggle.StatusRequest{UserName: "sam-roe", KernelSlug: "nb-no-spec"})
	want(t, "Kaggle's words", st.FailureMessage, "No kernel name found in notebook")
}

func TestMountLayouts(t *testing.T) {
	for layout, expected := range map[string][]string{
		LayoutNew: {"competitions/leaf-cup/train.csv", "datasets/kim-poe/leaf-scans/theirs.csv", "datasets/sam-roe/leaf-scans/ours.csv",
			"models/google/gemma/pyTorch/2b/1/weights.bin", "notebooks/kim-poe/leaf-prep/folds.csv"},
		LayoutOld: {"gemma/pyTorch/2b/1/weights.bin", "leaf-cup/train.csv", "leaf-prep/folds.csv", "leaf-scans/ours.csv"},
	} {
		t.Run(layout, func(t *testing.T) {
			s, w := real(t, Options{Layout: layout})
			folder := func(name string) string {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
					t.Fatal(err)
				}
				return dir
			}
			for _, err := range []error{
				s.AddDataset("", "leaf-scans", folder("ours.csv")), s.AddDataset("kim-poe", "leaf-scans", folder("theirs.csv")),
				s.AddCompetition("leaf-cup", folder("train.csv"), true), s.AddModel("google/gemma/pyTorch/2b/1", folder("weights.bin")),
				s.AddKernel(KernelSeed{Owner: "kim-poe", Slug: "leaf-prep", Output: folder("folds.csv")}),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			w.pushed("leaf-fold-0", map[string]any{
				"text": `
import os
top = os.environ["KAGGLE_INPUT"]
found = []
for d, _, files in os.walk(top, followlinks=True):
    found += [os.path.relpath(os.path.join(d, f), top).replace(os.sep, "/") for f in files]
open("seen.txt", "w").write("\n".join(sorted(found)))`,
				"datasetDataSources": []string{"sam-roe/leaf-scans", "kim-poe/leaf-scans"}, "competitionDataSources": []string{"leaf-cup"},
				"kernelDataSources": []string{"kim-poe/leaf-prep"}, "modelDataSources": []string{"google/gemma/pyTorch/2b/1"},
			})
			want(t, "status", w.ended("leaf-fold-0"), StatusComplete)
			want(t, "mounted", w.file("leaf-fold-0", "seen.txt"), strings.Join(expected, "\n"))
			if layout == LayoutOld {
				_, log := w.output("leaf-fold-0")
				wantText(t, "the clash is told", log, "kim-poe/leaf-scans is not mounted: sam-roe/leaf-scans is already at leaf-scans")
			}
		})
	}
}

// The limit ends the whole tree: a child that ignores SIGTERM, one in a session of its own, an orphan without the
// session's environment. What was written is kept.
func TestLimitKillsTheTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks for the processes in /proc")
	}
	_, w := real(t, Options{})
	w.pushed("leaf-fold-0", map[string]any{"sessionTimeoutSeconds": 2, "text": `
import os, subprocess, sys, time
stay = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN); time.sleep(600)"
kids = [subprocess.Popen([sys.executable, "-c", stay]),
        subprocess.Popen([sys.executable, "-c", stay], start_new_session=True),
        subprocess.Popen([sys.executable, "-c", stay], env={"PATH": os.environ["PATH"]})]
orphan = subprocess.run([sys.executable, "-c", "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', sys.argv[1]], start_new_session=True, stdout=subprocess.DEVNULL).pid)", stay], stdout=subprocess.PIPE)
open("pids.txt", "w").write(" ".join([str(k.pid) for k in kids] + [str(os.getpid()), orphan.stdout.decode().strip()]))
print("before the limit", flush=True)
time.sleep(600)
`})
	began := time.Now()
	want(t, "status", w.ended("leaf-fold-0"), StatusCancelled)
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("the end of a 2 s session took %v", d)
	}
	pids := strings.Fields(w.file("leaf-fold-0", "pids.txt"))
	want(t, "processes", len(pids), 5)
	for _, p := range pids {
		pid, err := strconv.Atoi(p)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(st), ") Z ") {
			t.Errorf("process %d outlived its session: %s", pid, st)
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
	}
	_, log := w.output("leaf-fold-0")
	wantText(t, "log", log, "before the limit")
}

// A session that ends must not wait for what it left running, nor leave it.
func TestLeftoversOfAFinishedSession(t *testing.T) {
	_, w := real(t, Options{})
	w.pushed("leaf-fold-0", map[string]any{"text": "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"})
	began := time.Now()
	want(t, "status", w.ended("leaf-fold-0"), StatusComplete)
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("a child held the session open for %v", d)
	}
}

func TestNoInternet(t *testing.T) {
	_, w := real(t, Options{})
	w.pushed("leaf-fold-0", map[string]any{"enableInternet": false, "text": `
import socket
with socket.socket() as s, socket.socket() as c:
    s.bind(("127.0.0.1", 0)); s.listen(1); c.connect(s.getsockname())
print("loopback works")
names = [n for _, n in socket.if_nameindex()]
print("interfaces", names)
`})
	want(t, "status", w.ended("leaf-fold-0"), StatusComplete)
	_, log := w.output("leaf-fold-0")
	wantText(t, "log", log, "loopback works")
	if !strings.Contains(log, "does not let the sandbox enforce that") {
		wantText(t, "only its own loopback", log, "interfaces ['lo']")
	}
}

func TestPythonMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, _, err := FindPython(t.Context())
	if !errors.Is(err, ErrNoPython) {
		t.Fatalf("got %v, want ErrNoPython", err)
	}
	wantText(t, "it says what to do", err.Error(), "install")
	s := open(t, Options{})
	w := use(t, s)
	w.pushed("leaf-fold-0", nil)
	want(t, "a run without Python", w.ended("leaf-fold-0"), StatusError)
	st := into[kaggle.StatusResponse](w, kaggle.PathStatus, kaggle.StatusRequest{UserName: "sam-roe", KernelSlug: "leaf-fold-0"})
	wantText(t, "its failure", st.FailureMessage, "no Python 3.8 or later was found", "install")
}

func TestOldPython(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho old 3.7\necho /usr/bin/python3.7\n"
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	_, _, err := FindPython(t.Context())
	if err == nil || !strings.Contains(err.Error(), "python3 is version 3.7") {
		t.Errorf("got %v, want it to name the old version", err)
	}
}

func TestChunksAreWholeCharacters(t *testing.T) {
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	chunks := make(chan string, 10)
	go func() { pump(r, "stdout", func(_, data string) { chunks <- data }); close(chunks) }()
	wr.Write([]byte("a\xe2\x82"))
	want(t, "what is whole", <-chunks, "a")
	wr.Write([]byte("\xac!\n"))
	want(t, "the rest of the character", <-chunks, "€!\n")
	wr.Write([]byte("\xff tail"))
	wr.Close()
	rest := ""
	for c := range chunks {
		rest += c
	}
	want(t, "bytes that are no character stay for the log to replace", rest, "\xff tail")
}

func TestExecutorStateIsChecked(t *testing.T) {
	w := use(t, open(t, Options{Executor: scripted(func(context.Context, Job) Result { return Result{Status: "DONE"} })}))
	w.pushed("leaf-fold-0", nil)
	want(t, "status", w.ended("leaf-fold-0"), StatusError)
}
