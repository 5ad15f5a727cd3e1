package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

var _ fyne.Widget = (*Card)(nil)

// Card is a surface with one hairline border, an optional title line and a body.
type Card struct {
	widget.BaseWidget
	Title   *Text             // hidden while empty
	Aside   fyne.CanvasObject // right end of the title line; may be nil
	Content fyne.CanvasObject
	Border  fyne.ThemeColorName // "" = ColorBorder
	Tight   bool                // no padding: a table fills its card

	body *fyne.Container
}

// NewCard makes a card. aside and content may be nil.
func NewCard(title string, aside, content fyne.CanvasObject) *Card {
	c := &Card{Title: Strong(title).Truncated(), Aside: aside, Content: content}
	c.ExtendBaseWidget(c)
	return c
}

// SetContent replaces the body.
func (c *Card) SetContent(o fyne.CanvasObject) {
	c.Content = o
	c.Refresh()
}

// SetBorder changes the border's colour.
func (c *Card) SetBorder(name fyne.ThemeColorName) {
	c.Border = name
	c.Refresh()
}

func (c *Card) build() {
	parts := []fyne.CanvasObject{}
	var header fyne.CanvasObject
	if c.Title != nil && c.Title.Text != "" {
		header = c.Title
		if c.Aside != nil {
			header = Spread(c.Title, c.Aside)
		}
		header = Pad(0, 0, Gap8, 0, header)
		if c.Tight {
			header = Pad(Gap12, Gap12, 0, Gap12, header)
		}
	}
	if c.Content != nil {
		parts = append(parts, c.Content)
	}
	c.body.Layout = &cardLayout{header: header, tight: c.Tight}
	if header != nil {
		parts = append(parts, header)
	}
	c.body.Objects = parts
	c.body.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (c *Card) CreateRenderer() fyne.WidgetRenderer {
	c.ExtendBaseWidget(c)
	c.body = container.NewWithoutLayout()
	c.build()
	r := &boxRenderer{rect: canvas.NewRectangle(nil)}
	shown := struct {
		content fyne.CanvasObject
		title   bool
	}{c.Content, c.Title.Text != ""}
	r.paint = func() {
		name := c.Border
		if name == "" {
			name = ColorBorder
		}
		r.rect.FillColor, r.rect.StrokeColor = themeColor(c, ColorSurface), themeColor(c, name)
		r.rect.StrokeWidth, r.rect.CornerRadius = 1, c.Theme().Size(SizeRadius)
		if shown.content != c.Content || shown.title != (c.Title.Text != "") {
			shown.content, shown.title = c.Content, c.Title.Text != ""
			c.build()
		}
	}
	r.paint()
	r.objects = []fyne.CanvasObject{r.rect, c.body}
	return r
}

// cardLayout puts the header above the first object, inside the padding.
type cardLayout struct {
	header fyne.CanvasObject
	tight  bool
}

func (l *cardLayout) pad() float32 {
	if l.tight {
		return 1
	}
	return Gap12
}

func (l *cardLayout) content(o []fyne.CanvasObject) fyne.CanvasObject {
	if len(o) > 0 && o[0] != l.header {
		return o[0]
	}
	return nil
}

func (l *cardLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	if l.header != nil {
		s = l.header.MinSize()
	}
	if c := l.content(o); c != nil && c.Visible() {
		m := c.MinSize()
		s = fyne.NewSize(max(s.Width, m.Width), s.Height+m.Height)
	}
	return s.AddWidthHeight(2*l.pad(), 2*l.pad())
}

func (l *cardLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	p := l.pad()
	y, w := p, max(0, s.Width-2*p)
	if l.header != nil {
		h := l.header.MinSize().Height
		l.header.Move(fyne.NewPos(p, y))
		l.header.Resize(fyne.NewSize(w, h))
		y += h
	}
	if c := l.content(o); c != nil {
		c.Move(fyne.NewPos(p, y))
		c.Resize(fyne.NewSize(w, max(0, s.Height-y-p)))
	}
}
