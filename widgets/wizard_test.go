package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

func TestStepRailTakesTapsOnlyWhereAStepIsOpen(t *testing.T) {
	app(t)
	r := NewStepRail(false, "One", "Two", "Three")
	show(t, r, 200, 200)
	var to []int
	r.OnTapped = func(i int) { to = append(to, i) }
	r.Set([]StepState{StepDone, StepCurrent, StepAhead}, []bool{true, true, false})
	for i := range 3 {
		test.Tap(r.Item(i).(fyne.Tappable))
	}
	if len(to) != 2 || to[0] != 0 || to[1] != 1 {
		t.Errorf("tapped to %v", to)
	}
	if r.steps[0].Disabled() || !r.steps[1].Disabled() || !r.steps[2].Disabled() {
		t.Error("the Tab key stops at a step that leads nowhere, or passes one that is open")
	}
	flat := NewStepRail(true, "One", "Two")
	flat.Set([]StepState{StepCurrent, StepAhead}, []bool{true, false})
	if a, b := flat.steps[0].MinSize(), flat.steps[1].MinSize(); a.Width <= b.Width {
		t.Errorf("in a line the current step has its words: %v and %v", a, b)
	}
}

func TestChoiceKeys(t *testing.T) {
	app(t)
	taken, moved, entered := 0, 0, 0
	var c *Choice
	c = NewChoice(Body("x"), func() { taken++; c.SetSelected(true) })
	c.OnMove, c.OnEnter = func(d int) { moved += d }, func() { entered++ }
	w := show(t, c, 200, 60)
	c.TypedKey(key(fyne.KeyDown))
	c.TypedKey(key(fyne.KeyDown))
	c.TypedKey(key(fyne.KeyUp))
	c.TypedKey(key(fyne.KeyReturn))
	c.TypedKey(key(fyne.KeyReturn))
	if moved != 1 || taken != 1 || entered != 2 {
		t.Errorf("moved %d, taken %d, entered %d", moved, taken, entered)
	}
	left := false
	w.Canvas().SetOnTypedKey(func(ev *fyne.KeyEvent) { left = ev.Name == fyne.KeyEscape })
	c.TypedKey(key(fyne.KeyEscape))
	if !left {
		t.Error("Escape did not reach the window")
	}
}
