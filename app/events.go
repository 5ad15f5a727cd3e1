package app

import (
	"context"
	"encoding/json"
	"sync"

	"sandglass/app/runlog"
)

// eventBuffer is how many events a subscriber may lag behind before it is told
// to reload everything instead.
const eventBuffer = 64

// Subscription is one listener's bounded stream of events. Read C until it is
// closed; call Close when done.
type Subscription struct {
	hub  *hub
	ch   chan Event
	lost bool // an event did not fit: a reload is owed. Guarded by hub.mu.
}

// C is the stream. It is closed by Close and by App.Close.
func (s *Subscription) C() <-chan Event { return s.ch }

// Close ends the subscription. It may be called twice.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.hub.subs[s] {
		delete(s.hub.subs, s)
		close(s.ch)
	}
}

// hub fans events out. It never blocks: a full subscriber loses what does not
// fit and finds one EventReload at the end of its stream instead.
type hub struct {
	mu     sync.Mutex
	subs   map[*Subscription]bool
	seq    int64
	closed bool
	dirty  bool // something happened that the watcher may have to act on
}

func newHub() *hub { return &hub{subs: map[*Subscription]bool{}} }

func (h *hub) subscribe() *Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &Subscription{hub: h, ch: make(chan Event, eventBuffer)}
	if h.closed {
		close(s.ch)
		return s
	}
	h.subs[s] = true
	return s
}

// emit gives every subscriber the event, with the next sequence number.
func (h *hub) emit(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e.Seq = h.seq
	switch e.Kind {
	case EventLog, EventCurve, EventQuota, EventNotice:
	default:
		h.dirty = true
	}
	for s := range h.subs {
		s.put(e)
	}
}

// put queues e or, when there is no room, remembers that something was lost.
// The last place of the buffer is kept for the reload, so it always fits; what
// comes between a reload and its being read is covered by that reload, except a
// notice, which is told once for ever and therefore must not be dropped lightly:
// it takes the place of the oldest plain event.
func (s *Subscription) put(e Event) {
	if len(s.ch) < cap(s.ch)-1 {
		s.lost = false
		s.ch <- e
		return
	}
	if e.Kind == EventNotice {
		s.squeeze(e)
		return
	}
	if s.lost {
		return
	}
	s.lost = true
	s.ch <- Event{Kind: EventReload, Seq: e.Seq}
}

// squeeze makes room for a notice by dropping plain events and owing a reload
// for them. With nothing but notices in the buffer the oldest one goes.
func (s *Subscription) squeeze(e Event) {
	var notices []Event
	for {
		select {
		case old := <-s.ch:
			if old.Kind == EventNotice {
				notices = append(notices, old)
			}
			continue
		default:
		}
		break
	}
	notices = append(notices, e)
	if over := len(notices) - (cap(s.ch) - 1); over > 0 {
		notices = notices[over:]
	}
	for _, n := range notices {
		s.ch <- n
	}
	s.lost = true
	s.ch <- Event{Kind: EventReload, Seq: e.Seq}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subs {
		delete(h.subs, s)
		close(s.ch)
	}
}

// Subscribe starts a stream of what changes from now on.
func (a *App) Subscribe() *Subscription { return a.hub.subscribe() }

// watched says whether anybody listens: somebody may be looking at a run.
func (h *hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subs) > 0
}

// takeDirty says whether something happened since the last question that the
// watcher may have to act on.
func (h *hub) takeDirty() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.dirty
	h.dirty = false
	return d
}

// noteChange tells this process's listeners and the other processes on this home
// that something changed.
func (a *App) noteChange(ctx context.Context, kind EventKind, run int64) {
	a.append(ctx, runlog.Event{Kind: string(kind), Run: run})
	a.hub.emit(Event{Kind: kind, Run: run})
}

// eventData is what an event row carries besides its kind.
type eventData struct {
	Process string `json:"process"`
	Notice  string `json:"notice,omitempty"` // a Notice as JSON
}

// append writes an event for the other processes. They miss one that cannot be
// written until they look by themselves, so it is no failure of what was done.
func (a *App) append(ctx context.Context, e runlog.Event) {
	data, _ := json.Marshal(eventData{Process: a.tag, Notice: e.Data}) // strings only: cannot fail
	e.Data, e.At = string(data), a.now()
	if _, err := a.store.AppendEvent(context.WithoutCancel(ctx), e); err != nil {
		a.log.Warn("event not written", "kind", e.Kind, "err", err)
	}
}

// relay gives what other processes wrote since the last look to the listeners of
// this one, and says whether there was anything.
func (a *App) relay(ctx context.Context) bool {
	version, err := a.store.DataVersion(ctx)
	if err != nil || version == a.watch.version {
		return false
	}
	a.watch.version = version
	events, err := a.store.EventsAfter(ctx, a.watch.seq)
	if err != nil {
		a.log.Warn("events not read", "err", err)
		return true
	}
	for _, e := range events {
		a.watch.seq = e.Seq
		var d eventData
		if json.Unmarshal([]byte(e.Data), &d) != nil || d.Process == a.tag {
			continue
		}
		if EventKind(e.Kind) != EventNotice {
			a.hub.emit(Event{Kind: EventKind(e.Kind), Run: e.Run})
			continue
		}
		var n Notice
		if json.Unmarshal([]byte(d.Notice), &n) == nil {
			a.show(n)
		}
	}
	return true
}
