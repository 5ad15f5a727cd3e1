package app

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sandglass/app/runlog"
)

// ResumeOptions changes the follow-up of a run.
type ResumeOptions struct {
	Hours    float64        // cap; 0 = that of the run
	Progress func(Progress) // may be nil
}

// ResumeError is a run that has no follow-up. Nothing was built.
type ResumeError struct {
	Kernel string
	Reason string
	Action string // what to do instead, or ""
}

func (e *ResumeError) Error() string {
	if e.Action == "" {
		return e.Kernel + ": " + e.Reason
	}
	return e.Kernel + ": " + e.Reason + "; " + e.Action
}

// Resume builds the follow-up of a run that left something undone: the same
// command, folds and inputs under a slug of its own (<slug>-r2, -r3, …), with the
// output of the run and of all that it resumed from attached. In the session
// finished folds are taken over, folds with a checkpoint go on from it, pruned
// ones stay pruned, failed ones begin again. Nothing is sent.
//
// A run that was not collected yet is collected first, because only its record
// says what is left. A run that is going, or has nothing left, is a *ResumeError.
func (a *App) Resume(ctx context.Context, kernel string, opt ResumeOptions) (BuildResult, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return BuildResult{}, err
	}
	r, err := a.findRun(ctx, acc, kernel)
	if err != nil {
		return BuildResult{}, err
	}
	if r, err = a.resumable(ctx, acc, r, opt); err != nil {
		return BuildResult{}, err
	}
	tasks, err := a.store.Tasks(ctx, r.ID)
	if err != nil {
		return BuildResult{}, err
	}
	if err := somethingLeft(r, tasks); err != nil {
		return BuildResult{}, err
	}
	spec, err := a.SpecOf(ctx, r.ID)
	if err != nil {
		return BuildResult{}, err
	}
	if spec, err = a.followUp(ctx, acc, r, spec, opt); err != nil {
		return BuildResult{}, err
	}
	if err := sameSplit(r, spec); err != nil {
		return BuildResult{}, err
	}
	return a.Build(ctx, spec, opt.Progress)
}

// sameSplit refuses a follow-up on another split than the run's: folds of two
// splits joined to one score see in training what they are measured on.
func sameSplit(r runlog.Run, spec BuildSpec) error {
	n, err := readNotes(r.BuildDir)
	if r.BuildDir == "" || err != nil || n.BuildID != r.BuildID || n.Split == "" || n.Split == splitSHA256(spec.Project) {
		return nil // the same, or no longer known
	}
	return &ResumeError{r.Kernel, "data/folds.csv is no longer the split that it trained on, and folds of two splits cannot be joined",
		"put that file back, or build a new run"}
}

// resumable brings a run's row up to date and refuses one that has no output.
func (a *App) resumable(ctx context.Context, acc Account, r runlog.Run, opt ResumeOptions) (runlog.Run, error) {
	refuse := func(reason, action string) (runlog.Run, error) {
		return r, &ResumeError{r.Kernel, reason, action}
	}
	if r.Command == "" || r.Project == "" {
		return refuse("it was not built here, so its command is not known", "build the follow-up with --resume-from "+r.Kernel)
	}
	if inFlight(r.State) {
		if err := a.refresh(ctx, acc, r); err != nil {
			return r, err
		}
		var err error
		if r, err = a.store.Run(ctx, r.ID); err != nil {
			return r, err
		}
	}
	switch {
	case r.State == StateWaiting:
		return refuse("it has not been pushed yet", "it goes out when a session is free")
	case inFlight(r.State):
		return refuse("it is still "+r.State, "its output is there when it has ended: sandglass wait "+r.Kernel)
	case !ended(r.State):
		return refuse("it never ran ("+r.State+"), so there is nothing to take over", "push it again, or build anew")
	}
	if !r.CollectedAt.IsZero() {
		return r, nil
	}
	if _, err := a.collect(ctx, acc, r, CollectOptions{}, opt.Progress); err != nil {
		return r, fmt.Errorf("what is left of %s is not known before it is collected: %w", r.Kernel, err)
	}
	return a.store.Run(ctx, r.ID)
}

// somethingLeft refuses a run whose every task is over for good. Without any
// record of tasks (the session was killed before it wrote one) all is left.
func somethingLeft(r runlog.Run, tasks []runlog.Task) error {
	done, pruned := 0, 0
	for _, t := range tasks {
		switch t.State {
		case "done", "skipped":
			done++
		case "pruned":
			pruned++
		}
	}
	switch {
	case len(tasks) == 0 && r.Outcome != OutcomeComplete, done+pruned < len(tasks):
		return nil
	case pruned > 0:
		return &ResumeError{r.Kernel, fmt.Sprintf("nothing is left to do: %d of its tasks are done and %d were pruned, which a follow-up would not train again", done, pruned), ""}
	case r.Outcome != OutcomeComplete:
		return nil // all trained, not all joined
	}
	return &ResumeError{r.Kernel, "nothing is left to do: all of its tasks are done", ""}
}

var followUpSlug = regexp.MustCompile(`-r(\d+)$`)

// followUp turns what the run was built from into what its follow-up is built from.
func (a *App) followUp(ctx context.Context, acc Account, r runlog.Run, spec BuildSpec, opt ResumeOptions) (BuildSpec, error) {
	if spec.Name == "" || spec.Command == "" {
		return spec, &ResumeError{r.Kernel, "what it was built from is no longer known", "build the follow-up with --resume-from " + r.Kernel}
	}
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID})
	if err != nil {
		return spec, err
	}
	owner, slug, _ := strings.Cut(r.Kernel, "/")
	base, number := slug, 1
	if m := followUpSlug.FindStringSubmatch(slug); m != nil {
		base = strings.TrimSuffix(slug, m[0])
		number, _ = strconv.Atoi(m[1]) // digits; one too long for an int gives the largest, and the build refuses the slug
	}
	for _, other := range runs {
		rest, ours := strings.CutPrefix(other.Kernel, owner+"/"+base)
		if m := followUpSlug.FindStringSubmatch(rest); ours && m != nil && m[0] == rest && other.State != StateRefused {
			n, _ := strconv.Atoi(m[1])
			number = max(number, n)
		}
	}
	end := fmt.Sprintf("-r%d", number+1)
	spec.Slug = strings.TrimRight(base[:min(len(base), 50-len(end))], "-") + end
	spec.Out = ""
	if opt.Hours != 0 {
		spec.Hours = opt.Hours
	}
	// The links of the chain: when the build's own notes are gone they are among the inputs.
	spec.Kernels = slices.DeleteFunc(slices.Clone(spec.Kernels), func(ref string) bool {
		rest, ours := strings.CutPrefix(strings.ToLower(ref), owner+"/"+base)
		link := ours && (rest == "" || followUpSlug.FindString(rest) == rest)
		if link && !slices.Contains(spec.ResumeFrom, ref) {
			spec.ResumeFrom = append(slices.Clone(spec.ResumeFrom), ref)
		}
		return link
	})
	if !slices.Contains(spec.ResumeFrom, r.Kernel) {
		spec.ResumeFrom = append(slices.Clone(spec.ResumeFrom), r.Kernel)
	}
	return spec, a.newestOf(ctx, acc, r)
}

// newestOf refuses a version that is not its kernel's newest: Kaggle attaches the
// newest one's output, whatever was meant.
func (a *App) newestOf(ctx context.Context, acc Account, r runlog.Run) error {
	newest, err := a.store.FindRun(ctx, acc.ID, r.Kernel, 0)
	if errors.Is(err, runlog.ErrNotFound) || err == nil && newest.Version <= r.Version {
		return nil
	}
	if err != nil {
		return err
	}
	return &ResumeError{r.Kernel, fmt.Sprintf("version %d was replaced by version %d, and Kaggle attaches the output of the newest", r.Version, newest.Version),
		fmt.Sprintf("resume %s/%d", r.Kernel, newest.Version)}
}
