package app

import "sync"

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

// emitRun tells that a run's rows changed.
func (a *App) emitRun(id int64, kind EventKind) { a.hub.emit(Event{Kind: kind, Run: id}) }
