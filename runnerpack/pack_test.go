package runnerpack

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// project writes a small project and gives a Spec for it.
func project(t testing.TB, files map[string]string) Spec {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"src/train.py":   "import argparse\nprint('hello')\n",
		"src/model.py":   "def f(x):\n    return x\n",
		"data/folds.csv": "id,fold\n1,0\n2,1\n3,0\n4,2\n5,1\n6,2\n",
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if text != "" {
			writeTestFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
		}
	}
	return Spec{Project: dir, Name: "idea", Command: "python src/train.py --name idea --folds {fold}", Hours: 2, Owner: "sam-roe"}
}

func pack(t testing.TB, spec Spec) *Build {
	t.Helper()
	b, err := Pack(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// script is the built script's config and payload.
func script(t testing.TB, b *Build) (config, map[string][]byte) {
	t.Helper()
	text := string(readTestFile(t, filepath.Join(b.Dir, b.Script)))
	between := func(from, to string) string {
		_, rest, ok := strings.Cut(text, from)
		inner, _, ok2 := strings.Cut(rest, to)
		if !ok || !ok2 {
			t.Fatalf("no %s … %s", from, to)
		}
		return inner
	}
	var c config
	if err := json.Unmarshal([]byte(between("json.loads(r'''", "'''")), &c); err != nil {
		t.Fatal(err)
	}
	longest := ""
	for _, part := range strings.Split(text, `"`) {
		if len(part) > len(longest) && !strings.ContainsAny(part, " \n'") {
			longest = part
		}
	}
	packed := undoBase85(t, longest)
	if !strings.Contains(text, hexSHA256(packed)) {
		t.Fatal("the payload's hash is not in the script")
	}
	files := map[string][]byte{}
	r := tar.NewReader(bzip2.NewReader(bytes.NewReader(packed)))
	for {
		h, err := r.Next()
		if err == io.EOF {
			addTables(t, files, packed)
			return c, files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// addTables adds the packed tables, which lie at the payload's end.
func addTables(t testing.TB, files map[string][]byte, packed []byte) {
	t.Helper()
	var places map[string][2]int
	if files[tablesMember] == nil {
		return
	}
	if err := json.Unmarshal(files[tablesMember], &places); err != nil {
		t.Fatal(err)
	}
	end := 0
	for _, p := range places {
		end = max(end, p[0]+p[1])
	}
	tail := packed[len(packed)-end:]
	for name, p := range places {
		files[name] = tail[p[0] : p[0]+p[1]]
	}
}

// undoBase85 decodes, in the slow and obvious way.
func undoBase85(t testing.TB, text string) []byte {
	t.Helper()
	var out []byte
	for len(text) > 0 {
		n := min(5, len(text))
		group := text[:n] + strings.Repeat("~", 5-n)
		v := uint64(0)
		for _, c := range group {
			d := strings.IndexRune(base85Alphabet, c)
			if d < 0 {
				t.Fatalf("%q is not in the alphabet", c)
			}
			v = v*85 + uint64(d)
		}
		out = append(out, []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}[:n-1]...)
		text = text[n:]
	}
	return out
}

func TestBase85(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 40 {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		text := appendBase85(nil, data)
		if len(text) != base85Len(n) || !bytes.Equal(undoBase85(t, string(text)), data) {
			t.Errorf("%x became %s", data, text)
		}
	}
	// From Python: base64.b85encode(b"Sandglass!")
	if got := string(appendBase85(nil, []byte("Sandglass!"))); got != "Q(<moXKZ0}b0G" {
		t.Errorf("got %s", got)
	}
}

func TestPack(t *testing.T) {
	spec := project(t, map[string]string{
		"competition.json":           `{"slug":"leaf"}`,
		"src/__pycache__/a.pyc":      "x",
		"src/weights.pt":             "x",
		"src/.env":                   "A=b",
		"src/notes/draft.md":         "no",
		"src/notes/keep.md":          "yes",
		"src/lookup.npy":             "kept by a rule",
		".sandglassignore":           "# mine\nsrc/notes/*\n!keep.md\n!lookup.npy\n",
		"artifacts/base/notes.txt":   "x",
		"artifacts/base/score.json":  "{}",
		"artifacts/base/fold0.pt":    "x",
		"artifacts/base/ä.txt":       "x",
		"artifacts/base/extra.json":  "{}",
		"config/it's \"quoted\".txt": "x",
	})
	for k := range 2 {
		writeTestFile(t, filepath.Join(spec.Project, "artifacts/base", curveName(k)), `{"fold":0,"epochs":1,"greater_is_better":true,"points":[]}`)
	}
	spec.Include = []string{"src", "config"}
	spec.Inputs = []Input{{Kind: "dataset", Ref: "sam-roe/Leaf-Scans", Target: "data/scans"}, {Kind: "competition", Ref: "leaf"},
		{Kind: "model", Ref: "google/vit/pytorch/base/1"}, {Kind: "kernel", Ref: "sam-roe/prep"}}
	spec.ResumeFrom, spec.Wheels, spec.Pip = []string{"sam-roe/idea-r1"}, []string{"sam-roe/wheels"}, []string{"timm"}
	spec.Baseline = &Prune{Reference: "artifacts/base", Margin: 0.01}
	spec.ExtraJobs = []Job{{Name: "other", Command: "python src/train.py --name=other --fold={fold} --note 'é'", Folds: []int{2}}}
	b := pack(t, spec)

	c, files := script(t, b)
	for _, name := range []string{"src/train.py", "src/notes/keep.md", "src/lookup.npy", "competition.json", `config/it's "quoted".txt`,
		"_sandglass/baseline/curve_fold1.json", "sandglass/__init__.py", "kgkit/__init__.py"} {
		if files[name] == nil {
			t.Errorf("%s does not travel", name)
		}
	}
	for _, name := range []string{"src/.env", "src/weights.pt", "src/notes/draft.md", "data/folds.csv", "src/__pycache__/a.pyc", "artifacts/base/score.json"} {
		if files[name] != nil {
			t.Errorf("%s travels", name)
		}
	}
	for _, want := range []string{"src/.env: looks like a secret", "src/weights.pt: weights", "src/notes/draft.md: .sandglassignore: src/notes/*", "src/__pycache__: a folder"} {
		if !matches(b.LeftOut, want) {
			t.Errorf("%q is not in %q", want, b.LeftOut)
		}
	}
	for _, want := range []string{"secret: src/.env", "no curve of fold 2", "4 tasks"} {
		if got := matches(b.Warnings, want); got != (want != "4 tasks") {
			t.Errorf("warning %q: %v in %q", want, got, b.Warnings)
		}
	}
	var blobs []Blob
	for name, data := range files {
		blobs = append(blobs, Blob{name, data})
	}
	folds, err := UnpackSplit(c.Splits[0], blobs)
	if err != nil || !bytes.Equal(folds, readTestFile(t, filepath.Join(spec.Project, "data/folds.csv"))) {
		t.Errorf("folds: %q, %v", folds, err)
	}
	if got := *c.Jobs[0].Assemble; got != "python src/train.py --name idea --assemble" {
		t.Errorf("assemble %q", got)
	}
	if c.Jobs[1].Assemble != nil || !slices.Equal(c.Jobs[1].Folds, []int{2}) || !strings.HasSuffix(c.Jobs[1].Command, "'é'") {
		t.Errorf("second job %+v", c.Jobs[1])
	}
	if *c.Inputs[0].Target != "data/scans" || c.Inputs[1].Target != nil || c.Prune.MinFrac != 0.3 || c.BuildID != b.BuildID || c.Hours != 2 {
		t.Errorf("config %+v", c)
	}
	m := b.Metadata
	if !slices.Equal(m.KernelSources, []string{"sam-roe/prep", "sam-roe/idea-r1"}) || !slices.Equal(m.DatasetSources, []string{"sam-roe/leaf-scans", "sam-roe/wheels"}) ||
		m.MachineShape != "NvidiaTeslaT4" || !m.EnableGPU || !m.IsPrivate {
		t.Errorf("metadata %+v", m)
	}
	sum := 0
	for _, p := range b.Parts {
		sum += p.Bytes
	}
	if sum != b.ScriptBytes || !slices.IsSortedFunc(b.Parts, func(a, b Part) int { return b.Bytes - a.Bytes }) {
		t.Errorf("parts %v of %d", b.Parts, b.ScriptBytes)
	}
	if text := readTestFile(t, filepath.Join(b.Dir, b.Script)); !isASCII(strings.ReplaceAll(string(text), "\n", "")) {
		t.Error("the script is not ASCII")
	}
	if got := readTestFile(t, filepath.Join(spec.Project, ".sandglass/.gitignore")); string(got) != "*\n" {
		t.Errorf(".gitignore %q", got)
	}
}

func TestPackIsReadBack(t *testing.T) {
	b := pack(t, project(t, nil))
	f, err := ReadFolder(b.Dir)
	if err != nil || f.IdentityErr != nil || f.Record == nil || f.Record.BuildID != b.BuildID || f.Record.Hours != 2 ||
		hexSHA256([]byte(f.Source)) != b.SHA256 || f.Fixed != nil {
		t.Fatalf("%+v %v", f, err)
	}
	writeTestFile(t, filepath.Join(b.Dir, b.Script), f.Source+"\n# edited\n")
	if f, err = ReadFolder(b.Dir); err != nil || !matches(f.Warnings, "changed after it was built") {
		t.Errorf("%q %v", f.Warnings, err)
	}
	writeTestFile(t, filepath.Join(b.Dir, RecordFile), "{")
	if f, err = ReadFolder(b.Dir); err != nil || f.Record != nil || !matches(f.Warnings, "cannot be read") {
		t.Errorf("%+v %v", f, err)
	}
}

func TestPackGolden(t *testing.T) {
	for _, accelerator := range []string{AcceleratorT4, AcceleratorTPU, AcceleratorNone} {
		spec := project(t, nil)
		spec.Accelerator, spec.NoInternet = accelerator, accelerator == AcceleratorTPU
		b := pack(t, spec)
		got := readTestFile(t, filepath.Join(b.Dir, MetadataFile))
		golden := "testdata/metadata_" + accelerator + ".golden"
		if *update {
			writeTestFile(t, golden, string(got))
		}
		if want := readTestFile(t, golden); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s", accelerator, got)
		}
	}
}

func TestSplitFrom(t *testing.T) {
	spec := project(t, nil)
	spec.SplitFrom = "Sam-Roe/Splits "
	b := pack(t, spec)
	c, files := script(t, b)
	raw := readTestFile(t, filepath.Join(spec.Project, "data/folds.csv"))
	if len(c.Splits) != 1 || c.Splits[0].Form != "mounted" || c.Splits[0].From != "sam-roe/splits" || c.Splits[0].SHA256 != hexSHA256(raw) || c.Splits[0].Bytes != len(raw) {
		t.Errorf("%+v", c.Splits)
	}
	if !slices.Equal(b.Metadata.DatasetSources, []string{"sam-roe/splits"}) || !slices.Equal(b.Folds, []int{0, 1, 2}) {
		t.Errorf("attached %v, folds %v", b.Metadata.DatasetSources, b.Folds)
	}
	for name := range files {
		if strings.Contains(name, "splits/") || name == tablesMember || strings.Contains(name, "folds") {
			t.Errorf("%s travels", name)
		}
	}
	// A dataset that is attached for other files as well is attached once.
	spec.Inputs = []Input{{Kind: "dataset", Ref: "sam-roe/splits"}}
	if b := pack(t, spec); len(b.Metadata.DatasetSources) != 1 {
		t.Errorf("attached %v", b.Metadata.DatasetSources)
	}
	var se *SpecError
	spec.SplitFrom = "splits"
	if _, err := Pack(context.Background(), spec); !errors.As(err, &se) || se.Field != "split-from" {
		t.Errorf("%v", err)
	}
	spec = project(t, map[string]string{"data/folds.csv": ""})
	spec.SplitFrom, spec.Folds = "sam-roe/splits", []int{0}
	if _, err := Pack(context.Background(), spec); !errors.As(err, &se) || se.Field != "split-from" {
		t.Errorf("%v", err)
	}
}

func TestPackIsDeterministic(t *testing.T) {
	spec := project(t, map[string]string{"src/a/z.py": "1", "src/b.py": "2"})
	first := pack(t, spec)
	other := project(t, map[string]string{"src/a/z.py": "1", "src/b.py": "2"}) // another folder, later, other modes
	if err := os.Chmod(filepath.Join(other.Project, "src/b.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	second := pack(t, other)
	if first.SHA256 != second.SHA256 || first.BuildID != second.BuildID {
		t.Errorf("%s %s and %s %s", first.BuildID, first.SHA256, second.BuildID, second.SHA256)
	}
	spec.Hours = 3
	if third := pack(t, spec); third.BuildID == first.BuildID {
		t.Error("other hours, same build id")
	}
}

func TestPackRefuses(t *testing.T) {
	secret := "KGAT_" + strings.Repeat("a1", 16)
	for _, tt := range []struct {
		name  string
		files map[string]string
		edit  func(*Spec)
		want  string
	}{
		{"no project", nil, func(s *Spec) { s.Project = "" }, "project: "},
		{"no src", map[string]string{"src/train.py": "", "src/model.py": ""}, nil, "there is no src"},
		{"include outside", nil, func(s *Spec) { s.Include = []string{"../x"} }, "not inside the project"},
		{"no hours", nil, func(s *Spec) { s.Hours = 0 }, "hours: 0"},
		{"13 hours", nil, func(s *Spec) { s.Hours = 13 }, "at most 12"},
		{"10 hours of TPU", nil, func(s *Spec) { s.Hours, s.Accelerator = 10, AcceleratorTPU }, "at most 9"},
		{"P100", nil, func(s *Spec) { s.Accelerator = "NvidiaTeslaP100" }, "is retired"},
		{"unknown accelerator", nil, func(s *Spec) { s.Accelerator = "Big" }, `"Big"`},
		{"no owner", nil, func(s *Spec) { s.Owner = "" }, "owner"},
		{"odd slug", nil, func(s *Spec) { s.Slug = "a_b_c_d" }, "a slug has only"},
		{"name with a path", nil, func(s *Spec) { s.Name = "../x" }, "name: "},
		{"a missing fold", nil, func(s *Spec) { s.Folds = []int{0, 7} }, "no row of data/folds.csv has fold 7; it has 0, 1, 2"},
		{"a negative fold", nil, func(s *Spec) { s.Folds = []int{-1} }, "held out"},
		{"folds without a place", nil, func(s *Spec) { s.Folds, s.Command = []int{0}, "python src/train.py" }, "no command has {fold}"},
		{"fold misspelt", nil, func(s *Spec) { s.Command = "python src/train.py --folds {folds}" }, "write {fold}"},
		{"no folds file", map[string]string{"data/folds.csv": ""}, nil, "there is no data/folds.csv"},
		{"broken folds file", map[string]string{"data/folds.csv": "id,fold\na,0\nb,0.5\n"}, nil, "row 3: 0.5 is not a fold"},
		{"two jobs of a name", nil, func(s *Spec) { s.ExtraJobs = []Job{{Name: "Idea", Command: "x"}} }, "two jobs"},
		{"job without a command", nil, func(s *Spec) { s.ExtraJobs = []Job{{Name: "b", Command: " "}} }, "no command"},
		{"two lines", nil, func(s *Spec) { s.Command = "a\nb" }, "more than one line"},
		{"dataset without owner", nil, func(s *Spec) { s.Inputs = []Input{{Kind: "dataset", Ref: "leaf"}} }, "owner/slug"},
		{"target outside", nil, func(s *Spec) { s.Inputs = []Input{{Kind: "dataset", Ref: "a/b", Target: "../x"}} }, "inside the project"},
		{"kind unknown", nil, func(s *Spec) { s.Inputs = []Input{{Kind: "disk", Ref: "a/b"}} }, "no kind of input"},
		{"resume from itself", nil, func(s *Spec) { s.ResumeFrom = []string{"sam-roe/idea-train"} }, "this very kernel"},
		{"no baseline", nil, func(s *Spec) { s.Baseline = &Prune{Reference: "src"} }, "no curve_fold"},
		{"negative margin", nil, func(s *Spec) { s.Baseline = &Prune{Reference: "src", Margin: -1} }, "no margin"},
		{"a token in the code", map[string]string{"src/a.py": "# one\nT = '" + secret + "'\n"}, nil, "src/a.py:2: a Kaggle API token"},
		{"a private key", map[string]string{"src/a.txt": "-----BEGIN RSA PRIVATE KEY-----\n"}, nil, "src/a.txt:1: a private key"},
		{"an API key as JSON", map[string]string{"src/k.json": `{"username":"x","key":"` + strings.Repeat("0f", 16) + `"}`}, nil, "src/k.json:1: a Kaggle API key"},
		{"a token in the command", nil, func(s *Spec) { s.Command += " --token " + secret }, "cmd: a Kaggle API token"},
		{"a secret that was named", map[string]string{"kaggle.json": "{}"}, func(s *Spec) { s.Include = []string{"src", "kaggle.json"} }, "kaggle.json: its name"},
		{"a package of ours", map[string]string{"sandglass/x.py": "1"}, func(s *Spec) { s.Include = []string{"sandglass"} }, "would replace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := project(t, tt.files)
			if tt.edit != nil {
				tt.edit(&spec)
			}
			b, err := Pack(context.Background(), spec)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %+v, %v; want the error %q", b, err, tt.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats the secret: %v", err)
			}
			if _, err := os.Stat(filepath.Join(spec.Project, ".sandglass/build/idea-train")); err == nil {
				t.Error("a refused build left a folder")
			}
		})
	}
}

func TestPackUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("every file is readable here")
	}
	for _, name := range []string{"src/model.py", "src/sub"} {
		spec := project(t, map[string]string{"src/sub/x.py": "1"})
		full := filepath.Join(spec.Project, name)
		if err := os.Chmod(full, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(full, 0o755) })
		_, err := Pack(context.Background(), spec)
		var e *PathError
		if !errors.As(err, &e) || e.Path != full || strings.Count(err.Error(), full) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPackKeepsTheOldBuild(t *testing.T) {
	spec := project(t, nil)
	b := pack(t, spec)
	before := readTestFile(t, filepath.Join(b.Dir, b.Script))
	noise := make([]byte, 900_000)
	for i, r := 0, rand.New(rand.NewPCG(7, 8)); i < len(noise); i++ {
		noise[i] = byte(r.Uint32())
	}
	writeTestFile(t, filepath.Join(spec.Project, "src/big.txt"), string(noise))
	_, err := Pack(context.Background(), spec)
	var size *SizeError
	if !errors.As(err, &size) || size.Bytes < MaxScriptBytes || size.Files[0].Name != "src/big.txt" || !strings.Contains(err.Error(), "code 1") {
		t.Fatalf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Pack(ctx, spec); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if after := readTestFile(t, filepath.Join(b.Dir, b.Script)); !bytes.Equal(before, after) {
		t.Error("the earlier build is not what it was")
	}
	entries, err := os.ReadDir(filepath.Dir(b.Dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	writeTestFile(t, filepath.Join(spec.Project, "src/big.txt"), string(noise[:620_000]))
	if b = pack(t, spec); !matches(b.Warnings, "Kaggle refuses") || b.Parts[0].Name != partCode {
		t.Errorf("%d bytes, %q", b.ScriptBytes, b.Warnings)
	}
}

func TestPackSparesForeignFolders(t *testing.T) {
	spec := project(t, nil)
	spec.Out = filepath.Join(spec.Project, "src")
	if _, err := Pack(context.Background(), spec); err == nil || !strings.Contains(err.Error(), "no build wrote") {
		t.Fatalf("got %v", err)
	}
	readTestFile(t, filepath.Join(spec.Out, "train.py"))
	spec.Out = filepath.Join(spec.Project, "src", "kernel") // inside what is included
	first := pack(t, spec)
	writeTestFile(t, filepath.Join(spec.Out, NotesFile), "{}")
	if second := pack(t, spec); second.SHA256 != first.SHA256 {
		t.Error("the second build carries the first")
	}
}

func TestPackLinks(t *testing.T) {
	spec := project(t, map[string]string{"shared/util.py": "u"})
	outside := filepath.Join(t.TempDir(), "x.py")
	writeTestFile(t, outside, "x")
	for link, to := range map[string]string{"util.py": filepath.Join(spec.Project, "shared/util.py"), "out.py": outside, "loop": spec.Project, "gone.py": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(spec.Project, "src", link)); err != nil {
			t.Skip(err)
		}
	}
	b := pack(t, spec)
	_, files := script(t, b)
	if string(files["src/util.py"]) != "u" || files["src/out.py"] != nil {
		t.Errorf("links: %q %q", files["src/util.py"], files["src/out.py"])
	}
	for _, want := range []string{"src/out.py: a link out", "src/loop: a link to a folder", "src/gone.py: a link to nothing"} {
		if !matches(b.LeftOut, want) {
			t.Errorf("%q is not in %q", want, b.LeftOut)
		}
	}
}

func TestAssembleAndNames(t *testing.T) {
	for _, tt := range []struct {
		cmd      string
		folds    []int
		assemble string
		warning  string
	}{
		{"python t.py --name idea --folds {fold}", nil, "python t.py --name idea --assemble", "3 tasks on 2 T4 cards: 1 of them"},
		{"python t.py --folds={fold} --lr 1", nil, "python t.py --assemble --lr 1", "3 tasks"},
		{"python t.py --fold {fold}", nil, "python t.py --assemble", "3 tasks"},
		{"python t.py --fold   \"{fold}\" -v", nil, "python t.py --assemble -v", "3 tasks"},
		{"python t.py --fold-id={fold}", nil, "python t.py --assemble", "3 tasks"},
		{"python t.py -f {fold}", nil, "python t.py --assemble", "3 tasks"},
		{"python t.py --folds {fold}", []int{0, 1}, "", ""},
		{"python t.py --folds {fold}", []int{2, 1, 0, 0}, "python t.py --assemble", "3 tasks"},
		{"FOLD={fold} python t.py", []int{0, 1}, "", ""},
		{"FOLD={fold} python t.py", nil, "", "its folds are not joined"},
		{"python t.py --folds {fold} --seed {fold}", nil, "", "its folds are not joined"},
		{"python t.py --name other --folds {fold}", []int{0, 1}, "", "artifacts/other"},
		{"python t.py --name='idea' --folds {fold}", []int{0, 1}, "", ""},
		{"python t.py --name idea", nil, "", "has all 2 T4 cards to itself"},
	} {
		spec := project(t, nil)
		spec.Command, spec.Folds = tt.cmd, tt.folds
		b := pack(t, spec)
		if b.Jobs[0].Assemble != tt.assemble || !matches(b.Warnings, tt.warning) {
			t.Errorf("%s: assemble %q, warnings %q", tt.cmd, b.Jobs[0].Assemble, b.Warnings)
		}
	}
}

func TestLauncher(t *testing.T) {
	for _, tt := range []struct {
		launcher, cmd, accelerator string
		want                       string // in the error; "" = accepted
	}{
		{"torchrun", "python src/train.py --name idea", AcceleratorT4, ""},
		{"accelerate", "TOKENIZERS_PARALLELISM=false python3 -u -m pkg.train", AcceleratorT4, ""},
		{"none", "bash run.sh", AcceleratorTPU, ""},
		{"", "python src/train.py --folds {fold}", AcceleratorT4, ""},
		{"torchrun", "python src/train.py --folds {fold}", AcceleratorT4, "{fold}"},
		{"torchrun", "python src/train.py", AcceleratorTPU, "TpuV5E8 has none"},
		{"torchrun", "python src/train.py", AcceleratorNone, "none has none"},
		{"accelerate", "bash run.sh", AcceleratorT4, "python script.py"},
		{"torchrun", "python -c 'print(1)'", AcceleratorT4, "python script.py"},
		{"mpirun", "python src/train.py", AcceleratorT4, `"mpirun"`},
	} {
		spec := project(t, nil)
		spec.Launcher, spec.Command, spec.Accelerator = tt.launcher, tt.cmd, tt.accelerator
		b, err := Pack(t.Context(), spec)
		var wrong *SpecError
		if tt.want != "" {
			if !errors.As(err, &wrong) || wrong.Field != "launcher" || !strings.Contains(wrong.Reason, tt.want) {
				t.Errorf("%s for %s: %v", tt.launcher, tt.cmd, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s for %s: %v", tt.launcher, tt.cmd, err)
			continue
		}
		c, _ := script(t, b)
		if got := c.Jobs[0].Launcher; got != strings.TrimPrefix(tt.launcher, "none") {
			t.Errorf("%s for %s: the session is told %q", tt.launcher, tt.cmd, got)
		}
		if matches(b.Warnings, "has all 2 T4 cards to itself") {
			t.Errorf("%s for %s: %q", tt.launcher, tt.cmd, b.Warnings)
		}
	}
}

func TestSupportFiles(t *testing.T) {
	travelling := func(spec Spec) string {
		_, files := script(t, pack(t, spec))
		var got []string
		for name := range files {
			if supportFile(name) {
				got = append(got, strings.TrimSuffix(name, ".py"))
			}
		}
		slices.Sort(got)
		return strings.Join(got, " ")
	}
	all, err := supportMembers()
	if err != nil {
		t.Fatal(err)
	}
	core := "kgkit/__init__ kgkit/budget sandglass/__init__ sandglass/atomic sandglass/budget"
	if got := travelling(project(t, nil)); got != core {
		t.Errorf("of a plain project: %s", got)
	}
	if got := travelling(project(t, map[string]string{"src/train.py": "from kgkit.budget import TrainBudget\nxla = bench = None\n", "src/model.py": ""})); !strings.Contains(got, "sandglass/xla") {
		t.Errorf("a name that may be a module: %s", got)
	}
	if got := travelling(project(t, map[string]string{"src/train.py": "from sandglass import bench\n"})); got != "kgkit/__init__ kgkit/budget sandglass/__init__ sandglass/atomic sandglass/bench sandglass/budget sandglass/xla" {
		t.Errorf("with bench, which imports xla: %s", got)
	}
	spec := project(t, nil)
	spec.Command, spec.Post = "python src/train.py", []string{"python -m sandglass.bench"}
	if got := travelling(spec); !strings.Contains(got, "sandglass/bench") {
		t.Errorf("named by a command: %s", got)
	}
	spec.Post = []string{"python data/tools/infer.py --x"}
	if got := travelling(spec); strings.Count(got, "sandglass/") != len(all)-2 {
		t.Errorf("a script out of a dataset may need all of %d: %s", len(all), got)
	}
	for _, name := range []string{"runner.py", "sandglass/__pycache__/budget.cpython-311.pyc", "sandglass/tests/test_budget.py", "sandglass/test_x.py", "tests/x.py", "sandglass/notes.md"} {
		if supportFile(name) {
			t.Errorf("%s travels", name)
		}
	}
}

func TestIgnore(t *testing.T) {
	rules := parseIgnore("*.txt\n!keep.txt\n/top\nbuild/\na/**/z\nx/**\n\\#odd\nspace\\ \n[!a]?.md \n")
	for _, tt := range []struct {
		name   string
		folder bool
		want   bool
	}{
		{"a.txt", false, true}, {"d/e/a.txt", false, true}, {"keep.txt", false, false}, {"d/keep.txt", false, false},
		{"top", false, true}, {"d/top", false, false}, {"build", true, true}, {"d/build", true, true}, {"build", false, false},
		{"a/z", false, true}, {"a/b/c/z", false, true}, {"b/a/z", false, false}, {"x", true, false}, {"x/y", false, true},
		{"#odd", false, true}, {"space ", false, true}, {"ba.md", false, true}, {"aa.md", false, false},
	} {
		rule, found := rules.match(tt.name, tt.folder)
		if got := found && !rule.keep; got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestScriptSizes holds what a script may take of Kaggle's million bytes. The
// runner is most of a small one: who makes it longer than this pays by making
// something else shorter.
func TestScriptSizes(t *testing.T) {
	if b := pack(t, project(t, nil)); b.ScriptBytes > 39_000 {
		t.Errorf("a small project takes %d bytes: %v", b.ScriptBytes, b.Parts)
	}
	if b := pack(t, project(t, map[string]string{"data/folds.csv": string(randomFolds(700_000, 5))})); b.ScriptBytes > 296_000 {
		t.Errorf("700,000 rows take %d bytes: %v", b.ScriptBytes, b.Parts)
	}
}

func BenchmarkPackSmall(b *testing.B) {
	spec := project(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		b.ReportMetric(float64(pack(b, spec).ScriptBytes), "script-bytes")
	}
}

func BenchmarkPackDemo(b *testing.B) {
	files := map[string]string{"data/folds.csv": string(randomFolds(344, 5))}
	for i := range 6 {
		files[fmt.Sprintf("src/part%d.py", i)] = string(readTestFile(b, "folds_test.go"))
	}
	spec := project(b, files)
	b.ReportAllocs()
	for b.Loop() {
		b.ReportMetric(float64(pack(b, spec).ScriptBytes), "script-bytes")
	}
}

func BenchmarkPack700k(b *testing.B) {
	spec := project(b, map[string]string{"data/folds.csv": string(randomFolds(700_000, 5))})
	b.ReportAllocs()
	for b.Loop() {
		b.ReportMetric(float64(pack(b, spec).ScriptBytes), "script-bytes")
	}
}
