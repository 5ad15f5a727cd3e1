package runnerpack

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotebookCase(t *testing.T) {
	var want struct {
		Sources map[string]string `json:"sources_after_build"`
	}
	readJSON(t, "testdata/notebook/expected.json", &want)
	out, notes, err := NormaliseNotebook(readTestFile(t, "testdata/notebook/train.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Type        string `json:"cell_type"`
			ID          string
			Source      *string
			Outputs     []json.RawMessage
			Count       json.RawMessage `json:"execution_count"`
			Attachments json.RawMessage
		}
	}
	if err := json.Unmarshal(out, &nb); err != nil {
		t.Fatal(err)
	}
	if len(nb.Cells) != len(want.Sources) || !matches(notes, "outputs of 1 cells") {
		t.Fatalf("%d cells, notes %q", len(nb.Cells), notes)
	}
	for _, c := range nb.Cells {
		if c.Source == nil || *c.Source != want.Sources[c.ID] {
			t.Errorf("%s: %v", c.ID, c.Source)
		}
		if c.Type == "code" && (len(c.Outputs) > 0 || string(c.Count) != "null") {
			t.Errorf("%s keeps outputs", c.ID)
		}
		if c.ID == "s8" && !strings.Contains(string(c.Attachments), "aGVsbG8=") {
			t.Error("the attachment is gone")
		}
	}
}

func TestNormaliseNotebook(t *testing.T) {
	out, notes, err := NormaliseNotebook([]byte("\xef\xbb\xbf" + `{"cells":[{"cell_type":"code","source":["a\ud83d\"\\",  "\n"],"execution_count":7,"outputs":null},{"cell_type":"markdown"}],"metadata":{"kaggle":{},"language_info":{"name":"R"}}}`))
	if err != nil || !matches(notes, "named no kernel") || !matches(notes, "Kaggle block") {
		t.Fatalf("%s %q %v", out, notes, err)
	}
	for _, want := range []string{`"source":"a\ud83d\"\\\n"`, `"execution_count":null`, `"name":"ir"`, `"source":""`, `"nbformat":4`} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	big := `{"cells":[{"cell_type":"markdown","source":"","attachments":{"a.png":{"image/png":"` + strings.Repeat("A", largeAttachments) + `"}}}],"metadata":{"kernelspec":{"name":"python3"}}}`
	if _, notes, err = NormaliseNotebook([]byte(big)); err != nil || !matches(notes, "pictures pasted") {
		t.Errorf("large attachment: %q %v", notes, err)
	}
	for _, bad := range []string{``, `[]`, `null`, `{}`, `{"cells":null}`, `{"cells":[null]}`, `{"cells":[{}]}`, `{"cells":[{"cell_type":"code","source":7}]}`,
		`{"cells":[{"cell_type":"code","source":["a",7]}]}`, `{"worksheets":[],"nbformat":3}`, `{"cells":[],"metadata":[]}`} {
		if out, _, err := NormaliseNotebook([]byte(bad)); err == nil {
			t.Errorf("%s became %s", bad, out)
		}
	}
}

func FuzzNormaliseNotebook(f *testing.F) {
	f.Add(readTestFile(f, "testdata/notebook/train.ipynb"))
	f.Add(readTestFile(f, "testdata/accelerators/stale-tpu-pin/train.ipynb"))
	f.Add([]byte(`{"cells":[{"cell_type":"code","source":["\u00e4\ud800", ""]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, _, err := NormaliseNotebook(raw)
		if err != nil {
			return
		}
		again, notes, err := NormaliseNotebook(out)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%s\nbecame\n%s\n%v", out, again, err)
		}
		for _, n := range notes {
			if !strings.HasPrefix(n, "pictures") {
				t.Errorf("the second time: %s", n)
			}
		}
	})
}

func TestReadFolder(t *testing.T) {
	f, err := ReadFolder("testdata/accelerators/stale-tpu-pin")
	if err != nil {
		t.Fatal(err)
	}
	if f.Metadata.DockerImage != "" || strings.Contains(f.Source, "kaggle") || !matches(f.Fixed, "docker_image is dropped") || !matches(f.Fixed, "Kaggle block") {
		t.Errorf("%+v", f)
	}
	if f.IdentityErr != nil || f.Record != nil || f.Warnings != nil {
		t.Errorf("%v %v %q", f.IdentityErr, f.Record, f.Warnings)
	}
}

func TestReadFolderRefuses(t *testing.T) {
	good := string(metadataWith("enable_internet", "false"))
	for _, tt := range []struct{ name, meta, source, want string }{
		{"no metadata", "", "x", "no kernel-metadata.json"},
		{"no source", good, "", "there is no a.py"},
		{"outside", strings.Replace(good, "a.py", "../a.py", 1), "x", "not in this folder"},
		{"not text", good, "\xff\xfe", "not UTF-8"},
		{"notebook as script", strings.Replace(good, "a.py", "a.ipynb", 1), "x", "kernel_type"},
		{"script as notebook", strings.Replace(good, `"script"`, `"notebook"`, 1), "x = 1", "not a notebook"},
		{"contradiction", string(metadataWith("enable_gpu", "true")), "x", "no machine_shape"},
	} {
		dir := t.TempDir()
		if tt.meta != "" {
			writeTestFile(t, filepath.Join(dir, MetadataFile), tt.meta)
		}
		if tt.source != "" {
			writeTestFile(t, filepath.Join(dir, "a.py"), tt.source)
			writeTestFile(t, filepath.Join(dir, "a.ipynb"), tt.source)
		}
		if _, err := ReadFolder(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestReadFolderIdentityIsForThePusher(t *testing.T) {
	dir := t.TempDir()
	writeTestFile(t, filepath.Join(dir, MetadataFile), strings.Replace(string(metadataWith("enable_internet", "false")), "Leaf Fold 0", "Other Name", 1))
	writeTestFile(t, filepath.Join(dir, "a.py"), "print(1)\n")
	f, err := ReadFolder(dir)
	var e *IdentityError
	if err != nil || !errors.As(f.IdentityErr, &e) || f.Source != "print(1)\n" {
		t.Errorf("%+v %v", f, err)
	}
}

func writeTestFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
