package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Where the choices about notices are kept.
const (
	settingSilent = "notices.silent" // kinds, with spaces between
	settingPaused = "notices.paused" // until when, RFC 3339
)

// pauseMost is the longest pause: a day with the hour that the end of summer time
// adds. An end further away was written under a wrong clock and is no pause.
const pauseMost = 25 * time.Hour

// NoticeKind is a kind of notice that a person may silence.
type NoticeKind struct {
	Kind string // of Notice.Kind
	Name string // "A run finished"
	What string // what it tells besides
}

// NoticeKinds are all kinds, the most wanted first.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{
		{"finished", "A run finished", "with its score and what it cost"},
		{"failed", "A run failed or was stopped", "with its own words for why"},
		{"tpu-started", "A TPU run started", "with how long it waited and when it ends at the latest"},
		{"near-cap", "A run is near its cap", "ten minutes or a tenth of the cap before"},
		{"slot-freed", "A slot freed", "and nothing that waits takes it"},
		{"queue-stopped", "The launch queue stopped a run", "it waits for you, nothing was sent"},
		{"expiring", "Hours are about to expire", "when nothing is planned for them, a day before the reset"},
		{"quota-reset", "The week's hours are back", "how many, and until when"},
	}
}

// NoticeChoices is what a person wants to be told.
type NoticeChoices struct {
	Silent      map[string]bool // by kind
	PausedUntil time.Time       // zero: not paused
}

// Tells says whether notices of a kind are shown.
func (c NoticeChoices) Tells(kind string) bool { return c.PausedUntil.IsZero() && !c.Silent[kind] }

// NoticeChoices reads what the person chose. A pause that is over is none.
func (a *App) NoticeChoices(ctx context.Context) (NoticeChoices, error) {
	c := NoticeChoices{Silent: map[string]bool{}}
	silent, err := a.store.Get(ctx, settingSilent)
	if err != nil {
		return c, err
	}
	for _, k := range strings.Fields(silent) {
		c.Silent[k] = true
	}
	paused, err := a.store.Get(ctx, settingPaused)
	if err != nil || paused == "" {
		return c, err
	}
	until, err := time.Parse(time.RFC3339, paused)
	if err != nil {
		a.log.Warn("the pause of the notices cannot be read and counts as none", "err", err)
		return c, nil
	}
	if left := until.Sub(a.now()); left > 0 && left <= pauseMost {
		c.PausedUntil = until
	}
	return c, nil
}

// SilenceNotices stops notices of a kind, or lets them be shown again. What is
// silenced counts as told: it does not come later.
func (a *App) SilenceNotices(ctx context.Context, kind string, on bool) error {
	if !slices.ContainsFunc(NoticeKinds(), func(k NoticeKind) bool { return k.Kind == kind }) {
		return fmt.Errorf("there are no notices of the kind %q", kind)
	}
	return a.store.Change(ctx, settingSilent, func(old string) (string, error) {
		kinds := slices.DeleteFunc(strings.Fields(old), func(k string) bool { return k == kind })
		if on {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		return strings.Join(kinds, " "), nil
	})
}

// PauseNotices silences all kinds for today, until midnight where the person is,
// or ends such a pause.
func (a *App) PauseNotices(ctx context.Context, on bool) error {
	if !on {
		return a.store.Set(ctx, settingPaused, "")
	}
	y, m, d := Local(a.now()).Date()
	midnight := time.Date(y, m, d+1, 0, 0, 0, 0, Zone())
	return a.store.Set(ctx, settingPaused, midnight.UTC().Format(time.RFC3339))
}

// tells says whether a notice of a kind is shown. Choices that cannot be read
// silence nothing.
func (a *App) tells(ctx context.Context, kind string) bool {
	c, err := a.NoticeChoices(ctx)
	if err != nil {
		a.log.Warn("what the person wants to be told was not read", "err", err)
		return true
	}
	return c.Tells(kind)
}

// Sight is what the window shows while it has the keyboard.
type Sight struct {
	Run  int64 // the run whose page is open; 0 = none
	Week bool  // the week's hours
}

// Look says what the person is looking at. Notices about that are not shown on top
// of it. The zero value is a window in the background, or none.
func (a *App) Look(at Sight) { a.sight.Store(&at) }

// sees says whether what a notice tells is on the screen already.
func (a *App) sees(n Notice) bool {
	s := a.sight.Load()
	if s == nil {
		return false
	}
	switch n.Kind {
	case "expiring", "quota-reset":
		return s.Week
	}
	return n.Run != 0 && n.Run == s.Run
}
