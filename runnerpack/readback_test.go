package runnerpack

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// session output of a small run, as the runner writes it.
var goodOutput = map[string]string{
	RunFile: `{"schema":1,"build_id":"idea-train@1","name":"idea","kernel":"sam-roe/idea-train","elapsed_s":12.5,"budget_h":0.3,
 "hardware":{"gpus":[{"name":"Tesla T4","mem_mb":15360}],"tpu_chips":0,"cpus":4,"python":"3.11"},
 "jobs":[{"name":"idea","cmd":"x","folds":[0,1],"complete":true,"assembled":true,"score":0.9,"metric":"accuracy","greater":true}],
 "tasks":[{"job":"idea","fold":0,"state":"done","seconds":3,"device":"gpu0","best":NaN,"epochs":2,"error":null,"log":"logs/a.log"},
          {"job":"idea","fold":null,"state":"failed","seconds":1,"device":"","best":null,"epochs":0,"error":"boom","log":""}],
 "findings":[{"code":"x","level":"warn","text":"y"}],"outcome":"complete","deadline_hit":false,"later":{"a":1}}`,
	"artifacts/idea/curve_fold0.json":  `{"fold":0,"epochs":3,"greater_is_better":false,"points":[{"epoch":0,"score":0.5,"seconds":1.5},{"epoch":1,"score":NaN,"seconds":null}]}`,
	"artifacts/idea/curve_fold10.json": `{"fold":10,"epochs":3,"points":[]}`,
	"artifacts/idea/score.json":        `{"score":0.9,"metric":"accuracy","greater_is_better":true,"fold_scores":{"0":0.8,"1":1.0,"x":3,"2":null}}`,
	"artifacts/other/notes.txt":        "x",
	TelemetryName: `{"k":"util","t":3,"dev":[{"d":"gpu0","util":90,"mem":1000,"power":60.5},{"d":"gpu1","util":null,"mem":null}]}
::sandglass {"k":"note","t":4,"level":"warn","text":"hm"}
{"k":"util","t":5,"dev":[{"d":"gpu0","ut`,
}

func output(t testing.TB, change map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for name, text := range goodOutput {
		files[name] = text
	}
	var list []string
	for name, text := range files {
		list = append(list, fmt.Sprintf(`{"path":%q,"size":%d,"sha256":%q}`, name, len(text), hexSHA256([]byte(text))))
	}
	files[ManifestName] = `{"schema":1,"files":[` + strings.Join(list, ",") + `]}`
	for name, text := range change {
		files[name] = text
	}
	for name, text := range files {
		if text != "" {
			writeTestFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
		}
	}
	return dir
}

func TestReadOutputs(t *testing.T) {
	dir := output(t, nil)
	o, err := ReadOutputs(dir)
	if err != nil || o.Problems != nil {
		t.Fatalf("%v, problems %q", err, o.Problems)
	}
	if o.Run.Jobs[0].Score == nil || *o.Run.Jobs[0].Assembled != true || o.Run.Tasks[0].Best != nil || *o.Run.Tasks[0].Fold != 0 || o.Run.Tasks[1].Fold != nil {
		t.Errorf("run %+v", o.Run)
	}
	if len(o.Curves) != 2 || o.Curves[0].Fold != 0 || o.Curves[0].Greater || !o.Curves[1].Greater || o.Curves[1].Fold != 10 ||
		!math.IsNaN(o.Curves[0].Points[1].Score) || o.Curves[0].Points[0] != (Point{0, 0.5, 1.5}) {
		t.Errorf("curves %+v", o.Curves)
	}
	if s := o.Scores["idea"]; s.Score != 0.9 || len(s.FoldScores) != 2 || s.FoldScores[1] != 1 {
		t.Errorf("scores %+v", o.Scores)
	}
	if len(o.Util) != 1 || o.Util[0] != (UtilSample{3, "gpu0", 90, 1000, 60.5, true}) || len(o.Notes) != 1 || o.Notes[0].T != 4 {
		t.Errorf("util %+v notes %+v", o.Util, o.Notes)
	}
	if len(o.Files) != len(goodOutput)+1 || !slices.IsSortedFunc(o.Files, func(a, b FileInfo) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("files %v", o.Files)
	}
	if problems, err := CheckManifest(dir); err != nil || problems != nil {
		t.Errorf("manifest: %v %v", problems, err)
	}
}

func TestReadOutputsBroken(t *testing.T) {
	for name := range goodOutput {
		for _, text := range []string{"{", "\x00\xff", `[1]`, `{"schema":9,"points":7,"score":"x"}`} {
			if name == "artifacts/other/notes.txt" {
				continue
			}
			o, err := ReadOutputs(output(t, map[string]string{name: text, TelemetryName: text + "\n" + text + "\n{}\n"}))
			if err != nil {
				t.Fatal(err)
			}
			if !matches(o.Problems, filepath.Base(name)) {
				t.Errorf("%s as %q: problems %q", name, text, o.Problems)
			}
			if len(o.Files) == 0 {
				t.Error("no files")
			}
		}
	}
	o, err := ReadOutputs(t.TempDir())
	if err != nil || len(o.Problems) != 4 {
		t.Errorf("an empty folder: %v %q", err, o.Problems)
	}
	if _, err := ReadOutputs(filepath.Join(t.TempDir(), "no")); err == nil {
		t.Error("a folder that is not there was read")
	}
}

func TestReadOutputsFollowsNoLinks(t *testing.T) {
	dir := output(t, map[string]string{RunFile: ""})
	outside := filepath.Join(t.TempDir(), "run.json")
	writeTestFile(t, outside, goodOutput[RunFile])
	if err := os.Symlink(outside, filepath.Join(dir, RunFile)); err != nil {
		t.Skip(err)
	}
	o, err := ReadOutputs(dir)
	if err != nil || o.Run != nil || !matches(o.Problems, "not a regular file") {
		t.Errorf("%+v %v", o, err)
	}
}

func TestCheckManifest(t *testing.T) {
	dir := output(t, map[string]string{
		"artifacts/idea/curve_fold0.json": "", "artifacts/idea/score.json": "{}",
		"artifacts/other/notes.txt": "y",
	})
	problems, err := CheckManifest(dir)
	got := map[string]string{}
	for _, p := range problems {
		got[p.Path] = p.Problem
	}
	if err != nil || len(got) != 3 || got["artifacts/idea/curve_fold0.json"] != "missing" ||
		!strings.HasPrefix(got["artifacts/idea/score.json"], "2 bytes, ") || got["artifacts/other/notes.txt"] != "the content differs" {
		t.Errorf("%v %v", got, err)
	}
	for _, p := range []string{"../x", "/etc/passwd", `..\\x`, "a/../../x", "C:/x", "", "a//b"} {
		writeTestFile(t, filepath.Join(dir, ManifestName), `{"schema":1,"files":[{"path":"`+p+`","size":0,"sha256":""}]}`)
		if problems, err := CheckManifest(dir); err != nil || len(problems) != 1 || !strings.Contains(problems[0].Problem, "not looked at") {
			t.Errorf("%q: %v %v", p, problems, err)
		}
	}
	writeTestFile(t, filepath.Join(dir, ManifestName), `{"schema":1,"fi`)
	if _, err := CheckManifest(dir); err == nil {
		t.Error("a manifest cut short passed")
	}
}

var telemetryLines = []string{
	`::sandglass {"k":"session","t":0.1,"phase":"start","build":"b@1","deadline":1790000000.5,"workers":2,"tasks":5,"hardware":{"gpus":[{"name":"T4","mem_mb":15000}],"cpus":4}}`,
	`12.5s ::sandglass {"k":"task","t":1,"job":"idea","fold":3,"state":"running","device":"gpu1","seconds":0,"best":null,"epochs":0,"error":null}`,
	`::sandglass {"k":"task","t":1,"job":"idea","fold":null,"state":"done","best":0.5}`,
	`::sandglass {"k":"point","t":2,"job":"idea","fold":0,"epochs":9,"greater":false,"pts":[[0,0.5,1.5],[1,NaN,null],[2,0.25],[3],[1.5,1],[-1,1]]}`,
	`::sandglass {"k":"util","t":30,"dev":[{"d":"gpu0","util":97,"mem":9000,"power":68.2}]}`,
	`::sandglass {"k":"note","t":30,"level":"warn","text":"::sandglass {}"}`,
	`::sandglass {"k":"end","t":99.5,"outcome":"partial","exit":0}`,
}

func TestParseTelemetry(t *testing.T) {
	var got []Telemetry
	for _, line := range telemetryLines {
		tl, ok := ParseTelemetry(line)
		if !ok {
			t.Fatalf("not read: %s", line)
		}
		got = append(got, tl)
	}
	if s := got[0].Session; s.Workers != 2 || s.Hardware.GPUs[0].MemMB != 15000 || s.Deadline != 1790000000.5 {
		t.Errorf("session %+v", s)
	}
	if *got[1].Task.Fold != 3 || got[1].Task.State != "running" || got[2].Task.Fold != nil || *got[2].Task.Best != 0.5 {
		t.Errorf("tasks %+v %+v", got[1].Task, got[2].Task)
	}
	if c := got[3].Points; len(c.Points) != 3 || c.Greater || c.Points[0] != (Point{0, 0.5, 1.5}) || !math.IsNaN(c.Points[1].Score) || c.Points[2] != (Point{2, 0.25, 0}) {
		t.Errorf("points %+v", c)
	}
	if got[4].Util[0].PowerW != 68.2 || got[5].Note.Text != "::sandglass {}" || got[6].End.Outcome != "partial" || got[6].T != 99.5 {
		t.Errorf("%+v", got[4:])
	}
	for _, line := range []string{"", "epoch 1", "::sandglass ", `::sandglass {"k":"task","t":1,"job":"id`, `::sandglass {"k":"other","t":1}`,
		`::sandglass {"k":"end"}`, `::sandglass {"k":"end","t":-1}`, `::sandglass {"k":"task","t":1,"fold":"x"}`, `::sandglass []`} {
		if tl, ok := ParseTelemetry(line); ok {
			t.Errorf("%s gave %+v", line, tl)
		}
	}
}

func FuzzParseTelemetry(f *testing.F) {
	for _, line := range telemetryLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, ok := ParseTelemetry(line)
		if !ok {
			return
		}
		set := 0
		for _, there := range []bool{got.Session != nil, got.Task != nil, got.Points != nil, got.Note != nil, got.End != nil, got.Kind == "util"} {
			if there {
				set++
			}
		}
		if set != 1 || got.T < 0 {
			t.Errorf("%q: %+v", line, got)
		}
	})
}

// npyFile is a .npy file of version 1.
func npyFile(header string, data []byte) []byte {
	header += strings.Repeat(" ", 63-(len(header)+10)%64) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return append(append(out, header...), data...)
}

func TestReadNpy(t *testing.T) {
	le := binary.LittleEndian
	f8 := func(v ...float64) (b []byte) {
		for _, x := range v {
			b = le.AppendUint64(b, math.Float64bits(x))
		}
		return
	}
	head := func(dtype, order, shape string) string {
		return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", dtype, order, shape)
	}
	for _, tt := range []struct {
		name   string
		file   []byte
		shape  []int
		values []float64
	}{
		{"f8", npyFile(head("<f8", "False", "(3,)"), f8(1, 2.5, -3)), []int{3}, []float64{1, 2.5, -3}},
		{"2-D", npyFile(head("<f8", "False", "(2, 3)"), f8(1, 2, 3, 4, 5, 6)), []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		{"Fortran", npyFile(head("<f8", "True", "(2, 3)"), f8(1, 4, 2, 5, 3, 6)), []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		{"big-endian", npyFile(head(">i4", "False", "(1,)"), []byte{0, 0, 1, 2}), []int{1}, []float64{258}},
		{"half", npyFile(head("<f2", "False", "(2,)"), []byte{0, 0x3c, 0, 0xc0}), []int{2}, []float64{1, -2}},
		{"f4", npyFile(head("<f4", "False", "(1,)"), le.AppendUint32(nil, math.Float32bits(0.5))), []int{1}, []float64{0.5}},
		{"i8", npyFile(head("<i8", "False", "(2,)"), le.AppendUint64(le.AppendUint64(nil, 7), math.MaxUint64)), []int{2}, []float64{7, -1}},
		{"u1", npyFile(head("|u1", "False", "(2,)"), []byte{7, 255}), []int{2}, []float64{7, 255}},
		{"bool", npyFile(head("|b1", "False", "(2,)"), []byte{1, 0}), []int{2}, []float64{1, 0}},
		{"empty", npyFile(head("<f8", "False", "(0,)"), nil), []int{0}, []float64{}},
	} {
		path := filepath.Join(t.TempDir(), "a.npy")
		writeTestFile(t, path, string(tt.file))
		got, err := ReadNpy(path)
		if err != nil || !slices.Equal(got.Shape, tt.shape) || !slices.Equal(got.Values, tt.values) {
			t.Errorf("%s: %+v %v", tt.name, got, err)
		}
		if len(tt.shape) == 2 && got.At(1, 2) != 6 {
			t.Errorf("%s: At(1, 2) = %v", tt.name, got.At(1, 2))
		}
	}
	good := npyFile(head("<f8", "False", "(3,)"), f8(1, 2, 3))
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"cut short":    {good[:len(good)-1], "cut short"},
		"too long":     {append(slices.Clone(good), 0), "cut short or damaged"},
		"not one":      {[]byte("hello, this is no array"), "not a NumPy array"},
		"nothing":      {nil, "not a NumPy array"},
		"objects":      {npyFile(head("|O", "False", "(3,)"), f8(1, 2, 3)), "not numeric"},
		"complex":      {npyFile(head("<c16", "False", "(1,)"), f8(1, 2)), "not numeric"},
		"text":         {npyFile(head("<U4", "False", "(1,)"), f8(1, 2)), "not numeric"},
		"three":        {npyFile(head("<f8", "False", "(1, 1, 1)"), f8(1)), "3 dimensions"},
		"scalar":       {npyFile(head("<f8", "False", "()"), f8(1)), "0 dimensions"},
		"negative":     {npyFile(head("<f8", "False", "(-1,)"), f8(1)), "shape [-1]"},
		"huge":         {npyFile(head("<f8", "False", "(9999999999, 9999999999)"), f8(1)), "shape"},
		"header empty": {npyFile("", nil), "NumPy"},
		"header odd":   {npyFile("}'shape': 'fortran_order': 'descr': ", nil), "damaged"},
		"no line end":  {append([]byte("\x93NUMPY\x01\x00\x04\x00"), "abcd"...), "damaged"},
		"long header":  {append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), good...), "header"},
	} {
		path := filepath.Join(t.TempDir(), "a.npy")
		if err := os.WriteFile(path, tt.file, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadNpy(path); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestNullNaN(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \" NaN"}`: `{"a":null,"b":[null,null],"c":"NaN \" NaN"}`,
		`"\`: `"\`,
	} {
		if got := string(nullNaN([]byte(in))); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
	var v struct{ A *float64 }
	if err := unmarshalPython([]byte(`{"A":NaN}`), &v); err != nil || v.A != nil {
		t.Errorf("%v %v", v, err)
	}
	if err := unmarshalPython([]byte(`{"A":NaN`), &v); err == nil {
		t.Error("cut short and read")
	}
	if _, err := json.Marshal(Point{}); err != nil {
		t.Error(err)
	}
}
