package runlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pressly/goose/v3"
)

// later is our schema with one more step, as a later release would have it.
func later(t *testing.T) fs.FS {
	t.Helper()
	m := fstest.MapFS{}
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		m[name] = &fstest.MapFile{Data: raw}
	}
	m["9001_later.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nALTER TABLE runs ADD COLUMN later TEXT NOT NULL DEFAULT 'new';\n")}
	return m
}

// TestMigratesFromEveryVersion makes a log as each earlier release left it, and
// opens it with the schema of a later one.
func TestMigratesFromEveryVersion(t *testing.T) {
	ctx := t.Context()
	steps := later(t)
	probe, err := goose.NewProvider(goose.DialectSQLite3, openTemp(t).w, steps, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range probe.ListSources()[:len(probe.ListSources())-1] {
		t.Run(fmt.Sprintf("from %d", src.Version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.sqlite")
			old := &Log{path: path}
			check(t, prepareFile(path))
			check(t, old.connect(ctx))
			p := must(goose.NewProvider(goose.DialectSQLite3, old.w, steps, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger())))(t)
			must(p.UpTo(ctx, src.Version))(t)
			for range 3 {
				insertOld(t, old, Run{Name: "kept"})
			}
			check(t, old.Close())

			l := must(open(ctx, path, Options{}, steps))(t)
			defer l.Close()
			var n int
			check(t, l.r.QueryRowContext(ctx, "SELECT count(*) FROM runs WHERE name = 'kept' AND later = 'new'").Scan(&n))
			if n != 3 {
				t.Errorf("%d of 3 runs came through", n)
			}
			if copies := must(filepath.Glob(path + ".v*"))(t); len(copies) != 1 {
				t.Errorf("copies %q: one is wanted, of what was there before the first step", copies)
			}
			dest := fmt.Sprintf("%s.v%d", path, src.Version)
			before := openAt(t, dest) // today's program opens the copy
			if runs := must(before.Runs(ctx, Filter{Name: "kept"}))(t); len(runs) != 3 {
				t.Errorf("the copy %s holds %d runs, want 3", dest, len(runs))
			}
			if info, err := os.Stat(dest); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("the copy: %v, %v; want mode 0600", info, err)
			}
		})
	}
}

// TestANewLogLeavesNoCopies: before its first step it is empty, and no step after it has anything to keep.
func TestANewLogLeavesNoCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	l := must(open(t.Context(), path, Options{}, later(t)))(t)
	defer l.Close()
	if copies := must(filepath.Glob(path + ".v*"))(t); len(copies) != 0 {
		t.Errorf("copies of an empty log: %q", copies)
	}
}

// insertOld adds a run with the columns that the file's own version has.
func insertOld(t *testing.T, l *Log, r Run) {
	t.Helper()
	var names []string
	var values []any
	for i, c := range runColumns {
		var n int
		check(t, l.w.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_table_info('runs') WHERE name = ?", c).Scan(&n))
		if n == 1 {
			names, values = append(names, c), append(values, r.fields()[i])
		}
	}
	_, err := l.w.ExecContext(t.Context(), "INSERT INTO runs ("+strings.Join(names, ", ")+") VALUES ("+marks(len(names))+")", values...)
	check(t, err)
}

// Runs that waited before the queue had rows keep what they were authorised for;
// one that only came back from an unclear push was not, and needs the person.
func TestQueueOfAnOlderLog(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	old := &Log{path: path}
	check(t, prepareFile(path))
	check(t, old.connect(ctx))
	p := must(goose.NewProvider(goose.DialectSQLite3, old.w, migrations(), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger())))(t)
	must(p.UpTo(ctx, 1))(t)
	_, err := old.w.ExecContext(ctx, "INSERT INTO accounts VALUES (1, 'sam-roe', 'kaggle', '', 'key', 'memory', 1, 0, 0, 0)")
	check(t, err)
	for i, note := range []string{"waits for a free slot", "The push did not reach Kaggle: it waits here and is pushed once when a slot is free."} {
		insertOld(t, old, Run{Account: 1, Name: fmt.Sprint("run-", i), Kernel: "sam-roe/x", State: "waiting", Note: note, Cap: time.Hour, SourceSHA256: "aa",
			Accelerator: "TpuV5E8", BuildDir: "/b", Consent: "button", CreatedAt: time.UnixMilli(int64(1000 * (i + 1)))})
	}
	check(t, old.Close())
	l := openAt(t, path)
	q := must(l.Queue(ctx, 1))(t)
	if len(q) != 1 || q[0].Run.Name != "run-0" {
		t.Fatalf("the queue holds %+v, want run-0 alone", q)
	}
	if e := q[0].Entry; e.Cap != time.Hour || e.SourceSHA256 != "aa" || e.Accelerator != "TpuV5E8" || e.Dir != "/b" || e.Consent != "button" || e.Since.UnixMilli() != 1000 {
		t.Errorf("authorised for %+v", e)
	}
	if r := must(l.FindRun(ctx, 1, "sam-roe/x", 0))(t); r.Name != "run-1" || r.State != "refused" || r.Failure == "" {
		t.Errorf("the other one: %+v", r)
	}
}

func TestAStepThatFailsLeavesTheOldLog(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	l := must(Open(ctx, path, Options{}))(t)
	run := must(l.CreateRun(ctx, Run{Name: "kept"}))(t)
	check(t, l.Close())
	broken := later(t).(fstest.MapFS)
	broken["9001_later.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nALTER TABLE runs ADD COLUMN half TEXT;\nINSERT INTO nowhere VALUES (1);\n")}
	for range 2 { // the second attempt finds the first one's copy in its way
		if _, err := open(ctx, path, Options{}, broken); err == nil || !strings.Contains(err.Error(), "from version") {
			t.Fatalf("got %v, want the failing step named", err)
		}
	}
	if got := must(openAt(t, path).Run(ctx, run.ID))(t); got.Name != "kept" {
		t.Errorf("after the failure the log holds %+v", got)
	}
}

func TestANewerLogIsRefusedUnchanged(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	l := must(open(ctx, path, Options{}, later(t)))(t)
	check(t, l.Close())
	before := must(os.ReadFile(path))(t)
	_, err := Open(ctx, path, Options{})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "update Sandglass") || !strings.Contains(err.Error(), "9001") {
		t.Errorf("got %v, want ErrNewer with both versions and what to do", err)
	}
	if after := must(os.ReadFile(path))(t); !bytes.Equal(before, after) {
		t.Error("the newer log was changed")
	}
}

func TestWhatIsNoRunLogIsRefusedUnchanged(t *testing.T) {
	ctx := t.Context()
	for name, content := range map[string]func(path string) error{
		"text": func(p string) error { return os.WriteFile(p, []byte("my notes\n"), 0o600) },
		"a head alone": func(p string) error {
			return os.WriteFile(p, append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte("x"), 5000)...), 0o600)
		},
		"another program's": func(p string) error {
			l := &Log{path: p}
			if err := errors.Join(prepareFile(p), l.connect(ctx)); err != nil {
				return err
			}
			_, err := l.w.ExecContext(ctx, "CREATE TABLE bookmarks (url TEXT)")
			return errors.Join(err, l.Close())
		},
	} {
		path := filepath.Join(t.TempDir(), "runs.sqlite")
		check(t, content(path))
		before := must(os.ReadFile(path))(t)
		_, err := Open(ctx, path, Options{})
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "left as it is") {
			t.Errorf("%s: got %v, want ErrCorrupt with the path", name, err)
		}
		if after := must(os.ReadFile(path))(t); !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed", name)
		}
		aside := must(SetAside(path, t0))(t)
		if after := must(os.ReadFile(aside))(t); !bytes.Equal(before, after) {
			t.Errorf("%s: set aside, it is another file", name)
		}
		openAt(t, path) // a new one takes its place
		check(t, os.WriteFile(filepath.Join(filepath.Dir(path), "x"), nil, 0o600))
		if again := must(SetAside(filepath.Join(filepath.Dir(path), "x"), t0))(t); again == aside {
			t.Error("two files were set aside under one name")
		}
	}
}

// TestDamageInside overwrites a page in the middle: reading it says so.
func TestDamageInside(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	l := must(Open(ctx, path, Options{}))(t)
	for range 200 {
		must(l.CreateRun(ctx, Run{Note: strings.Repeat("note ", 50)}))(t)
	}
	check(t, l.Close())
	f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
	info := must(f.Stat())(t)
	for at := int64(4096); at < info.Size(); at += 4096 {
		must(f.WriteAt(bytes.Repeat([]byte{0xee}, 4096), at))(t)
	}
	check(t, f.Close())
	l, err := Open(ctx, path, Options{})
	if err == nil {
		_, err = l.Runs(ctx, Filter{})
		l.Close()
	}
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
}

// mounted gives a small file system of its own.
func mounted(t *testing.T, options string) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs root on Linux to mount a small file system")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	return dir
}

func TestFullDisk(t *testing.T) {
	dir := mounted(t, "size=1m")
	ctx := t.Context()
	path := filepath.Join(dir, "runs.sqlite")
	l := openAt(t, path)
	kept := must(l.CreateRun(ctx, Run{Name: "kept"}))(t)
	filler := filepath.Join(dir, "filler")
	f := must(os.Create(filler))(t)
	for chunk := make([]byte, 4096); ; {
		if _, err := f.Write(chunk); err != nil {
			break
		}
	}
	f.Close()
	var err error
	for i := 0; i < 500 && err == nil; i++ { // the WAL may have room of its own for a while
		_, err = l.UpdateRun(ctx, kept.ID, func(r *Run) error { r.Note = strings.Repeat("x", 4000+i); return nil })
	}
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("got %v, want ErrFull and what to do", err)
	}
	if got := must(l.Run(ctx, kept.ID))(t); got.Name != "kept" {
		t.Errorf("what was there is %+v", got)
	}
	if _, err := Open(ctx, filepath.Join(dir, "new", "runs.sqlite"), Options{}); !errors.Is(err, ErrFull) {
		t.Errorf("a new log on a full disk: got %v, want ErrFull", err)
	}
	check(t, os.Remove(filler))
	must(l.UpdateRun(ctx, kept.ID, func(r *Run) error { r.Note = "after"; return nil }))(t)
	if got := must(l.Run(ctx, kept.ID))(t); got.Note != "after" {
		t.Errorf("with space again: %+v", got)
	}
}

func TestReadOnlyHome(t *testing.T) {
	dir := mounted(t, "size=4m")
	ctx := t.Context()
	path := filepath.Join(dir, "runs.sqlite")
	check(t, must(Open(ctx, path, Options{}))(t).Close())
	if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot be made read-only: %v: %s", err, out)
	}
	for _, p := range []string{path, filepath.Join(dir, "new.sqlite"), filepath.Join(dir, "folder", "new.sqlite")} {
		_, err := Open(ctx, p, Options{})
		if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "SANDGLASS_HOME") {
			t.Errorf("%s: got %v, want ErrReadOnly and what to do", p, err)
		}
	}
}

func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps the rights of the folder")
	}
	l := openTemp(t)
	must(l.CreateRun(t.Context(), Run{}))(t)
	for _, tail := range []string{"", "-wal"} {
		info := must(os.Stat(l.Path() + tail))(t)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", info.Name(), info.Mode())
		}
	}
}

func TestManyOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l, err := Open(context.Background(), path, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := l.CreateRun(context.Background(), Run{}); err != nil {
				t.Error(err)
			}
			l.Close()
		})
	}
	wg.Wait()
	if n := len(must(openAt(t, path).Runs(t.Context(), Filter{}))(t)); n != 8 {
		t.Errorf("%d of 8 runs are there", n)
	}
}
