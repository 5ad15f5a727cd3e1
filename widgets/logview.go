package widgets

import (
	"fmt"
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// LogLine is one line of a LogView.
type LogLine struct {
	N     int // its number in the whole log, from 0
	Text  string
	Quiet bool // said by a machine to a machine: steps back
	Warn  bool // from the error stream: said by a mark at the line, not by colour alone
}

// LogKeep is how many lines a LogView holds; older ones are dropped from its view, not from the log.
const LogKeep = 20000

// LogView shows a log that may still grow: it follows the end until the person scrolls away, finds text, copies. A line that is too
// long for the view ends in an ellipsis and is shown whole below when it is chosen.
type LogView struct {
	widget.BaseWidget
	Empty string // shown while there are no lines

	lines   []LogLine // a ring: start is the oldest
	start   int
	dropped int
	total   int
	follow  bool
	matches []int // places of the matching lines, as offsets from the oldest
	match   int
	chosen  int

	list      *widget.List
	find      *widget.Entry
	count     *Text
	state     *Text
	followBox *widget.Check
	empty     *Text
	detail    *widget.Label
	detailBox *fyne.Container
}

// NewLogView makes a view that follows the end.
func NewLogView(empty string) *LogView {
	v := &LogView{Empty: empty, follow: true, chosen: -1, match: -1}
	v.list = widget.NewList(v.Len, v.newRow, v.fillRow)
	v.list.HideSeparators = true
	v.list.OnSelected = v.choose
	v.find = widget.NewEntry()
	v.find.SetPlaceHolder(lang.L("Find in the log"))
	v.find.OnChanged = func(string) { v.search(); v.Next() }
	v.find.OnSubmitted = func(string) { v.Next() }
	v.count, v.state = Caption(""), Caption("")
	v.followBox = widget.NewCheck(lang.L("Follow"), v.SetFollow)
	v.followBox.Checked = true
	v.empty = Muted(empty).Wrapped()
	v.empty.Align = fyne.TextAlignCenter
	v.detail = widget.NewLabel("")
	v.detail.Wrapping, v.detail.Selectable = fyne.TextWrapBreak, true
	v.detail.TextStyle, v.detail.SizeName = fyne.TextStyle{Monospace: true}, SizeMono
	v.detailBox = TopAndRest(0, NewHairline(), AtLeast(0, 64, container.NewVScroll(v.detail)))
	v.detailBox.Hide()
	v.ExtendBaseWidget(v)
	return v
}

// Len is how many lines are held.
func (v *LogView) Len() int { return len(v.lines) }

// End is the number that the next line to append has.
func (v *LogView) End() int { return v.total }

// Line gives a held line, counted from the oldest.
func (v *LogView) Line(i int) LogLine { return v.lines[(v.start+i)%len(v.lines)] }

// Append adds lines at the end. A line whose number is held already replaces what is shown for it: the last line of a live log may
// still be growing.
func (v *LogView) Append(lines ...LogLine) {
	if len(lines) == 0 {
		return
	}
	if len(lines) > LogKeep {
		v.dropped += len(lines) - LogKeep
		lines = lines[len(lines)-LogKeep:]
	}
	for _, l := range lines {
		if back := v.total - l.N; v.total > 0 && back > 0 {
			if back <= len(v.lines) {
				v.lines[(v.start+len(v.lines)-back)%len(v.lines)] = l
			}
			continue
		}
		v.total = l.N + 1
		if len(v.lines) < LogKeep {
			v.lines = append(v.lines, l)
			continue
		}
		v.lines[v.start] = l
		v.start = (v.start + 1) % LogKeep
		v.dropped++
	}
	v.changed()
}

// Replace shows other lines altogether.
func (v *LogView) Replace(lines []LogLine) {
	v.lines, v.start, v.dropped, v.total = nil, 0, 0, 0
	v.chosen = -1
	v.detailBox.Hide()
	if len(lines) == 0 {
		v.changed()
		return
	}
	v.Append(lines...)
}

func (v *LogView) changed() {
	if v.find.Text != "" {
		v.search()
	}
	v.list.Refresh()
	if v.follow {
		v.list.ScrollToBottom()
	}
	text := fmt.Sprintf(lang.L("%d lines"), v.total)
	if v.dropped > 0 {
		text = fmt.Sprintf(lang.L("the last %d of %d lines"), len(v.lines), v.total)
	}
	v.state.Set(text)
	v.Refresh()
}

// SetFollow turns following the end on or off.
func (v *LogView) SetFollow(on bool) {
	v.follow = on
	if v.followBox.Checked != on {
		v.followBox.Checked = on
		v.followBox.Refresh()
	}
	if on {
		v.list.ScrollToBottom()
	}
}

// Following says whether the view follows the end.
func (v *LogView) Following() bool { return v.follow }

// Finder is the entry for the text to find, to be focused by a shortcut.
func (v *LogView) Finder() fyne.Focusable { return v.find }

func (v *LogView) search() {
	v.matches = v.matches[:0]
	v.match = -1
	q := strings.ToLower(v.find.Text)
	if q != "" {
		for i := range v.lines {
			if strings.Contains(strings.ToLower(v.Line(i).Text), q) {
				v.matches = append(v.matches, i)
			}
		}
	}
	v.showCount()
}

// Next goes to the next match, from the last one to the first.
func (v *LogView) Next() { v.step(1) }

// Previous goes to the match before.
func (v *LogView) Previous() { v.step(-1) }

func (v *LogView) step(by int) {
	if len(v.matches) == 0 {
		return
	}
	if v.match < 0 && by < 0 {
		v.match = 0
	}
	v.match = (v.match + by + len(v.matches)) % len(v.matches)
	v.SetFollow(false)
	v.list.Select(v.matches[v.match])
	v.showCount()
}

func (v *LogView) showCount() {
	switch {
	case v.find.Text == "":
		v.count.Set("")
	case len(v.matches) == 0:
		v.count.Set(lang.L("not found"))
	default:
		v.count.Set(fmt.Sprintf(lang.L("%d of %d"), v.match+1, len(v.matches)))
	}
}

func (v *LogView) choose(i widget.ListItemID) {
	if i < 0 || i >= v.Len() {
		return
	}
	v.chosen = i
	l := v.Line(i)
	v.detail.SetText(l.Text)
	v.detailBox.Show()
	if v.follow && i < v.Len()-1 {
		v.SetFollow(false)
	}
	v.Refresh()
}

// Text is everything that is held, for a copy.
func (v *LogView) Text() string {
	var b strings.Builder
	for i := range v.lines {
		b.WriteString(v.Line(i).Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// Copy puts what is held on the clipboard.
func (v *LogView) Copy() { fyne.CurrentApp().Clipboard().SetContent(v.Text()) }

func (v *LogView) newRow() fyne.CanvasObject {
	n := Caption("00000").Right()
	n.Style.Monospace = true
	return container.New(logRow{}, n, Mono("").Truncated())
}

func (v *LogView) fillRow(i widget.ListItemID, o fyne.CanvasObject) {
	if i < 0 || i >= v.Len() {
		return
	}
	l := v.Line(i)
	row := o.(*fyne.Container)
	n, text := row.Objects[0].(*Text), row.Objects[1].(*Text)
	mark := " "
	if l.Warn {
		mark = "!"
	}
	n.Set(fmt.Sprintf("%d%s", l.N+1, mark))
	color := ColorText
	switch {
	case l.Warn:
		color = ColorWarning
	case l.Quiet:
		color = ColorMuted
	}
	text.SetColor(color)
	text.Set(strings.ReplaceAll(l.Text, "\t", "    "))
}

// logRow is the number's column and the rest.
type logRow struct{}

const numberWidth float32 = 56

func (logRow) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(numberWidth+100, o[1].MinSize().Height-2)
}

func (logRow) Layout(o []fyne.CanvasObject, s fyne.Size) {
	o[0].Resize(fyne.NewSize(numberWidth-Gap12, s.Height))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Move(fyne.NewPos(numberWidth, 0))
	o[1].Resize(fyne.NewSize(max(10, s.Width-numberWidth-Gap8), s.Height))
}

// dense takes the list's padding between lines away: a log is read as one block. It asks the app for the theme each time, so that
// a change of theme reaches the log.
type dense struct{}

func (dense) Color(n fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	return fyne.CurrentApp().Settings().Theme().Color(n, v)
}
func (dense) Font(s fyne.TextStyle) fyne.Resource {
	return fyne.CurrentApp().Settings().Theme().Font(s)
}
func (dense) Icon(n fyne.ThemeIconName) fyne.Resource {
	return fyne.CurrentApp().Settings().Theme().Icon(n)
}
func (dense) Size(n fyne.ThemeSizeName) float32 {
	if n == theme.SizeNamePadding {
		return 1
	}
	return fyne.CurrentApp().Settings().Theme().Size(n)
}

// CreateRenderer implements fyne.Widget.
func (v *LogView) CreateRenderer() fyne.WidgetRenderer {
	v.ExtendBaseWidget(v)
	prev := NewQuiet("‹", nil, v.Previous)
	next := NewQuiet("›", nil, v.Next)
	tools := container.NewBorder(nil, nil, HBox(Gap8, AtLeast(240, 30, v.find), Middle(v.count), prev, next),
		HBox(Gap12, Middle(v.state), v.followBox, Middle(NewButton(lang.L("Copy all"), IconCopy.Resource(), v.Copy))), nil)
	list := container.NewThemeOverride(v.list, dense{})
	body := container.NewStack(list, container.New(centredColumn{width: 420}, v.empty))
	r := &logRenderer{v: v, root: TopAndRest(Gap8, tools, container.NewBorder(nil, v.detailBox, nil, nil, body))}
	r.objects = []fyne.CanvasObject{r.root}
	r.sync()
	return r
}

type logRenderer struct {
	v       *LogView
	root    fyne.CanvasObject
	objects []fyne.CanvasObject
}

func (r *logRenderer) sync() {
	if r.v.Len() == 0 {
		r.v.empty.Set(r.v.Empty)
		r.v.empty.Show()
		r.v.list.Hide()
	} else {
		r.v.empty.Hide()
		r.v.list.Show()
	}
}

func (r *logRenderer) Layout(s fyne.Size)           { r.root.Resize(s) }
func (r *logRenderer) MinSize() fyne.Size           { return r.root.MinSize() }
func (r *logRenderer) Refresh()                     { r.sync(); r.root.Refresh() }
func (r *logRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *logRenderer) Destroy()                     {}
