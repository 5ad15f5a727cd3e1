package desktop

import (
	"context"
	"fmt"
	"path"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/docs"
	"sandglass/widgets"
)

// topicOf is what F1 opens on a page, where the page does not know better (helpTopic).
var topicOf = map[string]string{
	"first": "first-run", "week": "hours", "runs": "collect", "run": "collect", "plan": "plan", "experiments": "experiments", "settings": "trouble",
}

// stepTopics is what F1 opens on a step of the wizard.
var stepTopics = [stepCount]string{
	stepProject: "new-run", stepInputs: "new-run", stepAccelerator: "accelerator", stepHours: "hours", stepRehearse: "rehearse", stepReview: "new-run",
}

// helpFor names the topic of what the window shows.
func helpFor(at route, p page) string {
	if w, ok := p.(*newPage); ok {
		return stepTopics[w.w.at]
	}
	return topicOf[at.page]
}

// help opens the topic of the visible page; on the Help page itself it goes to the search.
func (s *shell) help() {
	from := s.visible.Load()
	if from == nil {
		return
	}
	if p, ok := from.page.(*helpPage); ok {
		p.find()
		return
	}
	topic := helpFor(from.at, from.page)
	s.open(route{page: "help"}, true)
	if p, ok := s.currentPage().(*helpPage); ok {
		p.leave = nil
		if from.at.page == "first" { // which the shell does not remember
			p.leave = func() { s.open(from.at, false) }
		}
		p.start(topic)
	}
}

// helpPage is the user's guide: its topics with a search at the left, the topic at the right. All of it is in the program.
type helpPage struct {
	h      host
	root   *fyne.Container
	head   *widgets.PageHeader
	search *entry
	list   *fyne.Container
	scroll *reader
	body   *fyne.Container

	guide   []topic
	shown   string // slug
	article article
	past    []string // topics that links led away from
	leave   func()   // back to where the help was opened; nil = the shell knows the way
}

func newHelpPage(h host) *helpPage {
	p := &helpPage{h: h, guide: readGuide(docs.Guide), list: widgets.VBox(0), body: container.NewStack()}
	p.search = newEntry(h, lang.L("Search the help"))
	p.search.OnChanged = func(string) { p.showList() }
	p.search.OnSubmitted = func(words string) {
		if hits := searchGuide(p.guide, words); len(hits) > 0 {
			p.open(hits[0].slug, hits[0].at)
			p.Shown() // and the arrow keys read on
		}
	}
	h.Mark("help.search", p.search)
	p.head = widgets.NewPageHeader(lang.L("Help"))
	p.scroll = newReader(widgets.Pad(0, widgets.Gap12, widgets.Gap24, 0, widgets.AtMostWide(640, p.body)))
	left := container.NewBorder(widgets.Pad(0, 0, widgets.Gap8, 0, p.search), nil, nil, nil, container.NewVScroll(widgets.Pad(0, widgets.Gap12, 0, 0, p.list)))
	p.root = pageFrame(p.head, container.NewBorder(nil, nil, widgets.Pad(0, widgets.Gap24, 0, 0, container.New(fixedWidth(224), left)), nil, p.scroll))
	p.start("")
	return p
}

// Object implements page.
func (p *helpPage) Object() fyne.CanvasObject { return p.root }

// Wants implements page: the guide is part of the program, so nothing that happens makes it stale.
func (p *helpPage) Wants(app.Event) bool { return false }

// Load implements page.
func (p *helpPage) Load(context.Context) func() { return nil }

// Shown gives the arrow keys to the text.
func (p *helpPage) Shown() {
	if win := p.h.Window(); win != nil {
		win.Canvas().Focus(p.scroll)
	}
}

// Hidden implements page.
func (p *helpPage) Hidden() {}

// status names the topic, for a driving script.
func (p *helpPage) status() string { return p.shown }

// find puts the keyboard into the search.
func (p *helpPage) find() {
	if win := p.h.Window(); win != nil {
		win.Canvas().Focus(p.search)
	}
}

// escape empties the search, goes back to the topic whose link was followed, or to the first launch.
func (p *helpPage) escape() bool {
	switch {
	case p.search.Text != "":
		p.search.SetText("")
	case len(p.past) > 0:
		last := p.past[len(p.past)-1]
		p.past = p.past[:len(p.past)-1]
		p.show(last, "")
	case p.leave != nil:
		p.leave()
	default:
		// The text has the keyboard from the start: to go back one Escape is enough.
		if win := p.h.Window(); win != nil && win.Canvas().Focused() == fyne.Focusable(p.scroll) {
			win.Canvas().Unfocus()
		}
		return false
	}
	return true
}

// start shows a topic with nothing behind it. "" is the topic that was shown last, or the first one.
func (p *helpPage) start(slug string) {
	if slug == "" {
		slug = p.shown
	}
	if find(p.guide, slug) == nil {
		slug = p.guide[0].slug
	}
	p.past = nil
	p.search.SetText("")
	p.show(slug, "")
}

// open shows a topic, at a heading if one is named, and remembers the way back.
func (p *helpPage) open(slug, at string) {
	if slug != p.shown && p.shown != "" {
		p.past = append(p.past, p.shown)
	}
	p.show(slug, at)
}

func (p *helpPage) show(slug, at string) {
	t := find(p.guide, slug)
	if t == nil {
		return
	}
	if p.shown != slug || p.article.body == nil {
		p.shown = slug
		p.article = renderTopic(t.text, p.follow, p.copy)
		p.body.Objects = []fyne.CanvasObject{p.article.body}
		p.body.Refresh()
		p.head.Note.Set(t.title)
	}
	p.showList()
	p.scroll.scroll.ScrollToTop()
	if to := p.article.anchors[at]; to != nil {
		// The text is broken into lines when it has its width, so where a heading stands is known after that.
		p.h.Do(func() { p.scroll.reveal(to) })
	}
}

// showList lists the topics, or those where the words of the search occur.
func (p *helpPage) showList() {
	p.list.RemoveAll()
	if words := strings.TrimSpace(p.search.Text); words != "" {
		hits := searchGuide(p.guide, words)
		if len(hits) == 0 {
			p.list.Add(widgets.Pad(widgets.Gap4, 0, 0, widgets.Gap8, widgets.Muted(lang.L("Nothing has all of these words. Fewer words find more.")).Wrapped()))
		}
		for _, h := range hits {
			p.list.Add(p.row(h.topic, h.line, h.at))
		}
	} else {
		group := ""
		for _, t := range p.guide {
			if t.group != group {
				group = t.group
				p.list.Add(widgets.Pad(widgets.Gap12, 0, widgets.Gap4, widgets.Gap8, widgets.Caption(group)))
			}
			p.list.Add(p.row(t, "", ""))
		}
	}
	p.list.Refresh()
}

// row is a topic in the list, with the line that was found in it.
func (p *helpPage) row(t topic, line, at string) fyne.CanvasObject {
	title := widgets.Muted(t.title).Truncated()
	if t.slug == p.shown {
		title = widgets.Strong(t.title).Truncated()
	}
	words := widgets.VBox(2, title)
	if line != "" {
		words.Add(widgets.Caption(line).Wrapped())
	}
	r := widgets.NewTapRow(widgets.Pad(6, widgets.Gap8, 6, widgets.Gap8, words), func() { p.open(t.slug, at) })
	p.h.Mark("help.topic."+t.slug, r)
	if t.slug == p.shown {
		return widgets.NewPanel(widgets.ColorSelected, r)
	}
	return r
}

// follow goes where a link leads: to a topic, or out of the program. Other files of the project are read on the web.
func (p *helpPage) follow(to string) {
	if slug, at, ok := topicLink(to); ok && find(p.guide, slug) != nil {
		p.open(slug, at)
		return
	}
	if strings.HasPrefix(to, "#") {
		p.show(p.shown, to[1:])
		return
	}
	p.h.OpenURL(to)
}

func (p *helpPage) copy(text string) {
	fyne.CurrentApp().Clipboard().SetContent(text)
	p.h.Toast(fmt.Sprintf(lang.L("Copied: %s"), firstLine(text)))
}

func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " …"
	}
	return line
}

// topicLink reads a link between the pages of the guide: "hours.md#cap", "../tpu.md".
func topicLink(to string) (slug, at string, ok bool) {
	file, at, _ := strings.Cut(to, "#")
	if strings.Contains(file, "://") || path.Ext(file) != ".md" {
		return "", "", false
	}
	return strings.TrimSuffix(path.Base(file), ".md"), at, true
}
