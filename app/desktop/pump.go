package desktop

import (
	"context"
	"time"

	"sandglass/app"
)

// settle is how long the pump gathers further events before it reads a snapshot: short enough to feel live, long enough that a
// burst of telemetry costs one redraw.
const settle = 80 * time.Millisecond

// pump turns the event stream into redraws of whatever page is visible: drain, coalesce, one snapshot off the UI thread, one
// function on it. At most one redraw is queued at any time, so a slow screen drops frames and never falls behind.
type pump struct {
	current func() page
	do      func(func())
	notice  func(app.Notice)
	every   func(app.Event) // called for each event, off the UI thread; for the shell's own badges
	kick    chan struct{}
}

func newPump(current func() page, do func(func()), notice func(app.Notice), every func(app.Event)) *pump {
	return &pump{current: current, do: do, notice: notice, every: every, kick: make(chan struct{}, 1)}
}

// reload asks for a redraw although nothing happened: a page was opened, or the person asked.
func (p *pump) reload() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// run pumps until ctx ends or the stream is closed.
func (p *pump) run(ctx context.Context, events <-chan app.Event) {
	for {
		stale := false
		select {
		case <-ctx.Done():
			return
		case <-p.kick:
			stale = true
		case ev, ok := <-events:
			if !ok {
				return
			}
			stale = p.take(ev)
		}
		timer := time.NewTimer(settle)
	gather:
		for {
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-p.kick:
				stale = true
				timer.Stop()
				break gather // the person is waiting: do not settle
			case ev, ok := <-events:
				if !ok {
					timer.Stop()
					return
				}
				stale = p.take(ev) || stale
			case <-timer.C:
				break gather
			}
		}
		if stale {
			p.redraw(ctx)
		}
	}
}

func (p *pump) take(ev app.Event) bool {
	if ev.Kind == app.EventNotice && ev.Notice != nil {
		p.notice(*ev.Notice)
		return false
	}
	if p.every != nil {
		p.every(ev)
	}
	pg := p.current()
	return pg != nil && (ev.Kind == app.EventReload || pg.Wants(ev))
}

func (p *pump) redraw(ctx context.Context) {
	pg := p.current()
	if pg == nil {
		return
	}
	show := pg.Load(ctx)
	if show == nil || ctx.Err() != nil {
		return
	}
	done := make(chan struct{})
	p.do(func() {
		defer close(done)
		if p.current() == pg { // the person may have moved on while the snapshot was read
			show()
		}
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}
