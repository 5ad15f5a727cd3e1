package app

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/kaggle/sandbox"
)

// renamed is a Kaggle whose answers name some files otherwise: two that no file system holds side by side.
type renamed struct {
	world *world
	names *strings.Replacer
}

func (n renamed) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n.world.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/ListKernelSessionOutput") && !strings.HasSuffix(r.URL.Path, "/ListKernelFiles") {
		return resp, err
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	raw = []byte(n.names.Replace(string(raw)))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	resp.Header.Del("Content-Length")
	return resp, nil
}

// TestCollectAFileNamedLikeAFolder: an object store holds "notes" and "notes/a.txt" side by side and no disk does. Both come home,
// the file under another name, and collecting again finds everything there.
func TestCollectAFileNamedLikeAFolder(t *testing.T) {
	files := sessionFiles()
	files["file-1"], files["notes/a.txt"], files["file-2"] = "I am the file", "I am inside", "taken already"
	files["artifacts/leaf/file-3"], files["artifacts/leaf/Deep/er/x.txt"] = "deep", "deeper"
	w := newWorld(t, sandbox.Options{}, saves(files))
	a := w.open(t, "", func(o *Options) {
		o.Transport = renamed{w, strings.NewReplacer(`"file-1"`, `"notes"`, `"file-2"`, `"notes.file"`, `"artifacts/leaf/file-3"`, `"artifacts/leaf/deep"`)}
	})
	defer closeApp(t, a)
	project := t.TempDir()
	row := pushDir(t, a, buildProject(t, a, project, "file-and-folder").Dir, PushOptions{})
	ends(t, a, row.Kernel)
	dir := filepath.Join(project, ".sandglass", "runs", "file-and-folder-v1")
	// Before this was known the file was there first, and the folder could not be made.
	writeAll(t, dir, map[string]string{"notes": "I am the file"})
	c, err := a.Collect(t.Context(), row.Kernel, CollectOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"notes.file.2": "I am the file", "notes/a.txt": "I am inside", "notes.file": "taken already",
		"artifacts/leaf/deep.file": "deep", "artifacts/leaf/Deep/er/x.txt": "deeper"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(project, "artifacts/leaf/deep.file")); err != nil || string(got) != "deep" {
		t.Errorf("artifact: %q, %v", got, err)
	}
	said := strings.Join(c.Problems, "\n")
	for _, want := range []string{"notes is a file and a folder", "as notes.file.2", "artifacts/leaf/deep is a file and a folder", "as artifacts/leaf/deep.file"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %q", want, said)
		}
	}
	if r := getRun(t, a, row.ID); r.CollectedAt.IsZero() {
		t.Error("not called collected")
	}
	for _, f := range c.Run.Files {
		if f.State != "here" && !strings.HasSuffix(f.Path, ".pt") {
			t.Errorf("%s is %s", f.Path, f.State)
		}
	}
	if c, err = a.Collect(t.Context(), row.Kernel, CollectOptions{}, nil); err != nil || c.Kept < 5 {
		t.Errorf("again: %d kept, %d new, %v", c.Kept, c.New, err)
	}
}
