package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// The watcher's rhythm.
const (
	tick          = 2 * time.Second  // looks at the log, the clock and what is due
	jump          = 30 * time.Second // wall clock against monotonic clock: the computer slept
	pollsAtOnce   = 4
	quotaBusy     = 10 * time.Minute // between two quota readings while something is in flight
	quotaIdle     = 30 * time.Minute
	watchLockFile = "watch.lock"
)

// watchState is what an App knows of its watcher.
type watchState struct {
	mu      sync.Mutex
	started bool
	wake    chan struct{} // one token: look now
	asked   bool          // Nudge: compare everything with Kaggle
	seq     int64         // last event of the log that was relayed
	version int64         // of the log's data, for other processes' changes
	owner   bool
}

// StartWatcher watches the runs until Close. Of all processes on one home the
// one that gets the lock file watches; the others follow the run log and take
// over when it ends. Calling it again does nothing.
func (a *App) StartWatcher(ctx context.Context) error {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	if a.watch.started {
		return nil
	}
	seq, err := a.store.LastEvent(ctx)
	if err != nil {
		return err
	}
	version, err := a.store.DataVersion(ctx)
	if err != nil {
		return err
	}
	a.watch.started, a.watch.seq, a.watch.version = true, seq, version
	a.spawn(a.watchLoop)
	return nil
}

// Nudge asks for a look at everything now: the computer woke up, the network is
// back, the person pressed refresh.
func (a *App) Nudge() {
	a.watch.mu.Lock()
	a.watch.asked = true
	a.watch.mu.Unlock()
	a.kick()
}

// kick wakes the watcher without a comparison.
func (a *App) kick() {
	select {
	case a.watch.wake <- struct{}{}:
	default:
	}
}

// watchLoop owns the watch when it can and follows the owner when not.
func (a *App) watchLoop(ctx context.Context) {
	lock := flock.New(filepath.Join(a.home, watchLockFile))
	for ctx.Err() == nil {
		ok, err := lock.TryLock()
		if err != nil {
			a.log.Warn("watch lock", "err", err)
		}
		if ok {
			a.own(ctx)
			lock.Unlock()
			return
		}
		a.relay(ctx)
		a.followZone()
		a.rest(ctx, tick)
	}
}

// rest waits for d, a kick, or the end.
func (a *App) rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-a.watch.wake:
	}
}

// own is the life of the one watcher.
func (a *App) own(ctx context.Context) {
	w := newWatcher(a)
	a.sweepPushes(ctx)
	a.setOwner(true)
	defer a.setOwner(false)
	defer w.stop()
	for ctx.Err() == nil {
		w.round(ctx)
		d := w.untilNext()
		w.alarm = time.Now().Add(d)
		a.rest(ctx, d)
	}
}

func (a *App) setOwner(on bool) {
	a.watch.mu.Lock()
	a.watch.owner = on
	a.watch.mu.Unlock()
}

// watcher is the state of the owner's loop. Only its loop and the goroutines it
// waits for touch it.
type watcher struct {
	a       *App
	acc     Account
	watched map[int64]*watched
	streams map[int64]context.CancelFunc
	wg      sync.WaitGroup // streams and collects

	// What follows is the loop's own.
	reconciled bool // since the last start, sleep or cut
	retryAt    time.Time
	next       time.Time // before it nothing is due
	wall, mono time.Time
	alarm      time.Time // when the loop wanted to wake, by the monotonic clock
	quotaAt    time.Time // next reading
	launchAt   time.Time // next try to push what waits
	launchWait time.Duration
	queueSign  string // the queue as it was seen last

	mu         sync.Mutex // guards the rest, which polls and collects share with the loop
	recompare  bool       // the network is back
	hurry      bool       // a run ended: quota and slots are looked at now
	offline    time.Time  // since when nothing is reached; zero = reachable
	wokeAt     time.Time  // the end of the last sleep or cut; zero = never
	collecting map[int64]bool
	collectAt  map[int64]time.Time // next try after a failed collect
	collectTry map[int64]int
	pending    []Notice
	heldUntil  time.Time
}

// watched is one run in flight as the loop knows it.
type watched struct {
	tracker *planner.Tracker
	due     time.Time
	asked   time.Time // the last answer; zero = none yet
	inState time.Time
	state   string
}

func newWatcher(a *App) *watcher {
	return &watcher{a: a, watched: map[int64]*watched{}, streams: map[int64]context.CancelFunc{}, wall: a.now().Round(0), mono: time.Now(),
		collecting: map[int64]bool{}, collectAt: map[int64]time.Time{}, collectTry: map[int64]int{}}
}

func (w *watcher) stop() {
	for _, cancel := range w.streams {
		cancel()
	}
	w.wg.Wait()
	w.flushNotices(true)
}

// round does everything that is due once. When nothing happened and nothing is
// due it costs a look at the clock and one at the log's version.
func (w *watcher) round(ctx context.Context) {
	a := w.a
	news := a.relay(ctx)
	a.followZone()
	news = a.hub.takeDirty() || news
	news = w.noticeSleep() || news
	if w.takeAsked() {
		w.startOver()
		news = true
	}
	if !news && a.now().Before(w.next) {
		w.flushNotices(false)
		return
	}
	acc, err := a.Account(ctx)
	if err != nil {
		return // nobody is signed in: nothing to watch
	}
	if acc.ID != w.acc.ID || acc.Username != w.acc.Username {
		w.forget()
		w.acc = acc
	}
	w.takeShared()
	runs, err := w.follow(ctx)
	if err != nil {
		return
	}
	if !w.reconciled && !w.a.now().Before(w.retryAt) {
		w.compare(ctx)
		if runs, err = w.follow(ctx); err != nil {
			return
		}
	}
	w.pollDue(ctx, runs)
	w.takeShared()
	w.collectDue(ctx)
	w.readQuota(ctx, runs)
	w.launch(ctx)
	w.flushNotices(false)
	w.next = w.nextWork()
}

// nextWork is when something is due again.
func (w *watcher) nextWork() time.Time {
	next := w.quotaAt
	sooner := func(t time.Time) {
		if t.Before(next) {
			next = t
		}
	}
	for _, s := range w.watched {
		sooner(s.due)
		if s.state == StateWaiting {
			sooner(w.launchAt)
		}
	}
	if !w.reconciled {
		sooner(w.retryAt)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, t := range w.collectAt {
		if !w.collecting[id] {
			sooner(t)
		}
	}
	return next
}

// startOver makes everything be compared with Kaggle and asked again. No time that
// was set before counts any more: the clock may have been another one.
func (w *watcher) startOver() {
	w.reconciled, w.retryAt, w.quotaAt, w.launchAt, w.next = false, time.Time{}, time.Time{}, time.Time{}, time.Time{}
	for _, s := range w.watched {
		s.due = time.Time{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.collectAt)
}

// takeShared acts on what polls and collects found.
func (w *watcher) takeShared() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.recompare {
		w.reconciled, w.retryAt = false, time.Time{}
	}
	if w.hurry {
		w.quotaAt, w.launchAt = time.Time{}, time.Time{}
	}
	w.recompare, w.hurry = false, false
}

// forget drops everything about an account that is no longer the current one.
func (w *watcher) forget() {
	for id, cancel := range w.streams {
		cancel()
		delete(w.streams, id)
	}
	clear(w.watched)
	w.startOver()
	w.mu.Lock()
	w.offline = time.Time{}
	w.mu.Unlock()
}

// noticeSleep says whether the computer slept, or somebody set its clock.
func (w *watcher) noticeSleep() bool {
	return w.jumped(w.a.now().Round(0), time.Now())
}

// jumped compares the wall clock with the monotonic one, which stands still while
// the computer sleeps. On Windows it goes on; there the loop wakes long after the
// time it set itself.
func (w *watcher) jumped(wall, mono time.Time) bool {
	d := wall.Sub(w.wall) - mono.Sub(w.mono)
	var late time.Duration
	if !w.alarm.IsZero() {
		late = mono.Sub(w.alarm)
	}
	w.wall, w.mono, w.alarm = wall, mono, time.Time{}
	if d <= jump && d >= -jump && late <= jump {
		return false
	}
	w.a.log.Info("the clock jumped", "by", d, "late", late)
	w.startOver()
	w.mu.Lock()
	w.wokeAt, w.heldUntil = wall, time.Time{}
	if len(w.pending) > 0 {
		w.heldUntil = wall.Add(holdNotices)
	}
	w.mu.Unlock()
	return true
}

func (w *watcher) takeAsked() bool {
	w.a.watch.mu.Lock()
	defer w.a.watch.mu.Unlock()
	asked := w.a.watch.asked
	w.a.watch.asked = false
	return asked
}

// compare reconciles the log with Kaggle and makes every run due.
func (w *watcher) compare(ctx context.Context) {
	unlock, ok := w.a.tryLockPush()
	if !ok {
		return // a push is going on: its outcome is not ours to judge
	}
	defer unlock()
	if err := w.a.reconcile(ctx, w.acc); err != nil {
		w.reached(err)
		w.retryAt = w.a.now().Add(30 * time.Second)
		w.a.log.Info("not compared with Kaggle yet", "err", err)
		return
	}
	w.reconciled = true
	for _, s := range w.watched {
		s.due = time.Time{}
	}
}

// follow reads the runs in flight and keeps the watch to them.
func (w *watcher) follow(ctx context.Context) ([]runlog.Run, error) {
	runs, err := w.a.store.Runs(ctx, runlog.Filter{Account: w.acc.ID, States: unsettled})
	if err != nil {
		w.a.log.Error("runs not read", "err", err)
		return nil, err
	}
	w.keepOnly(ctx, runs)
	return runs, nil
}

// keepOnly follows the log: new runs are due at once, settled ones are dropped.
// What somebody else saw first (a verb, a plan that asked for the quota) is told
// here as if it had been seen by a poll.
func (w *watcher) keepOnly(ctx context.Context, runs []runlog.Run) {
	now := w.a.now()
	in := map[int64]bool{}
	for _, r := range runs {
		in[r.ID] = true
		s := w.watched[r.ID]
		if s == nil || s.state != r.State && !atKaggle(s.state) {
			s = &watched{tracker: planner.ResumeTracker(r.Version, r.PushedAt, r.State, !r.StartedAt.IsZero()), inState: now}
			w.watched[r.ID] = s
		}
		if s.state != r.State {
			before := s.state
			s.state, s.inState = r.State, now
			w.changed(ctx, before, r)
		}
	}
	for id, s := range w.watched {
		if !in[id] {
			delete(w.watched, id)
			if r, err := w.a.store.Run(ctx, id); err == nil && atKaggle(s.state) {
				w.changed(ctx, s.state, r)
			}
			if cancel := w.streams[id]; cancel != nil {
				cancel()
				delete(w.streams, id)
			}
		}
	}
}

// pollDue asks about every run whose time has come.
func (w *watcher) pollDue(ctx context.Context, runs []runlog.Run) {
	var g errgroup.Group
	g.SetLimit(pollsAtOnce)
	now := w.a.now()
	unclear := false
	for _, r := range runs {
		s := w.watched[r.ID]
		switch {
		case s == nil || now.Before(s.due):
		case r.State == StatePushing || r.State == StateUnclear:
			unclear = true
			s.due = now.Add(w.pollEvery(StateUnclear, now.Sub(s.inState)))
		case atKaggle(r.State):
			g.Go(func() error { w.poll(ctx, r, s); return nil })
		default:
			s.due = now.Add(time.Hour) // it waits here; launch has its own rhythm
		}
	}
	g.Wait()
	if unclear && w.reconciled {
		w.compare(ctx)
	}
	for _, r := range runs {
		if s := w.watched[r.ID]; s != nil && s.tracker.Verdict().State == StateRunning && w.streams[r.ID] == nil {
			w.startStream(ctx, r)
		}
	}
}

// pollEvery is how long to wait before the next question. A sandbox whose clock
// runs fast is asked more often, once a second at most: it is on this computer.
func (w *watcher) pollEvery(state string, in time.Duration) time.Duration {
	d := planner.PollEvery(state, in, w.a.hub.watched())
	if speed := speedOf(w.acc); speed > 1 && d > 0 {
		d = max(time.Second, time.Duration(float64(d)/speed))
	}
	return d
}

// poll asks Kaggle once about one run and stores what follows.
func (w *watcher) poll(ctx context.Context, r runlog.Run, s *watched) {
	before := r.State
	r, err := w.a.ask(ctx, w.acc, r, s)
	if ctx.Err() != nil {
		return
	}
	w.reached(err)
	now := w.a.now()
	if r.State != before {
		s.inState, s.state = now, r.State
		w.changed(ctx, before, r)
	}
	w.nearCap(ctx, r)
	s.due = now.Add(w.pollEvery(r.State, now.Sub(s.inState)))
}

// changed does what a change of state asks for.
func (w *watcher) changed(ctx context.Context, before string, r runlog.Run) {
	switch {
	case r.State == StateRunning && poolOf(r) == PoolTPU:
		w.notice(startNotice(r))
	case ended(r.State) || r.State == StateMissing:
		w.mu.Lock()
		w.hurry = true
		w.mu.Unlock()
		if !w.willCollect(r) && !strings.HasPrefix(r.Note, askedToStop) { // nobody is told what they just did
			w.notice(w.endNotice(ctx, r))
		}
	}
	w.a.log.Info("run changed", "run", r.ID, "kernel", r.Kernel, "from", before, "to", r.State)
}

// reached keeps account of whether Kaggle can be reached. A cut that ends makes
// everything be compared again.
func (w *watcher) reached(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil && !w.offline.IsZero():
		w.offline, w.recompare, w.wokeAt = time.Time{}, true, w.a.now()
		w.a.hub.emit(Event{Kind: EventNet})
	case err != nil && isUnreachable(err) && w.offline.IsZero():
		w.offline = w.a.now()
		w.a.hub.emit(Event{Kind: EventNet})
	}
}

// readQuota keeps the reading fresh while somebody may look at it.
func (w *watcher) readQuota(ctx context.Context, runs []runlog.Run) {
	now := w.a.now()
	if now.Before(w.quotaAt) {
		return
	}
	every := quotaIdle
	for _, r := range runs {
		if atKaggle(r.State) && poolOf(r) != PoolCPU {
			every = quotaBusy
		}
	}
	w.quotaAt = now.Add(every)
	err := w.a.readQuota(ctx, w.acc)
	if err == nil {
		news, nerr := w.a.quotaNotices(ctx, w.acc)
		if nerr != nil {
			w.a.log.Warn("quota notices not told", "err", nerr)
		}
		for _, n := range news {
			w.notice(n)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		w.a.log.Info("quota not read", "err", err)
		w.quotaAt = now.Add(time.Minute)
	}
	w.reached(err)
}

// untilNext is how long the loop may rest: to the next due time, at most a tick.
func (w *watcher) untilNext() time.Duration {
	d := tick
	now := w.a.now()
	for _, s := range w.watched {
		d = min(d, s.due.Sub(now))
	}
	return max(d, 50*time.Millisecond)
}
