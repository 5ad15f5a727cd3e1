package sandbox

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Why a session's context ended.
var (
	errLimit     = errors.New("the session reached its time limit")
	errDeleted   = errors.New("the kernel was deleted")
	errCancelled = errors.New("the session was cancelled")
)

// liveSession is what a session has while its goroutine lives.
type liveSession struct {
	cancel  context.CancelCauseFunc
	started chan struct{} // closed when the log exists
	log     *sessionLog   // set before started is closed
	done    chan struct{} // closed when the end is in the state
}

func (s *Sandbox) sessionDir(id int64) string {
	return filepath.Join(s.home, "sessions", strconv.FormatInt(id, 10))
}

func (s *Sandbox) workingDir(id int64) string { return filepath.Join(s.sessionDir(id), "working") }
func (s *Sandbox) logPath(id int64) string    { return filepath.Join(s.sessionDir(id), "log.jsonl") }

// mark is what every process of a session carries in its environment, so that none is lost sight of.
func (s *Sandbox) mark(id int64) string {
	return hex.EncodeToString(s.sign("mark"))[:16] + "-" + strconv.FormatInt(id, 10)
}

// dropScratch removes all of a session's folder but its outputs and log. Inputs are links: what they lead to stays.
func (s *Sandbox) dropScratch(id int64) {
	for _, d := range []string{"src", "home", "tmp", "bin", "pip", "input"} {
		if err := os.RemoveAll(filepath.Join(s.sessionDir(id), d)); err != nil {
			s.log.Warn("sandbox left a session folder behind", "session", id, "err", err)
		}
	}
}

// launch starts the goroutine that takes a queued session through its life.
func (s *Sandbox) launch(id int64) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	l := &liveSession{cancel: cancel, started: make(chan struct{}), done: make(chan struct{})}
	s.mu.Lock()
	x := s.st.Sessions[id]
	if x == nil || s.closed {
		s.mu.Unlock()
		cancel(errStopped)
		return
	}
	wait := s.opt.StartDelay
	if x.Pool == poolTPU {
		wait += s.opt.TPUQueue
	}
	s.live[id] = l
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		defer cancel(nil)
		s.runOne(ctx, id, l, s.wallFor(wait))
	}()
}

// runOne is the life of one session: queue, run, end.
func (s *Sandbox) runOne(ctx context.Context, id int64, l *liveSession, queue time.Duration) {
	res := Result{Status: StatusCancelled}
	timer := time.NewTimer(queue)
	defer timer.Stop()
	select {
	case <-timer.C:
		res = s.execute(ctx, id, l)
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		res.Status, res.Message = StatusCancelled, ""
		if context.Cause(ctx) == errStopped {
			res.Status, res.Message = StatusError, errStopped.Error()
		}
	}
	if l.log != nil {
		if err := l.log.end(); err != nil {
			res.Message = strings.TrimSpace(res.Message + " (the log is incomplete: " + err.Error() + ")")
		}
	}
	s.finish(id, l, res)
}

// execute marks the session running and hands it to the executor. Its context ends at the limit, in wall time.
func (s *Sandbox) execute(ctx context.Context, id int64, l *liveSession) Result {
	if err := os.MkdirAll(s.workingDir(id), 0o700); err != nil {
		return Result{Status: StatusError, Message: "make the session's folder: " + err.Error()}
	}
	log, err := newSessionLog(s.logPath(id), s.now)
	if err != nil {
		return Result{Status: StatusError, Message: err.Error()}
	}
	l.log = log
	var job Job
	err = s.update(func(st *state) error {
		x := st.Sessions[id]
		if x == nil {
			return errDeleted
		}
		x.Status, x.Started = StatusRunning, s.now()
		s.startCharge(x)
		if k := st.Kernels[x.Kernel]; k != nil {
			k.LastRun = x.Started
		}
		job, err = s.job(x, log)
		return err
	})
	close(l.started)
	if err != nil {
		return Result{Status: StatusError, Message: err.Error()}
	}
	limited, stop := context.WithTimeoutCause(ctx, job.Limit, errLimit)
	defer stop()
	s.log.Info("sandbox session runs", "session", id, "kernel", job.Owner+"/"+job.Slug, "version", job.Version, "pool", job.Pool)
	res := s.exec.Run(limited, job)
	switch {
	case ctx.Err() == nil && limited.Err() != nil:
		return Result{Status: StatusCancelled, Message: fmt.Sprintf("%v of %v", errLimit, job.Limit)}
	case res.Status == StatusComplete, res.Status == StatusError, res.Status == StatusCancelled:
		return res
	}
	return Result{Status: StatusError, Message: fmt.Sprintf("the executor ended with the unknown state %q", res.Status)}
}

// finish writes the end into the state, or clears the folder of a session whose kernel was deleted meanwhile.
func (s *Sandbox) finish(id int64, l *liveSession, res Result) {
	s.dropScratch(id)
	err := s.update(func(st *state) error {
		s.endCharge(id)
		if x := st.Sessions[id]; x != nil {
			x.Status, x.Failure, x.Ended = res.Status, res.Message, s.now()
		}
		return nil
	})
	s.mu.Lock()
	x := s.st.Sessions[id]
	if err != nil && x != nil {
		// The disk cannot take it; in memory it must be true all the same, or the slot would never be free.
		s.log.Error("sandbox could not save the end of a session", "session", id, "err", err)
		x.Status, x.Failure, x.Ended = res.Status, strings.TrimSpace(res.Message+" (not saved: "+err.Error()+")"), s.now()
		s.endCharge(id)
	}
	delete(s.live, id)
	s.mu.Unlock()
	if x == nil {
		os.RemoveAll(s.sessionDir(id))
	}
	s.log.Info("sandbox session ended", "session", id, "status", res.Status, "exit", res.ExitCode)
	close(l.done)
}

// job puts together what the executor needs. The caller holds s.mu.
func (s *Sandbox) job(x *session, log *sessionLog) (Job, error) {
	k := s.st.Kernels[x.Kernel]
	v := k.version(x.Version)
	text, err := os.ReadFile(s.sourcePath(k.ID, v.Number))
	if err != nil {
		return Job{}, fmt.Errorf("read the kernel's source: %w", err)
	}
	dir := s.sessionDir(x.ID)
	j := Job{
		Session: x.ID, Owner: k.Owner, Slug: k.Slug, Version: v.Number, Source: string(text), Language: k.Language, KernelType: k.KernelType,
		Shape: x.Shape, Pool: x.Pool, Internet: x.Internet, Limit: x.Limit,
		Dir: dir, Working: filepath.Join(dir, "working"), Input: filepath.Join(dir, "input"),
		Mark: s.mark(x.ID), Log: log.add,
	}
	switch x.Pool {
	case poolGPU:
		j.FakeGPUs = fakes(s.opt.FakeGPUs, gpuOf(x.Shape).count)
	case poolTPU:
		j.FakeTPUChips = fakes(s.opt.FakeTPUChips, 8)
	}
	j.Inputs = s.inputs(k.Owner, v, log)
	return j, nil
}

func fakes(asked, usual int) int {
	if asked == 0 {
		return usual
	}
	return max(0, asked)
}

// inputs resolves a version's sources to folders, as they are when the run starts. What has gone or has no files yet
// is left out, and the log says so. The caller holds s.mu.
func (s *Sandbox) inputs(who string, v *version, log *sessionLog) []Input {
	var ins []Input
	add := func(kind, ref, dir string) {
		if dir == "" {
			log.add("stderr", fmt.Sprintf("sandbox: %s %s has nothing to mount\n", kind, ref))
			return
		}
		ins = append(ins, Input{Kind: kind, Ref: ref, Target: target(s.opt.Layout, kind, ref), Dir: dir})
	}
	for _, ref := range v.Datasets {
		d, n := s.findDataset(who, ref)
		if d == nil {
			add("dataset", ref, "")
			continue
		}
		dir := ""
		if dv := d.version(n); dv != nil {
			dir = dv.Dir
		}
		add("dataset", d.ref(), dir)
	}
	for _, ref := range v.Competitions {
		dir := ""
		if c := s.st.Competitions[ref]; c != nil {
			dir = c.Dir
		}
		add("competition", ref, dir)
	}
	for _, ref := range v.Kernels {
		owner, slug, _ := strings.Cut(ref, "/")
		dir := ""
		if k := s.visibleKernel(who, owner, slug); k != nil {
			if x := s.newestOutput(k); x != nil {
				dir = s.workingDir(x.ID)
			}
		}
		add("kernel", ref, dir)
	}
	for _, ref := range v.Models {
		dir := ""
		if m := s.findModel(ref); m != nil {
			ref, dir = m.Ref, m.Dir
		}
		add("model", ref, dir)
	}
	return ins
}

// newestOutput is the session of the newest version that has ended with a working folder. The caller holds s.mu.
func (s *Sandbox) newestOutput(k *kernel) *session {
	for i := len(k.Versions) - 1; i >= 0; i-- {
		x := s.st.Sessions[k.Versions[i].Session]
		if x == nil || !x.terminal() || x.Started.IsZero() {
			continue
		}
		if _, err := os.Stat(s.workingDir(x.ID)); err == nil {
			return x
		}
	}
	return nil
}
