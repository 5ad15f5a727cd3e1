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
	if err := p.checkLeast(opt); err != nil {
		return PushPlan{}, err
	}
	plan, err := a.planOf(ctx, acc, p, opt)
	if err != nil {
		return plan, err
	}
	if r, ok, err := a.RehearsalOf(ctx, p.folder.Dir); err == nil && ok { // one that cannot be read is none
		plan.Rehearsal = &RehearsalNote{OK: r.OK, Verdict: r.Verdict, At: r.At}
		if !r.OK {
			plan.Warnings = append(plan.Warnings, "This very script was rehearsed here and the rehearsal failed: "+r.Verdict)
		}
	}
	return plan, nil
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
	var err error
	if plan.Guards, plan.last, err = a.ownGuards(ctx, acc, p, opt, -1); err != nil {
		return PushPlan{}, err
	}
	facts, quota, warnings, err := a.pushFacts(ctx, acc, p, opt)
	if errors.Is(err, kaggle.ErrOffline) {
		plan.cut, err = err, nil
	}
	if err != nil {
		return PushPlan{}, err
	}
	plan.Quota = quota
	plan.Warnings = append(plan.Warnings, warnings...)
	plan.Warnings = append(plan.Warnings, planner.PushWarnings(facts)...)
	queue, err := a.queueWarnings(ctx, acc, p, opt)
	if err != nil {
		return PushPlan{}, err
	}
	plan.Warnings = append(plan.Warnings, queue...)
	for _, g := range planner.PushGuards(facts) {
		plan.Guards = append(plan.Guards, Guard(g))
	}
	if opt.NoRun {
		plan.CapHours = 0
	}
	if b := facts.Balance; b != nil {
		plan.LeftAfter = max(0, b.Left-time.Duration(plan.CapHours*float64(time.Hour))).Hours()
	}
	return plan, nil
}

// queueWarnings is what to know about the launch queue before a push: what a TPU
// run does to its one slot, and which runs a push goes ahead of.
func (a *App) queueWarnings(ctx context.Context, acc Account, p *pushFolder, opt PushOptions) ([]string, error) {
	if opt.NoRun {
		return nil, nil
	}
	var out []string
	if opt.QueueIfFull {
		out = planner.QueueWarnings(p.pool)
	}
	q, err := a.store.Queue(ctx, acc.ID)
	if err != nil {
		return nil, err
	}
	var ahead []string
	for _, x := range q {
		if x.Run.State == StateWaiting && poolOf(x.Run) == p.pool && !strings.EqualFold(x.Run.Kernel, p.meta.ID) {
			if p.followUp() && !x.Entry.FollowUp {
				continue // it goes before what has not begun
			}
			ahead = append(ahead, x.Run.Name)
		}
	}
	switch {
	case len(ahead) == 0:
	case opt.QueueIfFull:
		out = append(out, fmt.Sprintf("It goes into the launch queue behind %s.", strings.Join(ahead, ", ")))
	default:
		out = append(out, fmt.Sprintf("This push goes out now, ahead of what waits in the launch queue: %s. With --queue it takes its turn.", strings.Join(ahead, ", ")))
	}
	return out, nil
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

// pushFacts gathers what speaks for and against a push. Once it is clear that
// Kaggle cannot be reached nothing more is asked, because each question would take
// its own time to fail: the facts so far come with that error (kaggle.ErrOffline).
func (a *App) pushFacts(ctx context.Context, acc Account, p *pushFolder, opt PushOptions) (planner.PushFacts, QuotaView, []string, error) {
	f := planner.PushFacts{
		Pool: p.pool, Shape: p.shape, Cap: p.limit, ScriptBytes: len(p.folder.Source), Identity: p.identity,
		EnableGPU: p.meta.EnableGPU, EnableTPU: p.meta.EnableTPU, Switches: p.folder.Record == nil,
		DockerImage: p.meta.DockerImage, NoRun: opt.NoRun,
	}
	if f.Switches {
		f.Shape = p.meta.MachineShape // as the file has it: a missing one is to be refused, not guessed
	}
	var warnings []string
	quota, asked, err := a.quotaForPush(ctx, acc)
	switch {
	case err != nil:
		return f, quota, nil, err
	case asked == nil:
	case quota.FetchedAt.IsZero():
		warnings = append(warnings, "the quota is not known: "+asked.Error())
	default:
		warnings = append(warnings, "the quota is the last one read: "+quota.Why)
	}
	if f.Balance, err = a.poolBalance(ctx, acc, p.pool, 0); err != nil {
		return f, quota, nil, err
	}
	if errors.Is(asked, kaggle.ErrOffline) {
		return f, quota, warnings, asked
	}
	if opt.NoRun {
		return f, quota, warnings, nil
	}
	busy, busyErr := a.busySessions(ctx, acc, p.pool)
	if busyErr != nil {
		warnings = append(warnings, "what else runs in the account could not be asked, only runs pushed from here are counted: "+busyErr.Error())
	}
	f.BusySessions, f.BusyNames = len(busy), busy
	warnings = append(warnings, a.inputFacts(ctx, &f, p.meta)...)
	return f, quota, warnings, nil
}

// quotaForPush asks for the quota and gives the last reading when there is no
// answer; asked is why there was none.
func (a *App) quotaForPush(ctx context.Context, acc Account) (v QuotaView, asked, err error) {
	a.catchUp(ctx, acc)
	asked = a.readQuota(ctx, acc)
	if v, err = a.cachedQuota(ctx, acc); err != nil {
		return v, asked, err
	}
	if v.Live = asked == nil; !v.Live {
		v.Why = asked.Error()
	}
	return v, asked, nil
}

// busySessions names the sessions that take a slot of the pool: our own runs and
// what else Kaggle shows. Our own come back even when Kaggle cannot be asked.
func (a *App) busySessions(ctx context.Context, acc Account, pool planner.Pool) ([]string, error) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, States: []string{StatePushing, StateUnclear, StateQueued, StateRunning, StateStopping}})
	if err != nil {
		return nil, err
	}
	var local []planner.LocalRun
	for _, r := range runs {
		local = append(local, localRun(r))
	}
	remote, err := a.lookAround(ctx, acc)
	var names []string
	seen, kernels := map[string]bool{}, map[string]bool{}
	for _, h := range planner.SlotsTaken(local, remote)[pool] {
		names = append(names, h.Label)
		seen[fmt.Sprintf("%s/%d", h.Kernel, h.Version)], kernels[h.Kernel] = true, true
	}
	for _, r := range runs {
		// What the list does not show yet, or could not be asked for, holds its slot all the same.
		switch {
		case poolOf(r) != pool, seen[fmt.Sprintf("%s/%d", r.Kernel, r.Version)], endedElsewhere(r, remote):
		case atKaggle(r.State):
			names = append(names, r.Name)
		case !kernels[r.Kernel] && a.mayHaveArrived(r, err == nil): // a session of its kernel is counted already: that is it, or it is none
			names = append(names, r.Name)
		}
	}
	return names, err
}

// mayHaveArrived says whether a push without a known outcome may hold a slot. One
// that only saved the kernel holds none, and one that Kaggle did not show when it
// should have been visible, though it was asked, did not arrive.
func (a *App) mayHaveArrived(r runlog.Run, asked bool) bool {
	if kept, err := a.keptPush(r); err == nil && kept.NoRun {
		return false
	}
	return !asked || a.now().Sub(r.PushedAt) < notSeenFor
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
		if !strings.EqualFold(ref.String(), m.ID) && a.notThereYet(ctx, ref.String()) {
			f.PendingInputs = append(f.PendingInputs, id)
			continue
		}
		st, err := c.Status(ctx, ref, 0)
		switch {
		case err == nil && (st.State == kaggle.StateError || st.State == kaggle.StateCancelled):
			f.FailedInputs = append(f.FailedInputs, id)
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

// notThereYet says that the newest run of a kernel is our own and waits here or is
// being pushed: Kaggle shows none, or the one before.
func (a *App) notThereYet(ctx context.Context, kernel string) bool {
	r, err := a.store.FindRun(ctx, 0, kernel, 0)
	return err == nil && (r.State == StateWaiting || r.State == StatePushing || r.State == StateUnclear)
}

// localRun is a run of the log as the planner reconciles it.
func localRun(r runlog.Run) planner.LocalRun {
	return planner.LocalRun{Run: fmt.Sprint(r.ID), Kernel: r.Kernel, State: r.State, Version: r.Version,
		SourceSHA256: r.SourceSHA256, PushedAt: r.PushedAt, Pool: planner.PoolOf(r.Accelerator)}
}
