package app

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

func TestADraftIsFoundAgainAfterARestart(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, nil)
	home, project := t.TempDir(), t.TempDir()
	a := w.open(t, home)
	want := Draft{Project: project, Name: "cnx384", Step: "hours", Answers: map[string]string{"hours": "two", "command": "python src/train.py"},
		Spec: BuildSpec{Project: project, Pip: []string{"timm"}}}
	for _, d := range []Draft{{Name: "no folder yet"}, want} {
		if err := a.SaveDraft(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	closeApp(t, a)

	a = w.open(t, home)
	defer closeApp(t, a)
	got, ok, err := a.Draft(t.Context(), project+string(filepath.Separator))
	if err != nil || !ok || got.SavedAt.IsZero() {
		t.Fatalf("found %v, %v: %+v", ok, err, got)
	}
	got.SavedAt = time.Time{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if list, err := a.Drafts(t.Context()); err != nil || len(list) != 2 || list[0].Project != project || list[1].Name != "no folder yet" {
		t.Errorf("drafts %+v, %v", list, err)
	}
	if err := a.DropDraft(t.Context(), project); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := a.Draft(t.Context(), project); ok || err != nil {
		t.Errorf("dropped, and there: %v %v", ok, err)
	}
	if _, ok, _ := a.Draft(t.Context(), ""); !ok {
		t.Error("dropping one project's draft took another's")
	}
}

func TestDraftsAreBoundedAndABrokenListIsNoObstacle(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, nil)
	a := w.open(t, "")
	defer closeApp(t, a)
	for i := range draftsMost + 5 {
		if err := a.SaveDraft(t.Context(), Draft{Project: fmt.Sprintf("/p%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := a.Drafts(t.Context())
	if err != nil || len(list) != draftsMost || list[0].Project != draftProject(fmt.Sprintf("/p%d", draftsMost+4)) {
		t.Fatalf("%d drafts, newest %+v, %v", len(list), list[0], err)
	}
	key, err := a.draftsKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.store.Set(t.Context(), key, "{not a list"); err != nil {
		t.Fatal(err)
	}
	if list, err := a.Drafts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("a broken list gave %v, %v", list, err)
	}
	if err := a.SaveDraft(t.Context(), Draft{Project: "/new"}); err != nil {
		t.Errorf("a broken list stands in the way: %v", err)
	}
}

func TestTheNextRunStartsFromTheLastOneOfItsProject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Minute))
		a := w.open(t, "")
		defer closeApp(t, a)
		project := filepath.Join(t.TempDir(), "leaf")
		writeAll(t, project, map[string]string{"src/train.py": "print(1)\n"})
		if _, ok, err := a.LastSpec(t.Context(), project); ok || err != nil {
			t.Fatalf("nothing ran, and there is a last spec: %v %v", ok, err)
		}
		spec := BuildSpec{Project: project, Name: "idea", Command: "python src/train.py", Hours: 1.5, Accelerator: "none", Slug: "idea-2-train",
			ResumeFrom: []string{"sam-roe/idea-train"}, Pip: []string{"timm"}, AllowMissing: true}
		b, err := a.Build(context.Background(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		pushDir(t, a, b.Dir, PushOptions{Force: true})
		got, ok, err := a.LastSpec(t.Context(), project)
		if err != nil || !ok {
			t.Fatalf("last spec: %v %v", ok, err)
		}
		if got.Name != "idea" || got.Hours != 1.5 || got.Accelerator != "none" || len(got.Pip) != 1 {
			t.Errorf("the last run's words: %+v", got)
		}
		if got.Slug != "" || got.ResumeFrom != nil {
			t.Errorf("the next run would continue the last one: slug %q, resume %v", got.Slug, got.ResumeFrom)
		}
		time.Sleep(time.Minute)
		if err := a.SaveDraft(t.Context(), Draft{Project: "/elsewhere", Step: "hours"}); err != nil {
			t.Fatal(err)
		}
		ps, err := a.Projects(t.Context())
		if err != nil || len(ps) != 2 {
			t.Fatalf("projects %+v, %v", ps, err)
		}
		if ps[0].Draft == nil || !ps[0].Missing || ps[1].Dir != project || ps[1].Name != "leaf" || ps[1].LastRun != "idea" || ps[1].Runs != 1 || ps[1].Missing {
			t.Errorf("projects %+v", ps)
		}
	})
}

func TestWhatAFolderTellsByItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My project")
	writeAll(t, dir, map[string]string{"src/train.py": "", "data/folds.csv": "id,fold\n1,0\n2,1\n3,1\n", "artifacts/baseline/score.json": "{}"})
	f := LookAt(dir + " ")
	want := BuildSpec{Project: dir, Name: "My-project", Command: "python src/train.py --name My-project --folds {fold}", Baseline: "baseline"}
	if !f.Exists || f.Problem != "" || !reflect.DeepEqual(f.Suggested, want) || !reflect.DeepEqual(f.Folds, []int{0, 1}) {
		t.Errorf("told %+v", f)
	}
	for _, bad := range []string{"", filepath.Join(dir, "nope"), filepath.Join(dir, "src", "train.py")} {
		if f := LookAt(bad); f.Exists || f.Problem == "" {
			t.Errorf("%q: %+v", bad, f)
		}
	}
	writeAll(t, dir, map[string]string{"data/folds.csv": "id,split\n1,0\n"})
	if f := LookAt(dir); !f.Exists || f.Problem == "" {
		t.Errorf("a split without folds: %+v", f)
	}
}
