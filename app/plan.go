package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/planner"
	"sandglass/runnerpack"
)

// Bounds of the look at what else runs in the account. Kaggle has no call for
// it: kernels are listed by their last run and asked one by one.
const (
	lookBack  = 13 * time.Hour // sessions end after 12 h; an unfinished one is listed with its start
	lookPages = 2
	lookAsks  = 20
)

// PlanPush says what pushing a kernel folder would do, cost and break. Nothing is
// sent that changes anything. dir may be a build of ours or any folder with a
// kernel-metadata.json.
func (a *App) PlanPush(ctx context.Context, dir string, opt PushOptions) (PushPlan, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return PushPlan{}, err
	}
	p, err := a.readPushFolder(ctx, acc, dir, opt)
	if err != nil {
		return PushPlan{}, err
	}
	return a.planOf(ctx, acc, p, opt)
}

// pushFolder is a kernel folder, read and decided: what would be sent and for how long.
type pushFolder struct {
	folder   *runnerpack.Folder
	notes    buildNotes
	meta     runnerpack.Metadata
	name     string
	shape    string
	pool     planner.Pool
	limit    time.Duration
	identity string
}

// readPushFolder reads dir and settles shape, cap and identity.
func (a *App) readPushFolder(_ context.Context, acc Account, dir string, opt PushOptions) (*pushFolder, error) {
	if opt.Hours < 0 || opt.Hours != opt.Hours || opt.Hours > 1e6 { // != itself: not a number
		return nil, &GuardError{Kernel: filepath.Base(dir), Guards: []Guard{{Code: "cap", Reason: "The cap has to be a number of hours above 0, for example 2 or 0.5."}}}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("push %s: %w", dir, err)
	}
	f, err := runnerpack.ReadFolder(dir)
	var contradiction *runnerpack.AcceleratorError
	if errors.As(err, &contradiction) {
		return nil, &GuardError{Kernel: filepath.Base(dir), Guards: []Guard{{Code: "shape", Reason: contradiction.Error()}}}
	}
	if err != nil {
		return nil, fmt.Errorf("push %s: %w", dir, err)
	}
	p := &pushFolder{folder: f, meta: f.Metadata}
	if p.notes, err = readNotes(dir); err != nil {
		f.Warnings = append(f.Warnings, notesName+" beside the kernel cannot be read, so no baseline is shown: "+err.Error())
	}
	if opt.Accelerator != "" {
		setShape(&p.meta, opt.Accelerator)
	}
	p.shape = shapeOf(p.meta)
	p.pool = planner.PoolOf(p.shape)
	p.limit = capOf(f.Record, p.pool, opt.Hours)
	p.name = nameOf(f)
	p.identity = identityProblem(acc, p.meta)
	return p, nil
}

// setShape overrides the machine the metadata asks for.
func setShape(m *runnerpack.Metadata, shape string) {
	pool := planner.PoolOf(shape)
	m.MachineShape, m.EnableGPU, m.EnableTPU = shape, pool == PoolGPU, pool == PoolTPU
	if pool == PoolCPU {
		m.MachineShape = ""
	}
	if pool == PoolTPU {
		m.DockerImage, m.DockerImagePinningType = "", ""
	}
}

// shapeOf is the machine a push asks for; "none" for a CPU.
func shapeOf(m runnerpack.Metadata) string {
	switch {
	case m.MachineShape != "":
		return m.MachineShape
	case m.EnableTPU:
		return runnerpack.AcceleratorTPU
	case m.EnableGPU:
		return runnerpack.AcceleratorT4
	}
	return runnerpack.AcceleratorNone
}

// capOf is the time limit that is sent: asked for, else the build's, else the
// longest session Kaggle allows. Every push gets one: it is the only stop there is.
func capOf(r *runnerpack.BuildRecord, pool planner.Pool, hours float64) time.Duration {
	if hours <= 0 && r != nil {
		hours = r.Hours
	}
	limit := planner.SessionLimit(pool)
	if hours <= 0 {
		return limit
	}
	return time.Duration(hours * float64(time.Hour)).Round(time.Second)
}

func nameOf(f *runnerpack.Folder) string {
	if f.Record != nil && f.Record.Name != "" {
		return f.Record.Name
	}
	_, slug, ok := strings.Cut(f.Metadata.ID, "/")
	if !ok {
		return f.Metadata.ID
	}
	return slug
}

// identityProblem says why Kaggle would refuse the title and id or make another
// kernel of them; "" when they are fine.
func identityProblem(acc Account, m runnerpack.Metadata) string {
	id, err := runnerpack.CheckIdentity(m.Title, m.ID)
	if err != nil {
		return err.Error()
	}
	if !strings.EqualFold(id.Owner, acc.Username) {
		return fmt.Sprintf("the kernel belongs to %s and you are signed in as %s; build it again or change its id", id.Owner, acc.Username)
	}
	return ""
}

// planOf gathers the facts and lets the planner judge.
func (a *App) planOf(ctx context.Context, acc Account, p *pushFolder, opt PushOptions) (PushPlan, error) {
	plan := PushPlan{
		Dir: p.folder.Dir, Kernel: strings.ToLower(p.meta.ID), Name: p.name, Accelerator: p.shape, Pool: string(p.pool),
		CapHours: p.limit.Hours(), Options: opt, CostText: costText(p, opt),
		Warnings: folderWarnings(p.folder),
		source:   textSHA256(p.folder.Source), at: a.now(), pushes: a.pushes.Load(),
	}
	facts, quota, warnings, err := a.pushFacts(ctx, acc, p, opt, 0)
	if err != nil {
		return PushPlan{}, err
	}
	plan.Quota = quota
	plan.Warnings = append(plan.Warnings, warnings...)
	plan.Warnings = append(plan.Warnings, planner.PushWarnings(facts)...)
	for _, g := range planner.PushGuards(facts) {
		plan.Guards = append(plan.Guards, Guard(g))
	}
	if b := facts.Balance; b != nil {
		plan.LeftAfter = max(0, b.Left-p.limit).Hours()
	}
	return plan, nil
}

// folderWarnings are what the reader of the folder noticed. A kernel that was packed here knows its machine: it starts a worker a
// card by itself, so the words about cards are for folders of one's own.
func folderWarnings(f *runnerpack.Folder) []string {
	if f.Record != nil {
		return append([]string{}, f.Fixed...)
	}
	return append(append([]string{}, f.Warnings...), f.Fixed...)
}

// costText is what the push button says it costs.
func costText(p *pushFolder, opt PushOptions) string {
	switch {
	case opt.NoRun:
		return "no hours: saved without running"
	case p.pool == PoolCPU:
		return fmt.Sprintf("no quota: up to %.1f hours on a CPU", p.limit.Hours())
	}
	return fmt.Sprintf("up to %.1f %s-hours", p.limit.Hours(), p.pool.PoolName())
}

// pushFacts gathers what speaks for and against a push. except is a run that
// does not compete with itself (it waits for its own slot).
func (a *App) pushFacts(ctx context.Context, acc Account, p *pushFolder, opt PushOptions, except int64) (planner.PushFacts, QuotaView, []string, error) {
	f := planner.PushFacts{
		Pool: p.pool, Shape: p.shape, Cap: p.limit, ScriptBytes: len(p.folder.Source), Identity: p.identity,
		EnableGPU: p.meta.EnableGPU, EnableTPU: p.meta.EnableTPU, Switches: p.folder.Record == nil,
		DockerImage: p.meta.DockerImage, NoRun: opt.NoRun,
	}
	if f.Switches {
		f.Shape = p.meta.MachineShape // as the file has it: a missing one is to be refused, not guessed
	}
	var warnings []string
	quota, err := a.Quota(ctx, true)
	if err != nil {
		warnings = append(warnings, "the quota is not known: "+err.Error())
	} else if !quota.Live {
		warnings = append(warnings, "the quota is the last one read: "+quota.Why)
	}
	if f.Balance, err = a.poolBalance(ctx, acc, p.pool, except); err != nil {
		return f, quota, nil, err
	}
	if opt.NoRun {
		return f, quota, warnings, nil
	}
	busy, busyErr := a.busySessions(ctx, acc, p.pool, except)
	if busyErr != nil {
		warnings = append(warnings, "what else runs in the account could not be asked, only runs pushed from here are counted: "+busyErr.Error())
	}
	f.BusySessions, f.BusyNames = len(busy), busy
	warnings = append(warnings, a.inputFacts(ctx, &f, p.meta)...)
	return f, quota, warnings, nil
}

// busySessions names the sessions that take a slot of the pool: our own runs and
// what else Kaggle shows. Our own come back even when Kaggle cannot be asked.
func (a *App) busySessions(ctx context.Context, acc Account, pool planner.Pool, except int64) ([]string, error) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, States: []string{StatePushing, StateUnclear, StateQueued, StateRunning, StateStopping}})
	if err != nil {
		return nil, err
	}
	var local []planner.LocalRun
	for _, r := range runs {
		if r.ID != except {
			local = append(local, localRun(r))
		}
	}
	remote, err := a.lookAround(ctx, acc)
	var names []string
	seen := map[string]bool{}
	for _, h := range planner.SlotsTaken(local, remote)[pool] {
		names = append(names, h.Label)
		seen[fmt.Sprintf("%s/%d", h.Kernel, h.Version)] = true
	}
	for _, r := range runs {
		// What the list does not show yet, or could not be asked for, holds its slot all the same.
		if r.ID != except && poolOf(r) == pool && !seen[fmt.Sprintf("%s/%d", r.Kernel, r.Version)] && !endedElsewhere(r, remote) {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// endedElsewhere says that Kaggle just called this very version over, though the
// log has not seen it yet.
func endedElsewhere(r runlog.Run, remote []planner.RemoteKernel) bool {
	for _, k := range remote {
		if k.Kernel == r.Kernel && k.Version == r.Version && r.Version > 0 {
			return planner.Terminal(planner.NormalStatus(k.Status))
		}
	}
	return false
}

// lookAround lists the account's kernels that may be running, with their state.
// One whose last run is known here to be over is not asked.
func (a *App) lookAround(ctx context.Context, acc Account) ([]planner.RemoteKernel, error) {
	c, err := a.client(ctx)
	if err != nil {
		return nil, err
	}
	var out []planner.RemoteKernel
	asks := 0
	for page := 1; page <= lookPages; page++ {
		metas, _, err := c.ListKernels(ctx, kaggle.ListKernelsRequest{Group: kaggle.GroupProfile, SortBy: kaggle.SortDateRun, Page: page, PageSize: 50})
		if err != nil {
			return out, fmt.Errorf("list kernels: %w", err)
		}
		for _, m := range metas {
			if !m.LastRunTime.IsZero() && a.now().Sub(m.LastRunTime) > lookBack {
				return out, nil
			}
			if a.knownOver(ctx, acc, m) {
				continue
			}
			if asks++; asks > lookAsks {
				return out, nil
			}
			r, ok, err := a.askKernel(ctx, c, m)
			if err != nil {
				return out, err
			}
			if ok {
				out = append(out, r)
			}
		}
		if len(metas) < 50 {
			break
		}
	}
	return out, nil
}

// knownOver says that the log has seen the end of a kernel's last run.
func (a *App) knownOver(ctx context.Context, acc Account, m kaggle.KernelMeta) bool {
	r, err := a.store.FindRun(ctx, acc.ID, m.Ref.String(), 0)
	if err != nil || !ended(r.State) && r.State != StateNoRun {
		return false
	}
	if m.CurrentVersion > 0 {
		return m.CurrentVersion == r.Version
	}
	return !m.LastRunTime.IsZero() && !m.LastRunTime.After(r.EndedAt)
}

// askKernel asks for the state of one listed kernel. A deleted one lingers in the
// list and answers 404, one without a run too: neither takes a slot.
func (a *App) askKernel(ctx context.Context, c *kaggle.Client, m kaggle.KernelMeta) (planner.RemoteKernel, bool, error) {
	r := planner.RemoteKernel{Kernel: m.Ref.String(), Version: m.CurrentVersion, LastRun: m.LastRunTime}
	st, err := c.Status(ctx, m.Ref, 0)
	switch {
	case errors.Is(err, kaggle.ErrNotFound), errors.Is(err, kaggle.ErrForbidden):
		return r, false, nil
	case err != nil:
		return r, false, fmt.Errorf("ask for %s: %w", m.Ref, err)
	}
	r.Status = statusWord(st)
	if !st.State.Terminal() && m.MachineShape == "" && !m.EnableGPU && !m.EnableTPU || m.CurrentVersion == 0 {
		// The list is sparsely filled: what machine it is has to be read from the kernel itself.
		if k, err := c.GetKernel(ctx, m.Ref, 0); err == nil {
			m.MachineShape, m.EnableGPU, m.EnableTPU, r.Version = k.Meta.MachineShape, k.Meta.EnableGPU, k.Meta.EnableTPU, k.Meta.CurrentVersion
		}
	}
	pool := planner.PoolOf(m.MachineShape)
	r.GPU = m.EnableGPU || m.MachineShape != "" && pool == PoolGPU
	r.TPU = m.EnableTPU || m.MachineShape != "" && pool == PoolTPU
	return r, true, nil
}

// inputFacts asks whether what the kernel reads from is there and ready.
func (a *App) inputFacts(ctx context.Context, f *planner.PushFacts, m runnerpack.Metadata) (warnings []string) {
	c, err := a.client(ctx)
	if err != nil {
		return []string{"the inputs were not checked: " + err.Error()}
	}
	for _, id := range m.KernelSources {
		ref, err := kaggle.ParseRef(id)
		if err != nil {
			f.MissingInputs = append(f.MissingInputs, id)
			continue
		}
		st, err := c.Status(ctx, ref, 0)
		switch {
		case errors.Is(err, kaggle.ErrNotFound), errors.Is(err, kaggle.ErrForbidden):
			f.MissingInputs = append(f.MissingInputs, id)
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("kernel %s was not checked: %v", id, err))
		case !st.State.Terminal() && st.State != kaggle.StateNewScript:
			f.PendingInputs = append(f.PendingInputs, id)
		}
	}
	for _, id := range m.DatasetSources {
		owner, slug, _ := strings.Cut(strings.TrimPrefix(id, "datasets/"), "/")
		slug, _, _ = strings.Cut(slug, "/")
		st, err := c.DatasetStatus(ctx, owner, slug)
		switch {
		case errors.Is(err, kaggle.ErrNotFound), errors.Is(err, kaggle.ErrForbidden):
			f.MissingInputs = append(f.MissingInputs, id)
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("dataset %s was not checked: %v", id, err))
		case !strings.EqualFold(st, "READY"):
			f.UnreadyInputs = append(f.UnreadyInputs, id)
		}
	}
	return warnings
}

// localRun is a run of the log as the planner reconciles it.
func localRun(r runlog.Run) planner.LocalRun {
	return planner.LocalRun{Run: fmt.Sprint(r.ID), Kernel: r.Kernel, State: r.State, Version: r.Version,
		SourceSHA256: r.SourceSHA256, PushedAt: r.PushedAt, Pool: planner.PoolOf(r.Accelerator)}
}
