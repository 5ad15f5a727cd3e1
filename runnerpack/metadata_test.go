package runnerpack

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestMetadataCase(t *testing.T) {
	var want struct {
		File struct {
			IsPrivate      bool    `json:"is_private"`
			EnableGPU      bool    `json:"enable_gpu"`
			EnableTPU      bool    `json:"enable_tpu"`
			EnableInternet bool    `json:"enable_internet"`
			MachineShape   *string `json:"machine_shape"`
		} `json:"kernel-metadata.json"`
		Single []struct{ Given, Want json.RawMessage } `json:"single_values"`
	}
	readJSON(t, "testdata/booleans/expected.json", &want)
	m, _, err := ParseMetadata(readTestFile(t, "testdata/booleans/kernel-metadata.json"))
	if err != nil {
		t.Fatal(err)
	}
	if m.IsPrivate != want.File.IsPrivate || m.EnableGPU != want.File.EnableGPU || m.EnableTPU != want.File.EnableTPU ||
		m.EnableInternet != want.File.EnableInternet || m.MachineShape != "" || want.File.MachineShape != nil {
		t.Errorf("got %+v", m)
	}
	out, err := m.File()
	if err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	if err := json.Unmarshal(out, &sent); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"is_private", "enable_gpu", "enable_tpu", "enable_internet"} {
		if _, ok := sent[field].(bool); !ok {
			t.Errorf("%s is written as %#v", field, sent[field])
		}
		for _, single := range want.Single {
			got, _, err := ParseMetadata(metadataWith(field, string(single.Given)))
			if strings.Contains(string(single.Want), "error") {
				var e *MetadataError
				if !errors.As(err, &e) || e.Field != field {
					t.Errorf("%s %s: got %v", field, single.Given, err)
				}
				continue
			}
			b := reflect.ValueOf(map[string]bool{"is_private": got.IsPrivate, "enable_gpu": got.EnableGPU,
				"enable_tpu": got.EnableTPU, "enable_internet": got.EnableInternet}[field]).Bool()
			if err != nil || fmt.Sprint(b) != string(single.Want) {
				t.Errorf("%s %s: got %v, %v", field, single.Given, b, err)
			}
		}
	}
	if _, ok := sent["machine_shape"]; ok {
		t.Error("a CPU run has a machine_shape")
	}
}

// metadataWith is a good metadata file with one more field.
func metadataWith(field, value string) []byte {
	return fmt.Appendf(nil, `{"id":"sam-roe/leaf-fold-0","title":"Leaf Fold 0","code_file":"a.py","language":"python","kernel_type":"script",%q:%s}`, field, value)
}

func TestParseMetadata(t *testing.T) {
	m, notes, err := ParseMetadata(metadataWith("keywords", `["a"]`))
	if err != nil || !m.IsPrivate || m.EnableGPU || m.EnableTPU || !m.EnableInternet || len(notes) != 1 {
		t.Errorf("defaults: %+v %q %v", m, notes, err)
	}
	m, _, err = ParseMetadata(metadataWith("machine_shape", `"TpuV5E8"`))
	if err != nil || !m.EnableTPU {
		t.Errorf("a shape alone: %+v %v", m, err)
	}
	for _, tt := range []struct{ raw, field string }{
		{`[]`, ""}, {`null`, ""}, {`{`, ""}, {`{"a":1}`, "id"},
		{string(metadataWith("dataset_sources", `"a/b"`)), "dataset_sources"},
		{string(metadataWith("kernel_sources", `["a/b",""]`)), "kernel_sources"},
		{string(metadataWith("id_no", `"x"`)), "id_no"},
		{string(metadataWith("title", `7`)), "title"},
		{string(metadataWith("language", `"perl"`)), "language"},
		{string(metadataWith("kernel_type", `"app"`)), "kernel_type"},
		{string(metadataWith("code_file", `null`)), "code_file"},
		{string(metadataWith("docker_image_pinning_type", `"newest"`)), "docker_image_pinning_type"},
	} {
		_, _, err := ParseMetadata([]byte(tt.raw))
		var e *MetadataError
		if !errors.As(err, &e) || e.Field != tt.field {
			t.Errorf("%s: %v", tt.raw, err)
		}
	}
}

// A misspelt key is as good as none: the official client ignores it too, and nothing else would say so.
func TestMetadataNamesUnknownKeys(t *testing.T) {
	for field, want := range map[string]string{
		"dataset_source": "dataset_source is no key of Kaggle's and is ignored; dataset_sources is one",
		"Enable-GPU":     "Enable-GPU is no key of Kaggle's and is ignored; enable_gpu is one",
		"datasets":       "datasets is no key of Kaggle's and is ignored",
		"machineShape":   "machineShape is no key of Kaggle's and is ignored; machine_shape is one",
	} {
		_, notes, err := ParseMetadata(metadataWith(field, `"x"`))
		if err != nil || !slices.Contains(notes, want) {
			t.Errorf("%s: %q, %v", field, notes, err)
		}
	}
	for _, field := range []string{"id_no", "keywords", "model_sources", "docker_image", "docker_image_pinning_type"} {
		_, notes, err := ParseMetadata(metadataWith(field, `null`))
		if err != nil || strings.Contains(strings.Join(notes, " "), "no key") {
			t.Errorf("%s: %q, %v", field, notes, err)
		}
	}
}

func TestMetadataSources(t *testing.T) {
	for _, tt := range []struct{ field, given, want, err string }{
		{"dataset_sources", "sam-roe/Leaves", "sam-roe/Leaves", ""},
		{"dataset_sources", "sam-roe/leaves/3", "sam-roe/leaves/3", ""},
		{"dataset_sources", "https://www.kaggle.com/datasets/sam-roe/leaves", "sam-roe/leaves", ""},
		{"dataset_sources", "http://kaggle.com/datasets/sam-roe/leaves/?select=a.csv#x", "sam-roe/leaves", ""},
		{"dataset_sources", "www.kaggle.com/sam-roe/leaves", "sam-roe/leaves", ""},
		{"dataset_sources", "/datasets/sam-roe/leaves/versions/3", "sam-roe/leaves/3", ""},
		{"dataset_sources", "foo", "", `"foo" is not owner/slug`},
		{"dataset_sources", "https://example.invalid/sam-roe/leaves", "", "no reference of Kaggle's"},
		{"dataset_sources", "https://www.kaggle.com/code/sam-roe/leaves", "", "kernel_sources"},
		{"kernel_sources", "https://www.kaggle.com/code/sam-roe/leaf-fold-0/output", "sam-roe/leaf-fold-0", ""},
		{"kernel_sources", "foo", "", `"foo" is not owner/slug`},
		{"competition_sources", "titanic", "titanic", ""},
		{"competition_sources", "https://www.kaggle.com/c/titanic/data", "titanic", ""},
		{"competition_sources", "https://www.kaggle.com/competitions/titanic/overview", "titanic", ""},
		{"competition_sources", "sam-roe/titanic", "", "not a competition's slug"},
		{"model_sources", "google/gemma/transformers/2b/3", "google/gemma/transformers/2b/3", ""},
		{"model_sources", "https://www.kaggle.com/models/google/gemma/transformers/2b/3", "google/gemma/transformers/2b/3", ""},
		{"model_sources", "google/gemma", "", "framework"},
	} {
		m, notes, err := ParseMetadata(metadataWith(tt.field, fmt.Sprintf("[%q]", tt.given)))
		if tt.err != "" {
			var e *MetadataError
			if !errors.As(err, &e) || e.Field != tt.field || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s %s: %v", tt.field, tt.given, err)
			}
			continue
		}
		got := map[string][]string{"dataset_sources": m.DatasetSources, "kernel_sources": m.KernelSources,
			"competition_sources": m.CompetitionSources, "model_sources": m.ModelSources}[tt.field]
		if err != nil || !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s %s: %q, %v", tt.field, tt.given, got, err)
		}
		if said := strings.Contains(strings.Join(notes, " "), "is sent as "+tt.want); said != (tt.given != tt.want) {
			t.Errorf("%s %s: notes %q", tt.field, tt.given, notes)
		}
	}
}

func TestTitleOnOneLine(t *testing.T) {
	for _, title := range []string{"Leaf\nFold 0", "Leaf\r\nFold 0", "Leaf\tFold 0"} {
		_, err := CheckIdentity(title, "sam-roe/leaf-fold-0")
		var e *IdentityError
		if !errors.As(err, &e) || !strings.Contains(e.Reason, "line break") || e.Suggest != "Leaf Fold 0" {
			t.Errorf("%q: %v", title, err)
		}
	}
}

func FuzzParseMetadata(f *testing.F) {
	f.Add(readTestFile(f, "testdata/booleans/kernel-metadata.json"))
	f.Add(readTestFile(f, "testdata/accelerators/stale-tpu-pin/kernel-metadata.json"))
	f.Add(metadataWith("id_no", `"12"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, _, err := ParseMetadata(raw)
		if err != nil {
			return
		}
		out, err := m.File()
		if err != nil {
			t.Fatal(err)
		}
		again, notes, err := ParseMetadata(out)
		if err != nil || len(notes) > 0 {
			t.Fatalf("%s\n%v %q", out, err, notes)
		}
		if second, _ := again.File(); string(second) != string(out) {
			t.Errorf("%s\nbecame\n%s", out, second)
		}
	})
}

func TestIdentityCases(t *testing.T) {
	var want struct {
		Cases []struct {
			Title, ID, Want, Why string
			Slug                 *string `json:"slug_of_title"`
		}
	}
	readJSON(t, "testdata/titles/expected.json", &want)
	for _, tt := range want.Cases {
		id, err := CheckIdentity(tt.Title, tt.ID)
		if tt.Slug != nil && Slugify(tt.Title) != *tt.Slug {
			t.Errorf("%q becomes %q, want %q", tt.Title, Slugify(tt.Title), *tt.Slug)
		}
		var e *IdentityError
		switch tt.Want {
		case "ok":
			if err != nil || id.ID() != tt.ID || id.Notes != nil {
				t.Errorf("%q %q (%s): %+v, %v", tt.Title, tt.ID, tt.Why, id, err)
			}
		case "normalise":
			if err != nil || id.ID() != strings.ToLower(tt.ID) || id.Notes == nil {
				t.Errorf("%q %q (%s): %+v, %v", tt.Title, tt.ID, tt.Why, id, err)
			}
		default:
			if !errors.As(err, &e) {
				t.Errorf("%q %q (%s): %+v, %v", tt.Title, tt.ID, tt.Why, id, err)
			}
		}
	}
}

func TestIdentitySuggestions(t *testing.T) {
	for title, want := range map[string]string{
		"Blätter Fold 0":   "Blatter Fold 0",
		"Größe der Äpfel":  "Grosse der Apfel",
		"日本":               "",
		"Leaf Fold 0 (v2)": "leaf fold 0",
	} {
		_, err := CheckIdentity(title, "sam-roe/leaf-fold-0")
		var e *IdentityError
		if !errors.As(err, &e) || e.Suggest != want {
			t.Errorf("%q: %v", title, err)
		}
	}
	for _, id := range []string{"", "/", "a/", "/leaf-fold-0", "a b/leaf-fold-0", "../leaf-fold-0"} {
		if _, err := CheckIdentity("Leaf Fold 0", id); err == nil {
			t.Errorf("id %q passed", id)
		}
	}
}

func TestAcceleratorCases(t *testing.T) {
	var matrix []struct {
		Name     string
		Metadata json.RawMessage
	}
	readJSON(t, "testdata/accelerators/matrix.json", &matrix)
	want := map[string]struct{ fixed, warning, err, shape string }{
		"gpu-flag-only":      {err: "NvidiaTeslaT4"},
		"t4":                 {warning: "two workers", shape: "NvidiaTeslaT4"},
		"p100":               {warning: "retired", shape: "NvidiaTeslaP100"},
		"old-tpu":            {warning: "retired", shape: "Tpu1VmV38"},
		"v5e":                {shape: "TpuV5E8"},
		"both":               {err: "both true"},
		"shape-against-flag": {err: "asks for a card"},
		"wrong-case":         {fixed: "spelt NvidiaTeslaT4", shape: "NvidiaTeslaT4", warning: "two workers"},
		"made-up":            {warning: "not a known value", shape: "NvidiaTeslaT4x2"},
		"empty":              {},
	}
	for _, tt := range matrix {
		fields := strings.TrimSuffix(strings.TrimSpace(string(tt.Metadata)), "}")
		m, _, err := ParseMetadata([]byte(fields + `,"id":"a/b","title":"t","code_file":"a.py","language":"python","kernel_type":"script"}`))
		if err != nil {
			t.Fatal(err)
		}
		fixed, warnings, err := CheckAccelerator(&m)
		w := want[tt.Name]
		var e *AcceleratorError
		if w.err != "" {
			if !errors.As(err, &e) || !strings.Contains(err.Error(), w.err) {
				t.Errorf("%s: %v", tt.Name, err)
			}
			continue
		}
		if err != nil || m.MachineShape != w.shape || !matches(fixed, w.fixed) || !matches(warnings, w.warning) {
			t.Errorf("%s: %q fixed %q warnings %q %v", tt.Name, m.MachineShape, fixed, warnings, err)
		}
	}
}

// matches: want "" asks for an empty list.
func matches(list []string, want string) bool {
	if want == "" {
		return len(list) == 0
	}
	return strings.Contains(strings.Join(list, "\n"), want)
}
