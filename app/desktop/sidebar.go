package desktop

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"sandglass/app"
	"sandglass/widgets"
)

const sidebarWidth = 200

// sideView is what the sidebar says: who we are, whether what is on screen is live, how many runs are in flight.
type sideView struct {
	week     app.WeekView
	Name     string // "mara · Kaggle"
	Line     string // "live, 40 s ago"
	Live     bool
	InFlight int
}

// readSide reads the sidebar's snapshot. It never fails: without an account or a reading it says so.
func readSide(ctx context.Context, core *app.App) sideView {
	acc, err := core.Account(ctx)
	if err != nil {
		return sideView{Name: lang.L("Not signed in"), Line: lang.L("choose in Settings")}
	}
	week, err := core.Week(ctx)
	if err != nil {
		return sideView{Name: acc.Username, Line: lang.L("the run log cannot be read")}
	}
	return newSideView(acc, week, time.Now())
}

func newSideView(acc app.Account, week app.WeekView, now time.Time) sideView {
	v := sideView{week: week, InFlight: len(week.InFlight)}
	v.Name = acc.Username + " · Kaggle"
	if acc.Kind == "sandbox" {
		v.Name = acc.Username + lang.L(" · Sandbox")
	}
	q := week.Quota
	switch {
	case q.FetchedAt.IsZero():
		v.Line = lang.L("not read yet")
	case q.Live:
		v.Live = true
		v.Line = lang.L("live, ") + when(q.FetchedAt, now)
	default:
		v.Line = lang.L("not live, ") + when(q.FetchedAt, now)
	}
	return v
}

// sidebar is the column on the left: New run, the pages, the account.
type sidebar struct {
	withPage *fyne.Container // the column and the page beside it
	items    map[string]*widgets.SidebarItem
	account  *accountChip
}

func newSidebar(s *shell) *sidebar {
	b := &sidebar{items: map[string]*widgets.SidebarItem{}}
	newRun := widgets.NewPrimary(lang.L("New run"), widgets.IconPlus.Resource(), func() { s.NewRun(0) })
	newRun.Alignment = widget.ButtonAlignLeading
	s.Mark("nav.new", newRun)
	wordmark := widgets.Pad(widgets.Gap4, 0, widgets.Gap8, widgets.Gap8, widgets.HBox(widgets.Gap12,
		widgets.NewIcon(widgets.IconHourglass, widgets.ColorAccent, 20), widgets.Middle(widgets.Strong("Sandglass"))))
	column := widgets.VBox(widgets.Gap4, wordmark, widgets.AtLeast(0, 38, newRun), widgets.FixedHeight(4, canvas.NewRectangle(nil)))
	for _, it := range []struct {
		page, label string
		icon        widgets.Icon
	}{
		{"week", lang.L("Week"), widgets.IconWeek},
		{"runs", lang.L("Runs"), widgets.IconRuns},
		{"plan", lang.L("Plan"), widgets.IconPlan},
		{"experiments", lang.L("Experiments"), widgets.IconExperiments},
		{"settings", lang.L("Settings"), widgets.IconSettings},
	} {
		item := widgets.NewSidebarItem(it.icon, it.label, func() { s.Go(it.page) })
		s.Mark("nav."+it.page, item)
		b.items[it.page] = item
		column.Add(item)
	}
	b.account = newAccountChip(func() { s.Go("settings") })
	s.Mark("nav.account", b.account)
	inner := widgets.Pad(widgets.Gap12, widgets.Gap12, widgets.Gap16, widgets.Gap12, container.NewBorder(column, widgets.VBox(widgets.Gap8, b.help(s), b.account), nil, nil))
	left := widgets.AtLeast(sidebarWidth, 0, widgets.NewPanel(widgets.ColorSidebar, inner)) // wider where large words need it
	b.withPage = container.New(besides{}, left, widgets.NewPanel(widgets.ColorBorder, widgets.HBox(0)), s.content)
	return b
}

// help is the entry at the foot: it opens the topic of the page that is shown, as F1 does.
func (b *sidebar) help(s *shell) *widgets.SidebarItem {
	item := widgets.NewSidebarItem(widgets.IconInfo, lang.L("Help"), s.help)
	item.SetCount("F1")
	s.Mark("nav.help", item)
	b.items["help"] = item
	return item
}

// besides lays out the sidebar, a hairline and the page, without gaps.
type besides struct{}

func (besides) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(o[0].MinSize().Width+1+o[2].MinSize().Width, fyne.Max(o[0].MinSize().Height, o[2].MinSize().Height))
}

func (besides) Layout(o []fyne.CanvasObject, size fyne.Size) {
	x := o[0].MinSize().Width
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(fyne.NewSize(x, size.Height))
	o[1].Move(fyne.NewPos(x, 0))
	o[1].Resize(fyne.NewSize(1, size.Height))
	o[2].Move(fyne.NewPos(x+1, 0))
	o[2].Resize(fyne.NewSize(size.Width-x-1, size.Height))
}

// choose marks the page that is shown. A run's page belongs to Runs.
func (b *sidebar) choose(name string) {
	if name == "run" {
		name = "runs"
	}
	for page, item := range b.items {
		item.SetSelected(page == name)
	}
}

func (b *sidebar) show(v sideView) {
	count := ""
	if v.InFlight > 0 {
		count = fmt.Sprint(v.InFlight)
	}
	b.items["runs"].SetCount(count)
	b.account.set(v)
}

// accountChip is the card at the foot: who, where, and how fresh what is on screen is. It opens Settings.
type accountChip struct {
	widget.BaseWidget
	tapped     func()
	name, line *widgets.Text
	dot        *widgets.IconView
	card       *widgets.Card
}

var (
	_ fyne.Tappable  = (*accountChip)(nil)
	_ fyne.Focusable = (*accountChip)(nil)
)

func newAccountChip(tapped func()) *accountChip {
	c := &accountChip{tapped: tapped, dot: widgets.NewIcon(widgets.IconInfo, widgets.ColorMuted, 12)}
	c.name = widgets.NewText("", "", widgets.SizeCaption, fyne.TextStyle{Bold: true}).Truncated()
	c.line = widgets.Caption("").Truncated()
	c.card = widgets.NewCard("", nil, widgets.VBox(widgets.Gap4, c.name,
		container.NewBorder(nil, nil, widgets.Pad(0, widgets.Gap8, 0, 0, widgets.Middle(c.dot)), nil, c.line)))
	c.ExtendBaseWidget(c)
	return c
}

func (c *accountChip) set(v sideView) {
	c.name.Set(v.Name)
	c.line.Set(v.Line)
	if v.Live {
		c.dot.Set(widgets.IconCheck, widgets.ColorGood)
	} else {
		c.dot.Set(widgets.IconInfo, widgets.ColorMuted)
	}
}

// CreateRenderer implements fyne.Widget.
func (c *accountChip) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(c.card)
}

// Tapped opens Settings.
func (c *accountChip) Tapped(*fyne.PointEvent) { c.tapped() }

// FocusGained shows the focus as the card's border.
func (c *accountChip) FocusGained() { c.card.SetBorder(widgets.ColorAccent) }

// FocusLost hides it.
func (c *accountChip) FocusLost() { c.card.SetBorder("") }

// TypedRune implements fyne.Focusable.
func (c *accountChip) TypedRune(rune) {}

// TypedKey opens Settings on Enter and space.
func (c *accountChip) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyReturn || ev.Name == fyne.KeyEnter || ev.Name == fyne.KeySpace {
		c.tapped()
	}
}
