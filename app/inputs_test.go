package app

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// inputWorld has two datasets that share a file's name, one of another owner with
// the same slug, an entered competition and one whose rules are not accepted.
func inputWorld(t *testing.T) (*world, string) {
	w := newWorld(t, sandbox.Options{}, works(time.Hour))
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"scans/images.csv": "a,b\n", "scans/one/x.png": "x", "more/images.csv": "a,c\n", "cup/train.csv": "id\n", "closed/train.csv": "id\n",
		"project/src/train.py": "print(1)\n", "project/data/folds.csv": "id,fold\n0,0\n1,1\n", "split/folds.csv": "id,fold\n"})
	for _, d := range [][3]string{{"sam-roe", "leaf-scans", "scans"}, {"kim-poe", "leaf-scans", "more"}, {"sam-roe", "own-split", "split"}} {
		if err := w.box.AddDataset(d[0], d[1], dir+"/"+d[2]); err != nil {
			t.Fatal(err)
		}
	}
	for slug, entered := range map[string]bool{"leaf-cup": true, "closed-cup": false} {
		sub := map[bool]string{true: "cup", false: "closed"}[entered]
		if err := w.box.AddCompetition(slug, dir+"/"+sub, entered); err != nil {
			t.Fatal(err)
		}
	}
	return w, dir + "/project"
}

func TestCheckInputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, project := inputWorld(t)
		a := w.open(t, "")
		defer closeApp(t, a)
		pushDir(t, a, kernelFolder(t, "prepare", "none", nil), PushOptions{Hours: 2})
		time.Sleep(5 * time.Minute)
		spec := BuildSpec{Project: project, Competitions: []string{"leaf-cup", "closed-cup"},
			Datasets: []string{"Sam-Roe/leaf-scans", "kim-poe/leaf-scans", "kim-poe/leaf-scans-2=data/more", "leaf-scans", "sam-roe/own-split"},
			Kernels:  []string{"sam-roe/prepare", "sam-roe/nothing"}, Models: []string{"google/bert/pytorch/base/1"}}
		var asked []string
		got, err := a.CheckInputs(t.Context(), spec, func(p Progress) { asked = append(asked, p.Item) })
		if err != nil {
			t.Fatal(err)
		}
		want := []struct{ ref, state, clash string }{
			{"leaf-cup", InputReady, ""}, {"closed-cup", InputLocked, ""},
			{"Sam-Roe/leaf-scans", InputReady, ""}, {"kim-poe/leaf-scans", InputReady, "data/images.csv is there from Sam-Roe/leaf-scans already"},
			{"kim-poe/leaf-scans-2", InputMissing, ""}, {"leaf-scans", InputMisspelt, ""}, {"sam-roe/own-split", InputReady, "folds.csv is there from the project itself"},
			{"sam-roe/prepare", InputRunning, ""}, {"sam-roe/nothing", InputMissing, ""}, {"google/bert/pytorch/base/1", InputNotChecked, ""},
		}
		if len(got) != len(want) || len(asked) != len(want) {
			t.Fatalf("%d states, %d asked: %+v", len(got), len(asked), got)
		}
		for i, s := range got {
			if s.Ref != want[i].ref || s.State != want[i].state || !strings.Contains(s.Clash, want[i].clash) || want[i].clash == "" && s.Clash != "" {
				t.Errorf("%s is %s (%s), clash %q; want %+v", s.Ref, s.State, s.Text, s.Clash, want[i])
			}
			if s.Text == "" {
				t.Errorf("%s has no words", s.Ref)
			}
		}
		if got[2].Files != 2 || got[2].Bytes != 5 || got[2].Folder != "data" || got[4].Folder != "data/more" || got[9].Folder != "" {
			t.Errorf("sizes and folders: %+v %+v %+v", got[2], got[4], got[9])
		}
	})
}

func TestInputsOfTheSameShortNameAreTold(t *testing.T) {
	states := []InputState{{InputRef: InputRef{Kind: InputDataset, Ref: "a/x"}, Folder: "data/a"}, {InputRef: InputRef{Kind: InputKernel, Ref: "b/X"}, Folder: "data/b"}}
	markClashes(states, [][]string{{"f"}, {"f"}}, nil)
	if states[0].Clash != "" || !strings.Contains(states[1].Clash, "same short name as a/x") {
		t.Errorf("clashes %q, %q", states[0].Clash, states[1].Clash)
	}
}

func TestWithoutANetworkInputsAreNotCalledMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, project := inputWorld(t)
		a := w.open(t, "")
		defer closeApp(t, a)
		w.setDown(true)
		got, err := a.CheckInputs(t.Context(), BuildSpec{Project: project, Datasets: []string{"sam-roe/leaf-scans"}}, nil)
		if err != nil || len(got) != 1 || got[0].State != InputNotChecked || got[0].Blocks() || !strings.Contains(got[0].Text, "could not be checked") {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestSearchInputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := inputWorld(t)
		a := w.open(t, "")
		defer closeApp(t, a)
		pushDir(t, a, kernelFolder(t, "prepare", "none", nil), PushOptions{Hours: 2})
		refs := func(kind, text string) string {
			hits, err := a.SearchInputs(t.Context(), kind, text)
			if err != nil {
				t.Fatalf("search %s %q: %v", kind, text, err)
			}
			var out []string
			for _, h := range hits {
				if h.Kind != kind || !h.Usable && h.Why == "" {
					t.Errorf("hit %+v", h)
				}
				out = append(out, h.Ref)
			}
			return strings.Join(out, " ")
		}
		for _, c := range []struct{ kind, text, want string }{
			{InputCompetition, "", "leaf-cup"}, {InputCompetition, "cup", "leaf-cup closed-cup"},
			{InputDataset, "", "sam-roe/own-split sam-roe/leaf-scans"}, {InputDataset, "leaf", "sam-roe/leaf-scans kim-poe/leaf-scans"}, {InputDataset, "kim-poe/", "kim-poe/leaf-scans"},
			{InputKernel, "", "sam-roe/prepare"}, {InputKernel, "sam-roe/pr", "sam-roe/prepare"}, {InputDataset, "no such thing", ""},
		} {
			if got := refs(c.kind, c.text); got != c.want {
				t.Errorf("search %s %q: %q, want %q", c.kind, c.text, got, c.want)
			}
		}
		if _, err := a.SearchInputs(t.Context(), InputModel, "bert"); !errors.Is(err, ErrNoModelSearch) {
			t.Errorf("models: %v", err)
		}
	})
}
