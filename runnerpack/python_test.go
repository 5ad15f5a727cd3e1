package runnerpack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// unpackDriver loads a built script without starting its session and lets its
// own runner unpack it.
const unpackDriver = `
import importlib.util, sys
spec = importlib.util.spec_from_file_location("kernel", sys.argv[1])
kernel = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernel)
import os
files, tables = kernel.open_payload()
os.makedirs(os.path.join(sys.argv[2], "_sandglass"))
for name in ("tools", "splits"):
    with open(os.path.join(sys.argv[2], "_sandglass", name + ".py"), "wb") as f:
        f.write(files.extractfile("_sandglass/%s.py" % name).read())
sys.path.insert(0, os.path.join(sys.argv[2], "_sandglass"))
import splits
splits.unpack(kernel.CONFIG, files, tables, sys.argv[2])
`

func python(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Python on this machine")
	return ""
}

// runUnpack builds the project and unpacks it with the script's own Python.
func runUnpack(t testing.TB, spec Spec) (dir string, b *Build) {
	t.Helper()
	python := python(t)
	b = pack(t, spec)
	dir = t.TempDir()
	cmd := exec.Command(python, "-c", unpackDriver, filepath.Join(b.Dir, b.Script), dir)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, b
}

// TestPythonUnpacks compares what the session rebuilds with what was packed,
// for every form a column can take.
func TestPythonUnpacks(t *testing.T) {
	rows := func(header string, cell func(i int) string) string { return rowsOf(header, 400, cell) }
	for name, folds := range map[string]string{
		"range, radix":   rows("id,fold", func(i int) string { return fmt.Sprintf("a%04d.png,%d", 3*i+1, i*i*i%11%5) }),
		"const, repeat":  rows("k,id,fold", func(i int) string { return fmt.Sprintf("x,%d,%d", 400-i, i%7) }),
		"runs":           rows("id,fold", func(i int) string { return fmt.Sprintf("%d,%d", i, i*i/40000) }),
		"bytes":          rows("id,fold", func(i int) string { return fmt.Sprintf("%d,%d", i, i/3%5*(i/50%2)) }),
		"ints":           rows("id,fold", func(i int) string { return fmt.Sprintf("%d,%d", (i*7919)%100003-500, i%2) }),
		"chars":          rows("id,fold", func(i int) string { return fmt.Sprintf("é-%08x,0", i*2654435761%(1<<32)) }),
		"front":          rows("id,fold", func(i int) string { return fmt.Sprintf("t/%d/ä%d/%d,%d", i/40, i/9, i*i, i%3) }),
		"text":           "id,fold\nblue,0\ngreen tea,1\n\U0001F600 red,0\nb,1\n",
		"odd in all":     "\xef\xbb\xbfid;\"fold\"\r\n\"ä\"\"'''\"; 0\r\n\\n;-1\r\n\x01\x7f;1 \r\nz;\"2\"",
		"line separator": "id,fold\na\u2028b,0\nc\x0bd,1\ne\x1cf,0\ng\u0085h,1\n",
		"raw":            "id,fold\n\"a\nb\",0\r\nc,1\r\r\n",
		"one column":     "fold\n1\n0\n",
	} {
		t.Run(name, func(t *testing.T) {
			spec := project(t, map[string]string{"data/folds.csv": folds, "src/run.sh": "#!/bin/sh\n", "src/ä ö.txt": "ü"})
			spec.Command = "python src/train.py"
			dir, _ := runUnpack(t, spec)
			if got := readTestFile(t, filepath.Join(dir, "data/folds.csv")); string(got) != folds {
				t.Errorf("got %q, want %q", got, folds)
			}
			if got := readTestFile(t, filepath.Join(dir, "src/ä ö.txt")); string(got) != "ü" {
				t.Errorf("got %q", got)
			}
			if info, err := os.Stat(filepath.Join(dir, "src/run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
				t.Errorf("run.sh cannot be run: %v %v", info, err)
			}
		})
	}
}

// TestPythonUnpacksLarge holds the figures of a large split: bytes of the
// script and plain Python's time, start of the interpreter included.
func TestPythonUnpacksLarge(t *testing.T) {
	folds := randomFolds(700_000, 5)
	spec := project(t, map[string]string{"data/folds.csv": string(folds)})
	began := time.Now()
	dir, b := runUnpack(t, spec)
	t.Logf("built and unpacked in %v, %d bytes, %v", time.Since(began).Round(time.Millisecond), b.ScriptBytes, b.Parts)
	if got := readTestFile(t, filepath.Join(dir, "data/folds.csv")); !bytes.Equal(got, folds) {
		t.Error("the split was rebuilt to other bytes")
	}
	for _, p := range b.Parts {
		if p.Name == partFolds && p.Bytes > 256_000 {
			t.Errorf("the split takes %d bytes of the script", p.Bytes)
		}
	}
}

// TestScriptIsPython lets the interpreter read the whole script: doc, config
// and payload with everything that could break out of a literal.
func TestScriptIsPython(t *testing.T) {
	python := python(t)
	spec := project(t, nil)
	spec.Command = `python src/train.py --folds {fold} --note "'''\"\"\" \ \n é @@PAYLOAD@@ @@CONFIG@@" --end \`
	spec.Post = []string{`echo '''`, `echo """`}
	b := pack(t, spec)
	c, _ := script(t, b)
	if c.Jobs[0].Command != spec.Command {
		t.Errorf("command %q", c.Jobs[0].Command)
	}
	out, err := exec.CommandContext(context.Background(), python, "-c",
		"import ast,sys;m=ast.parse(open(sys.argv[1],encoding='ascii').read());print(ast.get_docstring(m))", filepath.Join(b.Dir, b.Script)).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "sam-roe/idea-train") || !strings.Contains(string(out), "Stop session") {
		t.Errorf("%v\n%s", err, out)
	}
}
