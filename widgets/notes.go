package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// EmptyState fills the place of content that is not there yet: a symbol, a title, one sentence, at most one action.
type EmptyState struct {
	widget.BaseWidget
	Icon    Icon
	Title   *Text
	Text    *Text
	Action  *Button // hidden while its text is empty
	iconBox *IconView
}

// NewEmptyState makes an empty state. action "" shows no button.
func NewEmptyState(icon Icon, title, text, action string, tapped func()) *EmptyState {
	e := &EmptyState{Icon: icon, Title: Strong(title), Text: Muted(text).Wrapped(), Action: NewButton(action, nil, tapped)}
	e.Title.Align, e.Text.Align = fyne.TextAlignCenter, fyne.TextAlignCenter
	e.iconBox = NewIcon(icon, ColorMuted, 32)
	e.showAction()
	e.ExtendBaseWidget(e)
	return e
}

func (e *EmptyState) showAction() {
	if e.Action.Text == "" {
		e.Action.Hide()
	} else {
		e.Action.Show()
	}
}

// Set changes the words and the action.
func (e *EmptyState) Set(icon Icon, title, text, action string, tapped func()) {
	e.Icon = icon
	e.iconBox.Set(icon, ColorMuted)
	e.Title.Set(title)
	e.Text.Set(text)
	e.Action.OnTapped = tapped
	if e.Action.Text != action {
		e.Action.SetText(action)
	}
	e.showAction()
	e.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (e *EmptyState) CreateRenderer() fyne.WidgetRenderer {
	e.ExtendBaseWidget(e)
	col := container.New(centredColumn{width: 420}, e.iconBox, e.Title, e.Text, container.NewCenter(e.Action))
	return widget.NewSimpleRenderer(col)
}

// centredColumn stacks its objects in the middle of the space at a readable width.
type centredColumn struct{ width float32 }

func (l centredColumn) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, x := range o {
		if x.Visible() {
			m := x.MinSize()
			s = fyne.NewSize(max(s.Width, m.Width), s.Height+m.Height+Gap12)
		}
	}
	return s
}

func (l centredColumn) Layout(o []fyne.CanvasObject, s fyne.Size) {
	w := min(l.width, s.Width)
	for _, x := range o { // widths first: a wrapped text knows its height only then
		x.Resize(fyne.NewSize(w, x.MinSize().Height))
	}
	y := max(0, (s.Height-l.MinSize(o).Height)/2)
	for _, x := range o {
		if !x.Visible() {
			continue
		}
		h := x.MinSize().Height
		x.Move(fyne.NewPos((s.Width-w)/2, y))
		x.Resize(fyne.NewSize(w, h))
		y += h + Gap12
	}
}

// Banner is a line across the page that asks for attention: a symbol, bold words, plain words, at most one action.
type Banner struct {
	widget.BaseWidget
	Strong, Text *Text
	Color        fyne.ThemeColorName
	Action       *Button
	icon         *IconView
}

// NewBanner makes a banner in the colour of a warning.
func NewBanner(strong, text, action string, tapped func()) *Banner {
	b := &Banner{Strong: Strong(strong), Text: Muted(text).Wrapped(), Color: ColorWarning, Action: NewButton(action, nil, tapped)}
	b.icon = NewIcon(IconWarning, ColorWarning, 18)
	if action == "" {
		b.Action.Hide()
	}
	b.ExtendBaseWidget(b)
	return b
}

// Set changes colour and words; action "" hides the button.
func (b *Banner) Set(color fyne.ThemeColorName, strong, text, action string) {
	b.Color = color
	b.Strong.Set(strong)
	b.Text.Set(text)
	icon := IconWarning
	if color == ColorGood {
		icon = IconCheck
	} else if color != ColorWarning && color != ColorBad {
		icon = IconInfo
	}
	b.icon.Set(icon, color)
	if b.Action.Text != action {
		b.Action.SetText(action)
	}
	if action == "" {
		b.Action.Hide()
	} else {
		b.Action.Show()
	}
	b.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (b *Banner) CreateRenderer() fyne.WidgetRenderer {
	b.ExtendBaseWidget(b)
	r := &boxRenderer{rect: canvas.NewRectangle(nil), min: fyne.NewSize(0, 44)}
	r.paint = func() {
		r.rect.FillColor, r.rect.StrokeColor = themeColor(b, ColorSurface), themeColor(b, b.Color)
		r.rect.StrokeWidth, r.rect.CornerRadius = 1, b.Theme().Size(SizeRadius)
	}
	r.paint()
	r.objects = []fyne.CanvasObject{r.rect, container.New(&bannerLayout{}, b.icon, b.Strong, b.Text, b.Action)}
	return r
}

// bannerLayout sets the plain words beside the bold ones where they fit on one line, else below them.
type bannerLayout struct{ width float32 }

func (l *bannerLayout) place(o []fyne.CanvasObject, s fyne.Size, move bool) float32 {
	icon, strong, text, action := o[0], o[1], o[2], o[3]
	left, right := Gap16+18+Gap12, s.Width-Gap12
	if action.Visible() {
		m := action.MinSize()
		right -= m.Width
		if move {
			action.Move(fyne.NewPos(right, (s.Height-m.Height)/2))
			action.Resize(m)
		}
		right -= Gap16
	}
	sm := strong.MinSize()
	room := right - left
	words := text.(*Text)
	one := fyne.MeasureText(words.Text, words.size(), words.Style).Width
	inline := sm.Width+Gap8+one <= room
	x, w := left, room
	if inline {
		x, w = left+sm.Width+Gap8, room-sm.Width-Gap8
	}
	text.Resize(fyne.NewSize(max(w, 10), sm.Height))
	th := text.MinSize().Height
	block := sm.Height
	if !inline && words.Text != "" {
		block += th + 2
	}
	if move {
		y := (s.Height - block) / 2
		icon.Move(fyne.NewPos(Gap16, (s.Height-18)/2))
		icon.Resize(fyne.NewSquareSize(18))
		strong.Move(fyne.NewPos(left, y))
		strong.Resize(sm)
		if !inline {
			y += sm.Height + 2
		}
		text.Move(fyne.NewPos(x, y))
		text.Resize(fyne.NewSize(max(w, 10), th))
	}
	return block
}

func (l *bannerLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	w := l.width
	if w == 0 {
		w = 600
	}
	return fyne.NewSize(200, max(48, l.place(o, fyne.NewSize(w, 48), false)+2*Gap12))
}

func (l *bannerLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	l.width = s.Width
	l.place(o, s, true)
}
