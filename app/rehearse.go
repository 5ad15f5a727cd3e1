package app

import (
	"context"
	"errors"
	"time"
)

// RehearseOptions are the person's choices for one rehearsal.
type RehearseOptions struct {
	// Minutes is the cap of the rehearsal; 0 is DefaultRehearsalMinutes. The session scales its own deadlines to it.
	Minutes float64
	// Inputs say where inputs are on this computer: "owner/slug=DIR", "competition-slug=DIR". What is not named is looked for.
	Inputs []string
	// NoSmoke keeps --smoke back although the command knows it.
	NoSmoke bool
	// Log is told every line of the session as it comes, from another goroutine; nil = nobody.
	Log func(LogLine)
}

// DefaultRehearsalMinutes is the cap of a rehearsal when nobody chose one.
const DefaultRehearsalMinutes = 3.0

// States of a rehearsal's check.
const (
	CheckOK      = "ok"
	CheckWarn    = "warn"    // worth reading; the rehearsal has passed all the same
	CheckBad     = "bad"     // would fail at Kaggle, as far as can be told here: the rehearsal has failed
	CheckSkipped = "skipped" // could not be looked at here, and why
)

// RehearsalCheck is one thing that a rehearsal looked at. Code is one of size, python, devices, inputs, imports, paths, writes,
// tasks, outputs, assemble, deadline, output-size, output-files, speed.
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
	NotRehearsed []string         `json:"not_rehearsed"` // what only Kaggle can show, in words
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

// Rehearse builds the script that would be pushed, runs that very script on this computer with the sandbox's executor, and says
// what it saw. Nothing is sent and no quota is spent; it works signed out and offline. A rehearsal that found something bad is no
// error: see Rehearsal.OK. An error means that nothing could be rehearsed (the build was refused, there is no Python), or ctx's.
// Nothing of the session runs on when it returns.
func (a *App) Rehearse(ctx context.Context, spec BuildSpec, opt RehearseOptions, progress func(Progress)) (Rehearsal, error) {
	return Rehearsal{}, errors.New("rehearse: not built into this version yet")
}

// LastRehearsal is the newest rehearsal of a project; false when it was never rehearsed.
func (a *App) LastRehearsal(ctx context.Context, project string) (Rehearsal, bool, error) {
	return Rehearsal{}, false, nil
}

// RehearsalOf is the newest rehearsal of what a kernel folder holds: the same code, folds and commands, whatever its hours; false
// when that was never rehearsed.
func (a *App) RehearsalOf(ctx context.Context, dir string) (Rehearsal, bool, error) {
	return Rehearsal{}, false, nil
}
