package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sandglass/app"
)

// fake is a core that remembers what was asked of it and answers as told.
type fake struct {
	core // a method that no test expects ends it with a nil call

	spec    app.BuildSpec
	pushOpt app.PushOptions
	consent []app.Consent
	waitOpt app.WaitOptions
	collect app.CollectOptions
	filter  app.RunFilter
	signIn  app.SignIn
	serve   app.SandboxServe
	live    bool
	deleted []string
	asked   []string

	plan    app.PushPlan
	view    app.RunView
	rows    []app.RunRow
	found   []app.Found
	quota   app.QuotaView
	lines   []app.LogLine
	err     error
	closed  bool
	imports []app.Found
}

func (f *fake) Close() error { f.closed = true; return nil }

func (f *fake) Whoami(context.Context) (app.Identity, error) {
	return app.Identity{Username: "sam-roe", Kind: "kaggle", AuthKind: "key", Store: "keychain", Verified: true}, f.err
}

func (f *fake) SignIn(_ context.Context, in app.SignIn) (app.Account, error) {
	f.signIn = in
	return app.Account{Username: "sam-roe", Kind: "kaggle", AuthKind: "key", Store: "keychain"}, f.err
}

func (f *fake) FindCredentials(context.Context) []app.Found { return f.found }

func (f *fake) Import(_ context.Context, x app.Found, _ string) (app.Account, error) {
	f.imports = append(f.imports, x)
	return app.Account{Username: x.Username, Store: "keychain"}, f.err
}

func (f *fake) ServeSandbox(ctx context.Context, s app.SandboxServe) error {
	f.serve = s
	if f.err == nil {
		s.Ready("http://127.0.0.1:1", "sandy", "k")
	}
	return f.err
}

func (f *fake) Quota(_ context.Context, live bool) (app.QuotaView, error) {
	f.live = live
	return f.quota, f.err
}

func (f *fake) Build(_ context.Context, s app.BuildSpec, progress func(app.Progress)) (app.BuildResult, error) {
	f.spec = s
	progress(app.Progress{Stage: "Packing", Item: "src"})
	return app.BuildResult{Kernel: "sam-roe/idea-train", Dir: "d", Script: "d/idea-train.py", ScriptBytes: 42000, Jobs: []string{s.Name}, CapHours: s.Hours}, f.err
}

func (f *fake) Resume(_ context.Context, kernel string, opt app.ResumeOptions) (app.BuildResult, error) {
	f.asked, f.spec.Hours = append(f.asked, kernel), opt.Hours
	return app.BuildResult{Kernel: "sam-roe/" + kernel + "-r2", Dir: "d2", CapHours: opt.Hours}, f.err
}

func (f *fake) PlanPush(_ context.Context, dir string, opt app.PushOptions) (app.PushPlan, error) {
	f.pushOpt = opt
	f.plan.Dir, f.plan.Options = dir, opt
	return f.plan, f.err
}

func (f *fake) Push(_ context.Context, plan app.PushPlan, c app.Consent) (app.RunRow, error) {
	f.consent = append(f.consent, c)
	if len(plan.Guards) > 0 && !plan.Options.Force {
		return app.RunRow{}, &app.GuardError{Kernel: plan.Kernel, Guards: plan.Guards}
	}
	return app.RunRow{ID: 7, Kernel: plan.Kernel, Version: 3, URL: "https://example.invalid/x", CapHours: 5, State: app.StateQueued}, nil
}

func (f *fake) Refresh(_ context.Context, kernel string) (app.RunView, error) {
	f.asked = append(f.asked, kernel)
	return f.view, f.err
}

func (f *fake) Wait(_ context.Context, kernel string, opt app.WaitOptions, on func(app.RunView)) (app.RunView, error) {
	f.waitOpt, f.asked = opt, append(f.asked, kernel)
	v := f.view
	v.State = app.StateRunning
	on(v)
	on(v)
	on(f.view)
	return f.view, f.err
}

func (f *fake) Collect(_ context.Context, kernel string, opt app.CollectOptions, _ func(app.Progress)) (app.Collected, error) {
	f.collect, f.asked = opt, append(f.asked, kernel)
	return app.Collected{Run: f.view, Dir: "out", New: 3, Kept: 1}, f.err
}

func (f *fake) Delete(_ context.Context, kernel string) error {
	f.deleted = append(f.deleted, kernel)
	return f.err
}

func (f *fake) Resolve(_ context.Context, kernel string) (app.RunRow, error) {
	return f.view.RunRow, f.err
}

func (f *fake) Runs(_ context.Context, filter app.RunFilter) ([]app.RunRow, error) {
	f.filter = filter
	return f.rows, f.err
}

func (f *fake) LogLines(_ context.Context, _ int64, from, n int) ([]app.LogLine, int, error) {
	to := min(from+n, len(f.lines))
	return f.lines[min(from, to):to], len(f.lines), f.err
}

var testNow = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// call runs a command line over the fake. answer is what a person types; "" means that there is no terminal.
func call(t *testing.T, f *fake, answer string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return callWith(t, f, answer, answer != "", args...)
}

// callWith has standard input and the terminal apart.
func callWith(t *testing.T, f *fake, stdin string, terminal bool, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &program{
		stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs, getenv: func(string) string { return "" }, ask: terminal,
		now:      func() time.Time { return testNow },
		open:     func(context.Context, app.Options) (core, error) { return f, nil },
		progress: newProgress(&errs),
	}
	code = p.run(t.Context(), args)
	return code, out.String(), errs.String()
}

var errBroken = errors.New("the run log is broken")
