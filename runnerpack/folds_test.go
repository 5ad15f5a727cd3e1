package runnerpack

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFoldsCases runs the files of testdata/folds against their expected.json.
func TestFoldsCases(t *testing.T) {
	var cases map[string]struct {
		Folds   []int    `json:"folds"`
		Rows    int      `json:"rows"`
		HeldOut []string `json:"held_out"`
		Warning string   `json:"warning"`
		Error   string   `json:"error"`
	}
	readJSON(t, "testdata/folds/expected.json", &cases)
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			data := readTestFile(t, filepath.Join("testdata/folds", name))
			got, err := ReadFolds(bytes.NewReader(data))
			if want.Error != "" {
				first, offer, _ := strings.Cut(want.Error, "; offer ")
				if err == nil || !strings.Contains(err.Error(), first) || !strings.Contains(err.Error(), offer) {
					t.Fatalf("got %v, %v; want the error %q", got, err, want.Error)
				}
				return
			}
			if err != nil || !slices.Equal(got.Folds, want.Folds) || !slices.Equal(got.HeldOut, want.HeldOut) ||
				want.Rows != 0 && got.Rows != want.Rows {
				t.Fatalf("got %+v, %v", got, err)
			}
			if warning := strings.Join(got.Warnings, "; "); warning != want.Warning {
				t.Errorf("warning %q, want %q", warning, want.Warning)
			}
		})
	}
}

func TestReadFolds(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		folds      []int
		err        string
		warning    string
	}{
		{name: "quoted", data: "\"id\",\"fold\"\n\"a,b\",\"1\"\n\"c\",0\n", folds: []int{0, 1}},
		{name: "tabs", data: "fold\tid\n0\tx\n1\ty", folds: []int{0, 1}},
		{name: "no id column", data: "target,fold\n0,1\n0,0\n1,1\n", folds: []int{0, 1}},
		{name: "one column", data: "fold\n1\n0\n", folds: []int{0, 1}},
		{name: "decimal comma stays", data: "id;fold\na;1,5\n", err: "row 2: 1,5 is not a fold"},
		{name: "infinite", data: "id,fold\na,inf\n", err: "row 2: inf is not a fold"},
		{name: "exponent", data: "id,fold\na,1e0\n", err: "row 2: 1e0 is not a fold"},
		{name: "hexadecimal", data: "id,fold\na,0x1\n", err: "row 2: 0x1 is not a fold"},
		{name: "not a number", data: "id,fold\na,0\nb,NaN\n", err: "row 3 has no fold"},
		{name: "an id where the fold should be", data: "id,fold\na,123456\n", err: "row 2: 123456 is not a fold"},
		{name: "twice in one fold", data: "id,fold\na,0\nb,1\na,0\n", err: "id a is there twice, in rows 2 and 4"},
		{name: "twice, counted", data: "id,fold\n1,0\n2,1\n1,1\n", err: "id 1 is in folds 0 and 1"},
		{name: "other id name", data: "image_id,fold\na,0\na,1\n", err: "image_id a is in folds 0 and 1"},
		{name: "blank id", data: "id,fold\na,0\n,1\n", err: "row 3 has no id"},
		{name: "patients leak", data: "id,patient_id,fold\na,P,0\nb,P,1\n", folds: []int{0, 1},
			warning: "patient_id P is in folds 0 and 1: what is learnt about it in one fold helps in the other"},
		{name: "a group held out in part", data: "id,group,fold\na,G,-1\nb,G,1\nc,H,0\n", folds: []int{0, 1}},
		{name: "a group leaks behind held-out rows", data: "id,group,fold\na,G,-1\nb,G,1\nc,G,0\n", err: "group G is in folds 1 and 0"},
		{name: "two holes", data: "id,fold\na,0\nb,3\n", folds: []int{0, 3}, warning: "no row has folds 1, 2: two runs, not four"},
		{name: "one-based hole", data: "id,fold\na,1\nb,3\n", folds: []int{1, 3}, warning: "no row has fold 2: two runs, not three"},
		{name: "ragged", data: "id,fold\na,0\nb\n", err: "row 3 has 1 cells and the header 2"},
		{name: "rows are lines", data: "id,fold\n\n\"a\nb\",0\nc,\n", err: "row 5 has no fold"},
		{name: "open quote", data: "id,fold\na,0\n\"b,1\n", err: "row 3 has a quote that is never closed"},
		{name: "one fold", data: "id,fold\na,0\nb,0\nc,-1\n", folds: []int{0},
			warning: "every row that is in a fold is in fold 0: a fold is trained on the rows of the others, and there are none"},
		{name: "all held out", data: "id,fold\na,-1\n", err: "every row is held out"},
		{name: "no rows", data: "id,fold\n", err: "a header and no rows"},
		{name: "empty", data: "", err: "the file is empty"},
		{name: "latin-1", data: "id,fold\n\xe4,0\n", err: "row 2 is not UTF-8"},
		{name: "UTF-16", data: "\xff\xfei\x00d\x00", err: "row 1 is not UTF-8"},
		{name: "two fold columns", data: "fold,fold\n0,0\n", err: "two columns are named fold"},
		{name: "nothing like it", data: "a,b\n0,0\n", err: "the columns are a, b"},
		{name: "capital", data: "id,Fold\na,0\n", err: "rename the column Fold"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadFolds(strings.NewReader(tt.data))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %+v, %v; want the error %q", got, err, tt.err)
				}
				return
			}
			if err != nil || !slices.Equal(got.Folds, tt.folds) || strings.Join(got.Warnings, "; ") != tt.warning {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func FuzzReadFolds(f *testing.F) {
	files, err := filepath.Glob("testdata/folds/*.csv")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadFolds(bytes.NewReader(data))
		if err != nil {
			return
		}
		total := len(got.HeldOut)
		for _, k := range got.Folds {
			if k < 0 || got.Counts[k] < 1 {
				t.Errorf("fold %d has %d rows", k, got.Counts[k])
			}
			total += got.Counts[k]
		}
		if total != got.Rows || !slices.IsSorted(got.Folds) || len(got.Folds) == 0 {
			t.Errorf("%d rows in folds or held out, of %d; %v", total, got.Rows, got.Folds)
		}
	})
}

func readTestFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	if err := json.Unmarshal(readTestFile(t, name), v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
