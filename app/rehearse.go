package app

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"sandglass/kaggle/sandbox"
	"sandglass/runnerpack"
)

// RehearseOptions are the person's choices for one rehearsal.
type RehearseOptions struct {
	// Minutes is the cap of the rehearsal; 0 is DefaultRehearsalMinutes. The session scales its own deadlines to it.
	Minutes float64
	// Inputs say where inputs are on this computer: "owner/slug=DIR", "competition-slug=DIR". What is not named is looked for.
	Inputs []string
	// NoSmoke keeps --smoke back although the command knows it.
	NoSmoke bool
	// Python is the interpreter to run with; "" is the project's own virtual environment (.venv or venv), else the PATH's.
	Python string
	// Log is told every line of the session as it comes, from another goroutine; nil = nobody.
	Log func(LogLine)
}

// Limits of a rehearsal's cap, in minutes.
const (
	DefaultRehearsalMinutes = 3.0
	minRehearsalMinutes     = 0.1
	maxRehearsalMinutes     = 120.0
)

// States of a rehearsal's check.
const (
	CheckOK      = "ok"
	CheckWarn    = "warn"    // worth reading; the rehearsal has passed all the same
	CheckBad     = "bad"     // would fail at Kaggle, as far as can be told here: the rehearsal has failed
	CheckSkipped = "skipped" // could not be looked at here, and why
)

// RehearsalCheck is one thing that a rehearsal looked at. Code is one of build, size, python, devices, inputs, imports, paths,
// writes, tasks, outputs, assemble, post, deadline, output-size, output-files, speed.
type RehearsalCheck struct {
	Code   string `json:"code"`
	State  string `json:"state"`  // ok, warn, bad, skipped
	Text   string `json:"text"`   // what was found, one sentence
	Detail string `json:"detail"` // the lines it was read from; "" when there is nothing to add
	Fix    string `json:"fix"`    // what to do; "" when nothing is to be done
}

// RehearsalOutput is what the session would leave at Kaggle. Predicted figures are nil without a basis.
type RehearsalOutput struct {
	Bytes          int64  `json:"bytes"` // what the rehearsal left
	Files          int    `json:"files"` // before the runner packed them, where it had to
	PredictedBytes *int64 `json:"predicted_bytes"`
	PredictedFiles *int   `json:"predicted_files"`
}

// Rehearsal is what running the script on this computer has shown.
type Rehearsal struct {
	OK           bool             `json:"ok"`      // no check is bad
	Verdict      string           `json:"verdict"` // one sentence
	Checks       []RehearsalCheck `json:"checks"`
	NotRehearsed []string         `json:"not_rehearsed"` // what only Kaggle can show, each in words without a full stop
	Seconds      float64          `json:"seconds"`       // the session's length
	CapSeconds   float64          `json:"cap_seconds"`
	Smoke        bool             `json:"smoke"` // --smoke was passed
	Output       RehearsalOutput  `json:"output"`
	Tasks        []TaskView       `json:"tasks"`
	BatchSeconds *float64         `json:"batch_seconds"` // one training step, from the trainer's bench; nil: it gave none
	EpochSeconds *float64         `json:"epoch_seconds"` // median over the curves; of a smoke epoch when Smoke
	TaskSeconds  *float64         `json:"task_seconds"`  // the longest task that ended by itself; nil: none did
	// PredictedTaskHours is a whole task at this computer's speed: epochs planned x EpochSeconds. Nil without a whole epoch, and
	// always with --smoke, whose epochs are cut short.
	PredictedTaskHours *float64  `json:"predicted_task_h"`
	Log                []string  `json:"log"` // the last lines
	Dir                string    `json:"dir"` // holds build/, working/ (what came out) and log.txt
	At                 time.Time `json:"at"`  // when it ended
	Kernel             string    `json:"kernel"`
	BuildID            string    `json:"build_id"` // of the very script that ran: equal to that of an equal build
	Payload            string    `json:"payload"`  // SHA-256 of the code, folds and runner in it: does not depend on hours or account
	ScriptBytes        int       `json:"script_bytes"`
	Accelerator        string    `json:"accelerator"`
	Python             string    `json:"python"` // version here
	Spec               BuildSpec `json:"-"`
}

// rehearsalOwner stands in for the account in the script's texts when nobody is signed in.
const rehearsalOwner = "signed-out"

// Rehearse builds the script that would be pushed, runs that very script on this computer with the sandbox's executor, and says
// what it saw. Nothing is sent and no quota is spent; it works signed out and offline. A rehearsal that found something bad is no
// error: see Rehearsal.OK. An error means that nothing could be rehearsed (the build was refused, there is no Python), or ctx's.
// Nothing of the session runs on when it returns, and the project is as it was.
//
// What differs from the push is said to the script at run time: a short cap, --smoke in the commands that know it, no pip, inputs
// that are not here allowed to be missing.
func (a *App) Rehearse(ctx context.Context, spec BuildSpec, opt RehearseOptions, progress func(Progress)) (Rehearsal, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	if opt.Minutes == 0 {
		opt.Minutes = DefaultRehearsalMinutes
	}
	if math.IsNaN(opt.Minutes) || opt.Minutes < minRehearsalMinutes || opt.Minutes > maxRehearsalMinutes {
		return Rehearsal{}, &CallError{Reason: fmt.Sprintf("a rehearsal of %g minutes is not possible", opt.Minutes),
			Action: fmt.Sprintf("choose %g to %g minutes", minRehearsalMinutes, maxRehearsalMinutes)}
	}
	project, err := filepath.Abs(spec.Project)
	if err != nil {
		return Rehearsal{}, fmt.Errorf("rehearse %s: %w", spec.Name, err)
	}
	spec.Project = project
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	r := &rehearsing{a: a, spec: spec, opt: opt, progress: progress, cap: time.Duration(opt.Minutes * float64(time.Minute))}
	defer r.close()
	for _, step := range []func(context.Context) error{r.findPython, r.findInputs, r.makeFolder, r.pack, r.prepare, r.run} {
		if err := step(ctx); err != nil {
			return Rehearsal{}, err
		}
	}
	res := r.judge(r.collect())
	if err := r.keep(&res); err != nil {
		return res, fmt.Errorf("the rehearsal of %s ended (%s), and what it left cannot be kept: %w", spec.Name, res.Verdict, err)
	}
	return res, nil
}

// rehearsing is one rehearsal under way.
type rehearsing struct {
	a        *App
	spec     BuildSpec // Project is absolute
	opt      RehearseOptions
	progress func(Progress)
	cap      time.Duration

	dir     string // of this rehearsal
	session string // dir/session: the executor's; goes away at the end
	python  string
	version string
	inputs  []rehearsalInput
	build   BuildResult
	jobs    []runnerpack.RecordJob // as built
	payload string
	smoke   []string // commands that got --smoke
	before  fileMarks
	log     rehearsalLog
	result  sandbox.Result
	seconds float64
	kept    bool
}
