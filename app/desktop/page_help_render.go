package desktop

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"sandglass/widgets"
)

// article is a rendered topic: its blocks, and where its headings are.
type article struct {
	body    *fyne.Container
	anchors map[string]fyne.CanvasObject
}

// renderer turns Markdown into widgets. Fyne's own RichTextFromMarkdown knows no tables, and puts a space before everything that
// is not plain text ("( `x`").
type renderer struct {
	source  []byte
	follow  func(to string)
	copy    func(text string)
	anchors map[string]fyne.CanvasObject
}

// renderTopic shows a page of the guide. Its first heading is left out: it is the page's title.
func renderTopic(content []byte, follow, copyText func(string)) article {
	r := &renderer{source: content, follow: follow, copy: copyText, anchors: map[string]fyne.CanvasObject{}}
	body := widgets.VBox(widgets.Gap4)
	for n := parseMarkdown(content).FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 1 {
			continue
		}
		body.Add(r.block(n))
	}
	return article{body: body, anchors: r.anchors}
}

// block is one paragraph, list, table, heading or piece of code.
func (r *renderer) block(n ast.Node) fyne.CanvasObject {
	switch n := n.(type) {
	case *ast.Heading:
		h := widgets.Pad(widgets.Gap12, 0, 0, 0, r.words(n, fyne.TextStyle{Bold: true}))
		r.anchors[anchor(plain(n, r.source))] = h
		return h
	case *ast.List:
		return r.list(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return r.code(code(n, r.source))
	case *extast.Table:
		return r.table(n)
	}
	return r.words(n, fyne.TextStyle{})
}

func (r *renderer) list(l *ast.List) fyne.CanvasObject {
	box := widgets.VBox(0)
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "•"
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d.", number)
			number++
		}
		blocks := widgets.VBox(0)
		for b := item.FirstChild(); b != nil; b = b.NextSibling() {
			blocks.Add(r.block(b))
		}
		sign := widgets.Pad(widgets.Gap4, 0, 0, 0, newProse([]stretch{{text: mark}}, widgets.ColorMuted, nil))
		box.Add(container.NewBorder(nil, nil, container.New(fixedWidth(22), sign), nil, blocks))
	}
	return box
}

// code is a block to copy into a terminal. Long lines are broken: a block that scrolled sideways would hold up the page's own
// scrolling under the pointer.
func (r *renderer) code(text string) fyne.CanvasObject {
	body := widget.NewRichText(&widget.TextSegment{Text: text, Style: widget.RichTextStyle{SizeName: widgets.SizeMono, ColorName: widgets.ColorText, TextStyle: fyne.TextStyle{Monospace: true}}})
	body.Wrapping = fyne.TextWrapWord
	take := widgets.NewTapIcon(widgets.IconCopy.Resource(), func() { r.copy(text) })
	return widgets.Pad(widgets.Gap4, 0, widgets.Gap4, 0, widgets.NewPanel(widgets.ColorTrack,
		widgets.Pad(widgets.Gap4, widgets.Gap4, widgets.Gap4, widgets.Gap4, container.NewBorder(nil, nil, nil, widgets.VBox(0, take), body))))
}

// table puts cells beside each other, each column as wide as its longest cell asks for, within bounds.
func (r *renderer) table(t *extast.Table) fyne.CanvasObject {
	var rows [][]ast.Node
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []ast.Node
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, c)
		}
		rows = append(rows, cells)
	}
	weights := make([]float32, len(rows[0]))
	for _, cells := range rows {
		for i, c := range cells {
			weights[i] = max(weights[i], float32(min(max(len([]rune(plain(c, r.source))), 10), 36)))
		}
	}
	box := widgets.VBox(0)
	for i, cells := range rows {
		style := fyne.TextStyle{Bold: i == 0}
		var objects []fyne.CanvasObject
		for _, c := range cells {
			objects = append(objects, r.words(c, style))
		}
		box.Add(widgets.Columns(widgets.Gap16, 0, weights, objects...))
		box.Add(widgets.NewHairline())
	}
	return widgets.Pad(widgets.Gap4, 0, widgets.Gap8, 0, box)
}

// words is running text with its links, code and emphasis.
func (r *renderer) words(n ast.Node, style fyne.TextStyle) fyne.CanvasObject {
	return widgets.Pad(widgets.Gap4, 0, widgets.Gap4, 0, newProse(r.inline(n, style), widgets.ColorText, r.follow))
}

func (r *renderer) inline(n ast.Node, style fyne.TextStyle) []stretch {
	var out []stretch
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			text := string(c.Value(r.source))
			if c.SoftLineBreak() || c.HardLineBreak() {
				text += " "
			}
			out = append(out, stretch{text: text, style: style})
		case *ast.CodeSpan:
			mono := style
			mono.Monospace = true
			out = append(out, stretch{text: plain(c, r.source), style: mono})
		case *ast.Emphasis:
			inner := style
			inner.Bold, inner.Italic = inner.Bold || c.Level == 2, inner.Italic || c.Level == 1
			out = append(out, r.inline(c, inner)...)
		case *ast.Link:
			out = append(out, stretch{text: plain(c, r.source), style: style, to: string(c.Destination)})
		default:
			out = append(out, stretch{text: plain(c, r.source), style: style})
		}
	}
	return out
}

func isRow(n ast.Node) bool {
	return slices.Contains([]ast.NodeKind{extast.KindTableRow, extast.KindTableHeader}, n.Kind())
}
func isCell(n ast.Node) bool { return n.Kind() == extast.KindTableCell }

// reader scrolls what does not fit, also by the arrow keys, the page keys, Home, End and space.
type reader struct {
	widget.BaseWidget
	scroll *container.Scroll
}

var _ fyne.Focusable = (*reader)(nil)

func newReader(content fyne.CanvasObject) *reader {
	r := &reader{scroll: container.NewVScroll(content)}
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer implements fyne.Widget.
func (r *reader) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.scroll) }

// FocusGained implements fyne.Focusable.
func (r *reader) FocusGained() {}

// FocusLost implements fyne.Focusable.
func (r *reader) FocusLost() {}

// TypedRune implements fyne.Focusable.
func (r *reader) TypedRune(rune) {}

// TypedKey scrolls, and hands the window the keys that do not.
func (r *reader) TypedKey(ev *fyne.KeyEvent) {
	page := r.scroll.Size().Height * 0.9
	switch ev.Name {
	case fyne.KeyUp:
		r.by(-48)
	case fyne.KeyDown:
		r.by(48)
	case fyne.KeyPageUp:
		r.by(-page)
	case fyne.KeyPageDown, fyne.KeySpace:
		r.by(page)
	case fyne.KeyHome:
		r.scroll.ScrollToTop()
	case fyne.KeyEnd:
		r.scroll.ScrollToBottom()
	default:
		widgets.HandUp(r, ev)
	}
}

func (r *reader) by(dy float32) {
	r.scroll.ScrollToOffset(r.scroll.Offset.AddXY(0, dy))
}

// reveal brings an object inside to the top.
func (r *reader) reveal(o fyne.CanvasObject) {
	driver := fyne.CurrentApp().Driver()
	to := driver.AbsolutePositionForObject(o).Y - driver.AbsolutePositionForObject(r.scroll).Y
	r.scroll.ScrollToOffset(r.scroll.Offset.AddXY(0, to))
}
