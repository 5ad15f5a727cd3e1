package widgets

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// StepState is where a step of a wizard stands.
type StepState int

// States of a step.
const (
	StepAhead   StepState = iota // not reached yet
	StepCurrent                  //
	StepDone                     // answered
	StepWrong                    // has something that must be changed first
)

// StepRail shows the steps of a wizard and where one is: a column of numbered rings, or, where there is no room for a column, a
// line of rings of which only the current one has its words.
type StepRail struct {
	widget.BaseWidget
	OnTapped func(step int)

	steps []*stepItem
	flat  bool
	box   *fyne.Container
}

// NewStepRail makes a rail. flat makes it a line.
func NewStepRail(flat bool, words ...string) *StepRail {
	r := &StepRail{flat: flat}
	if flat {
		r.box = HBox(Gap4)
	} else {
		r.box = VBox(Gap4)
	}
	for i, w := range words {
		it := &stepItem{rail: r, i: i, text: w}
		it.ExtendBaseWidget(it)
		r.steps = append(r.steps, it)
		r.box.Add(it)
	}
	r.ExtendBaseWidget(r)
	return r
}

// Item is the control of a step.
func (r *StepRail) Item(step int) fyne.CanvasObject { return r.steps[step] }

// Set says where each step stands. A step that cannot be gone to from here takes no tap and no focus.
func (r *StepRail) Set(states []StepState, open []bool) {
	changed := false
	for i, it := range r.steps {
		if it.state != states[i] || it.open != open[i] {
			it.state, it.open, changed = states[i], open[i], true
			it.Refresh()
		}
	}
	if changed {
		r.box.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (r *StepRail) CreateRenderer() fyne.WidgetRenderer {
	r.ExtendBaseWidget(r)
	return widget.NewSimpleRenderer(r.box)
}

var (
	_ fyne.Focusable    = (*stepItem)(nil)
	_ fyne.Disableable  = (*stepItem)(nil)
	_ desktop.Hoverable = (*stepItem)(nil)
)

type stepItem struct {
	widget.BaseWidget
	rail             *StepRail
	i                int
	text             string
	state            StepState
	open             bool
	hovered, focused bool
}

func (s *stepItem) Tapped(*fyne.PointEvent) {
	if s.open && s.rail.OnTapped != nil {
		s.rail.OnTapped(s.i)
	}
}

// Enable and Disable are what Fyne's focus chain asks for; the rail decides by Set.
func (s *stepItem) Enable()        {}
func (s *stepItem) Disable()       {}
func (s *stepItem) Disabled() bool { return !s.open || s.state == StepCurrent }

func (s *stepItem) MouseIn(*desktop.MouseEvent)    { s.hovered = true; s.Refresh() }
func (s *stepItem) MouseMoved(*desktop.MouseEvent) {}
func (s *stepItem) MouseOut()                      { s.hovered = false; s.Refresh() }
func (s *stepItem) FocusGained()                   { s.focused = true; s.Refresh() }
func (s *stepItem) FocusLost()                     { s.focused = false; s.Refresh() }
func (s *stepItem) TypedRune(rune)                 {}
func (s *stepItem) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		s.Tapped(nil)
	case fyne.KeyEscape:
		HandUp(s, e)
	}
}

func (s *stepItem) CreateRenderer() fyne.WidgetRenderer {
	s.ExtendBaseWidget(s)
	r := &stepRenderer{s: s, bg: canvas.NewRectangle(nil), ring: canvas.NewCircle(nil), number: canvas.NewText("", nil), word: canvas.NewText("", nil),
		check: canvas.NewImageFromResource(nil)}
	r.check.FillMode = canvas.ImageFillContain
	r.objects = []fyne.CanvasObject{r.bg, r.ring, r.number, r.check, r.word}
	r.paint()
	return r
}

const stepRing float32 = 22

type stepRenderer struct {
	s            *stepItem
	bg           *canvas.Rectangle
	ring         *canvas.Circle
	number, word *canvas.Text
	check        *canvas.Image
	objects      []fyne.CanvasObject
}

func (r *stepRenderer) paint() {
	s := r.s
	ring, ink, word := ColorBorder, ColorMuted, ColorMuted
	fill := fyne.ThemeColorName("")
	var icon fyne.Resource
	switch s.state {
	case StepCurrent:
		ring, ink, word, fill = ColorAccent, ColorOnAccent, ColorText, ColorAccent
	case StepDone:
		ring = ColorAccent
		icon = theme.NewColoredResource(IconCheck.Resource(), ColorAccent)
	case StepWrong:
		ring, word = ColorBad, ColorBad
		icon = theme.NewColoredResource(shapes[ShapeBang], ColorBad)
	}
	r.ring.StrokeColor, r.ring.StrokeWidth, r.ring.FillColor = themeColor(s, ring), 1.2, nil
	if fill != "" {
		r.ring.FillColor = themeColor(s, fill)
	}
	r.number.Text, r.number.Color, r.number.TextSize = strconv.Itoa(s.i+1), themeColor(s, ink), s.Theme().Size(SizeCaption)
	r.number.TextStyle = fyne.TextStyle{Bold: s.state == StepCurrent}
	r.check.Resource = icon
	if icon == nil {
		r.number.Show()
		r.check.Hide()
	} else {
		r.number.Hide()
		r.check.Show()
	}
	r.word.Text, r.word.Color, r.word.TextSize = s.text, themeColor(s, word), s.Theme().Size(SizeBody)
	r.word.TextStyle = fyne.TextStyle{Bold: s.state == StepCurrent}
	if r.words() {
		r.word.Show()
	} else {
		r.word.Hide()
	}
	r.bg.FillColor, r.bg.StrokeWidth, r.bg.CornerRadius = nil, 0, 6
	if s.hovered && !s.Disabled() {
		r.bg.FillColor = themeColor(s, theme.ColorNameHover)
	}
	if s.focused {
		r.bg.StrokeWidth, r.bg.StrokeColor = 1, themeColor(s, ColorAccent)
	}
}

// words says whether the item's word is shown.
func (r *stepRenderer) words() bool { return !r.s.rail.flat || r.s.state == StepCurrent }

func (r *stepRenderer) Layout(size fyne.Size) {
	r.bg.Resize(size)
	y := (size.Height - stepRing) / 2
	r.ring.Move(fyne.NewPos(6, y))
	r.ring.Resize(fyne.NewSquareSize(stepRing))
	m := r.number.MinSize()
	r.number.Move(fyne.NewPos(6+(stepRing-m.Width)/2, (size.Height-m.Height)/2))
	r.number.Resize(m)
	r.check.Move(fyne.NewPos(6+(stepRing-12)/2, (size.Height-12)/2))
	r.check.Resize(fyne.NewSquareSize(12))
	w := r.word.MinSize()
	r.word.Move(fyne.NewPos(6+stepRing+10, (size.Height-w.Height)/2))
	r.word.Resize(w)
}

func (r *stepRenderer) MinSize() fyne.Size {
	if !r.words() {
		return fyne.NewSize(stepRing+12, Grown(36))
	}
	bold := fyne.MeasureText(r.word.Text, r.word.TextSize, fyne.TextStyle{Bold: true}) // the rail does not move when a step is entered
	return fyne.NewSize(6+stepRing+10+bold.Width+8, Grown(36))
}

func (r *stepRenderer) Refresh() {
	r.paint()
	r.Layout(r.s.BaseWidget.Size())
	r.check.Refresh()
	canvas.Refresh(r.s)
}
func (r *stepRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *stepRenderer) Destroy()                     {}
