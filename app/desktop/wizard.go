package desktop

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2/lang"

	"sandglass/app"
)

// step is a place in the New run wizard.
type step int

const (
	stepProject step = iota
	stepInputs
	stepAccelerator
	stepHours
	stepRehearse
	stepReview
	stepCount
)

// stepKeys are the steps as drafts and driving scripts know them.
var stepKeys = [stepCount]string{"project", "inputs", "accelerator", "hours", "rehearse", "review"}

func (s step) key() string { return stepKeys[s] }

// stepOf reads a key; an unknown one is the first step.
func stepOf(key string) step {
	for i, k := range stepKeys {
		if k == key {
			return step(i)
		}
	}
	return stepProject
}

func stepWords() []string {
	return []string{lang.L("Project"), lang.L("Inputs"), lang.L("Accelerator"), lang.L("Hours"), lang.L("Rehearse"), lang.L("Review and push")}
}

// leadsOn are the words of the button that leaves a step.
func (s step) leadsOn() string {
	return [stepCount]string{lang.L("Continue to inputs"), lang.L("Continue to accelerator"), lang.L("Continue to hours"), lang.L("Continue to rehearsal"), lang.L("Continue to review"), ""}[s]
}

// asked is one question to the core: for what it was asked last, and what came back.
type asked[T any] struct {
	key  string
	busy bool
	have bool
	got  T
	err  error
}

// fresh says that the answer there is fits the question key.
func (a *asked[T]) fresh(key string) bool { return a.have && a.key == key }

// due says that the question has to be asked: it was not answered, and is not under way.
func (a *asked[T]) due(key string) bool { return a.key != key || !a.busy && !a.have && a.err == nil }

// ask notes that a question is under way. An answer to another question is forgotten, so that no number stands for another run.
func (a *asked[T]) ask(key string) {
	if a.key != key {
		*a = asked[T]{}
	}
	a.key, a.busy, a.err = key, true, nil
}

// answer notes what came back for key, and says whether it is still asked for.
func (a *asked[T]) answer(key string, got T, err error) bool {
	if a.key != key {
		return false
	}
	a.busy, a.err = false, err
	if err == nil {
		a.got, a.have = got, true
	}
	return true
}

// taken is an offer that was added to the run, and what the run was before.
type taken struct {
	text   string
	before app.BuildSpec
}

// wizard is everything the New run wizard knows: what was typed, and what the core has answered about it. It is pure; the page
// asks the questions and shows what ticket and the views of the steps say.
type wizard struct {
	at, reached step
	form        newForm
	base        app.BuildSpec // what the form does not ask for: pip, extra jobs, pruning
	taken       []taken       // offers for idle devices that were added to base, to take back
	model       modelForm
	capTyped    bool    // the cap is the person's own, not advised
	shapeTyped  bool    // so is the machine
	lastHours   float64 // cap of the run this one starts from; 0 = none

	facts     asked[app.ProjectFacts]
	inputs    asked[[]app.InputState]
	advice    asked[[]option]
	hours     asked[hoursView]
	build     asked[app.BuildResult]
	plan      asked[app.PushPlan]
	rehearsal asked[app.Rehearsal]
	quota     asked[app.QuotaView]
	override  bool   // the guards that can be overridden are
	skipped   string // the rehearsal was skipped for this key
}

// spec is the run as described, and what cannot be read.
func (w *wizard) spec() (app.BuildSpec, map[field]string) {
	s, problems := w.form.spec(w.base)
	if f := &w.facts; f.fresh(s.Project) && f.got.Problem != "" && problems[fieldProject] == "" {
		if f.got.Exists {
			problems[fieldFolds] = said(f.got.Problem)
		} else {
			problems[fieldProject] = said(f.got.Problem)
		}
	}
	if h := &w.hours.got; h.shape == s.Accelerator && h.LimitH > 0 && s.Hours > h.LimitH {
		problems[fieldHours] = fmt.Sprintf(lang.L("A session on %s runs %s at most. A lower cap, and a follow-up run for the rest, does it."), shapeLabel(s.Accelerator), hours(h.LimitH))
	}
	return s, problems
}

// fieldStep says on which step a field stands.
func fieldStep(f field) step {
	switch f {
	case fieldInputs:
		return stepInputs
	case fieldHours:
		return stepHours
	}
	return stepProject
}

// wrong says whether a step has an answer that cannot be read.
func (w *wizard) wrong(s step) bool {
	_, problems := w.spec()
	for f := range problems {
		if fieldStep(f) == s {
			return true
		}
	}
	return false
}

// open says whether a step can be gone to: every one before it can be read.
func (w *wizard) open(s step) bool {
	if s > w.reached {
		return false
	}
	for i := range s {
		if w.wrong(i) {
			return false
		}
	}
	return true
}

// next goes one step on, unless this one has something that cannot be read.
func (w *wizard) next() bool {
	if w.at == stepReview || w.wrong(w.at) {
		return false
	}
	w.at++
	w.reached = max(w.reached, w.at)
	return true
}

// back goes one step back; false on the first.
func (w *wizard) back() bool {
	if w.at == stepProject {
		return false
	}
	w.at--
	return true
}

// keyOf is a value as a question's key.
func keyOf(parts ...any) string {
	raw, err := json.Marshal(parts)
	if err != nil {
		return fmt.Sprintf("%+v", parts)
	}
	return string(raw)
}

// The keys of the questions: what each answer depends on.
func (w *wizard) inputsKey() string {
	s, _ := w.spec()
	return keyOf(s.Project, s.Layout, s.Inputs())
}

func (w *wizard) adviceKey() string {
	s, _ := w.spec()
	return keyOf(s.Project, s.Name, s.Command, s.Folds, s.Launcher, len(s.ExtraJobs), w.model, w.tasks())
}

func (w *wizard) hoursKey() string {
	s, _ := w.spec()
	h := s.Hours
	if !w.capTyped {
		h = 0
	}
	return keyOf(w.jobKey(), h)
}

// jobKey is what the length of the session depends on: everything but the cap.
func (w *wizard) jobKey() string {
	s, _ := w.spec()
	return keyOf(s.Project, s.Name, s.Command, s.Folds, s.Launcher, s.WideFolds, len(s.ExtraJobs), s.Accelerator, w.tasks())
}

// length is the advice on hours, when it is about the job as it is described now, whatever its cap.
func (w *wizard) length() (hoursView, bool) {
	v := w.hours.got
	return v, v.Known && v.job == w.jobKey()
}

func (w *wizard) buildKey() string {
	s, _ := w.spec()
	return keyOf(s)
}

func (w *wizard) planKey() string {
	if !w.build.fresh(w.buildKey()) {
		return ""
	}
	return keyOf(w.build.got.Dir, w.build.got.BuildID)
}

// rehearsalKey leaves the hours out: a longer cap changes nothing that a rehearsal looks at.
func (w *wizard) rehearsalKey() string {
	s, _ := w.spec()
	s.Hours = 0
	return keyOf(s)
}

// tasks is how many tasks the session has; 0 = not known yet.
func (w *wizard) tasks() int {
	s, _ := w.spec()
	if s.Command == "" {
		return 0
	}
	n := 0
	for _, tasks := range w.jobTasks(s) {
		n += tasks
	}
	return n
}

// jobTasks is how many tasks each job of s has; folds that are not looked up yet count as none.
func (w *wizard) jobTasks(s app.BuildSpec) map[string]int {
	var folds []int
	if w.facts.fresh(s.Project) {
		folds = w.facts.got.Folds
	}
	return s.TasksByJob(folds)
}

// title is the line beside the page's title: the run in a few words.
func (w *wizard) title() string {
	parts := []string{}
	if n := strings.TrimSpace(w.form.Name); n != "" {
		parts = append(parts, n)
	}
	if w.at > stepAccelerator && w.form.Shape != "" {
		parts = append(parts, shapeLabel(w.form.Shape))
	}
	return strings.Join(parts, " · ")
}

// draft is what is kept of a wizard left half-way.
func (w *wizard) draft() app.Draft {
	a := w.form.answers()
	for k, v := range w.model.answers() {
		a["model."+k] = v
	}
	if w.capTyped {
		a["cap typed"] = "yes"
	}
	if w.shapeTyped {
		a["shape typed"] = "yes"
	}
	return app.Draft{Project: w.form.Project, Name: strings.TrimSpace(w.form.Name), Step: w.at.key(), Answers: a, Spec: w.base}
}

// wizardOf goes on where a draft was left.
func wizardOf(d app.Draft) wizard {
	m := map[string]string{}
	for k, v := range d.Answers {
		if k, ok := strings.CutPrefix(k, "model."); ok {
			m[k] = v
		}
	}
	at := stepOf(d.Step)
	return wizard{at: at, reached: at, form: formFrom(d.Answers), base: d.Spec, model: modelFrom(m), capTyped: d.Answers["cap typed"] != "", shapeTyped: d.Answers["shape typed"] != ""}
}

// shapeLabel names a machine as the screens do.
func shapeLabel(shape string) string { return poolLabel(poolOfShape(shape)) }

// poolOfShape is the pool whose hours a machine burns.
func poolOfShape(shape string) string {
	switch {
	case strings.HasPrefix(strings.ToLower(shape), "tpu"):
		return app.PoolTPU
	case shape == "none":
		return app.PoolCPU
	}
	return app.PoolGPU
}

// leftOff says where a draft was left: "at Hours, 12 min ago".
func leftOff(d app.Draft, now time.Time) string {
	return fmt.Sprintf(lang.L("at %s, %s"), stepWords()[stepOf(d.Step)], when(d.SavedAt, now))
}
