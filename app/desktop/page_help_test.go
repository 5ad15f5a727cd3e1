package desktop

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/yuin/goldmark/ast"

	"sandglass/docs"
	"sandglass/widgets"
)

// Every page of the guide is in the index, has a title and one line of it, and can be shown.
func TestEveryTopicIsInTheIndexAndCanBeShown(t *testing.T) {
	defer widgets.DrawInline()()
	test.NewTempApp(t).Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	guide := readGuide(docs.Guide)
	files, err := fs.Glob(docs.Guide, "guide/*.md")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range append(files, "scripts.md", "tpu.md") {
		if slug := strings.TrimSuffix(path.Base(f), ".md"); slug != "index" && find(guide, slug) == nil {
			t.Errorf("%s is not in guide/index.md", f)
		}
	}
	for _, topic := range guide {
		if topic.title == "" || topic.group == "" {
			t.Errorf("%s: title %q under %q", topic.slug, topic.title, topic.group)
		}
		if h, ok := parseMarkdown(topic.text).FirstChild().(*ast.Heading); !ok || h.Level != 1 {
			t.Errorf("%s does not begin with a title", topic.slug)
		}
		a := renderTopic(topic.text, func(string) {}, func(string) {})
		if len(a.body.Objects) < 3 {
			t.Errorf("%s has %d blocks", topic.slug, len(a.body.Objects))
		}
		for _, b := range parts(topic.text) {
			if strings.TrimSpace(b.text) == "" {
				t.Errorf("%s has an empty block", topic.slug)
			}
		}
	}
}

// A link of the guide leads to a topic, to a heading that exists, or to the web.
func TestEveryLinkOfTheGuideLeadsSomewhere(t *testing.T) {
	guide := readGuide(docs.Guide)
	index, err := fs.ReadFile(docs.Guide, "guide/index.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := append([]topic{{slug: "index", text: index}}, guide...)
	headings := map[string]bool{}
	for _, p := range guide {
		for _, b := range parts(p.text) {
			if b.heading {
				headings[p.slug+"#"+anchor(b.text)] = true
			}
		}
	}
	for _, p := range pages {
		eachNode(parseMarkdown(p.text), func(n ast.Node) {
			link, ok := n.(*ast.Link)
			if !ok {
				return
			}
			to := string(link.Destination)
			folder := "guide"
			if p.slug == "scripts" || p.slug == "tpu" {
				folder = "."
			}
			slug, at, inside := topicLink(to)
			switch {
			case strings.HasPrefix(to, "https://"):
			case strings.HasPrefix(to, "#"):
				if !headings[p.slug+to] {
					t.Errorf("%s: no heading for %s", p.slug, to)
				}
			case !inside || find(guide, slug) == nil:
				t.Errorf("%s: %s leads nowhere in the help", p.slug, to)
			case at != "" && !headings[slug+"#"+at]:
				t.Errorf("%s: no heading for %s", p.slug, to)
			default: // and the file is where the link says, for who reads it on the web
				file, _, _ := strings.Cut(to, "#")
				if _, err := fs.Stat(docs.Guide, path.Join(folder, file)); err != nil {
					t.Errorf("%s: %v", p.slug, err)
				}
			}
		})
	}
}

func TestF1OpensATopicThatExists(t *testing.T) {
	guide := readGuide(docs.Guide)
	for page, slug := range topicOf {
		if find(guide, slug) == nil {
			t.Errorf("%s opens %q, which is no topic", page, slug)
		}
	}
	for at, slug := range stepTopics {
		if find(guide, slug) == nil {
			t.Errorf("step %d opens %q, which is no topic", at, slug)
		}
	}
}

func TestHelpSearch(t *testing.T) {
	guide := []topic{
		{slug: "a", title: "Caps", text: []byte("# Caps\n\nWords.\n\n## Killed\n\nA session that its **cap** killed keeps\nwhat it saved.\n")},
		{slug: "b", title: "Other", text: []byte("# Other\n\n| a | b |\n| --- | --- |\n| exit code 3 | a cap |\n\n    sandglass push DIR\n")},
	}
	for _, c := range []struct{ query, want string }{
		{"", ""},
		{"CAP", `a "Caps" at "caps"; b "exit code 3 · a cap" at "other"`},
		{"cap saved", `a "A session that its cap killed keeps what it saved." at "killed"`},
		{"push", `b "sandglass push DIR" at "other"`},
		{"cap nowhere", ""},
	} {
		var got []string
		for _, h := range searchGuide(guide, c.query) {
			got = append(got, fmt.Sprintf("%s %q at %q", h.slug, h.line, h.at))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%q: got %s, want %s", c.query, s, c.want)
		}
	}
	long := strings.Repeat("word ", 40) + "needle " + strings.Repeat("more ", 40)
	if got := around(long, []string{"needle"}); !strings.HasPrefix(got, "… word") || !strings.Contains(got, "needle") || !strings.HasSuffix(got, " …") || len(got) > snippet+10 {
		t.Errorf("around gives %q", got)
	}
}

// Fyne's own reader of Markdown puts a space before what is not plain text, and has no tables.
func TestWordsKeepTheirSpaces(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	source := []byte("Say (`--json`), **now**/*later* or\nread [the page](x.md).\n")
	r := &renderer{source: source, follow: func(string) {}}
	var got string
	for _, s := range r.inline(parseMarkdown(source).FirstChild(), fyne.TextStyle{}) {
		got += s.text
	}
	if want := "Say (--json), now/later or read the page."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinesBreakBetweenWords(t *testing.T) {
	mono := fyne.TextStyle{Monospace: true}
	letters := func(text string, _ fyne.TextStyle) float32 { return float32(len([]rune(text))) }
	for _, c := range []struct {
		width float32
		parts []stretch
		want  string
	}{
		{20, []stretch{{text: "runs in 95 of 100 ("}, {text: "--confidence", style: mono}, {text: ")"}}, "runs in 95 of 100/(|--confidence|)"},
		{12, []stretch{{text: "see "}, {text: "the wizard", to: "new-run.md"}, {text: ", then go"}}, "see|the/wizard|, then/go"},
		{6, []stretch{{text: "a longestword b"}}, "a/longes/tword/b"},
		{6, []stretch{{text: "ab"}, {text: "cdefgh", style: mono}}, "ab|cdef/gh"},
		{10, nil, ""},
	} {
		var lines []string
		for _, line := range breakLines(c.parts, c.width, letters) {
			var pieces []string
			for _, p := range line {
				pieces = append(pieces, p.text)
			}
			lines = append(lines, strings.Join(pieces, "|"))
		}
		if got := strings.Join(lines, "/"); got != c.want {
			t.Errorf("width %.0f: got %s, want %s", c.width, got, c.want)
		}
	}
}

func TestHelpFollowsLinksAndComesBack(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	h := &stage{}
	p := newHelpPage(h)
	first, second := p.guide[0].slug, p.guide[1].slug
	p.follow(second + ".md")
	if p.shown != second {
		t.Errorf("a link to %s shows %s", second, p.shown)
	}
	p.follow("https://www.kaggle.com/settings")
	if len(h.urls) != 1 || p.shown != second {
		t.Errorf("a link out opened %v and shows %s", h.urls, p.shown)
	}
	p.search.SetText("nothing has these words xyzzy")
	if !p.escape() || p.search.Text != "" {
		t.Error("Escape does not empty the search")
	}
	if !p.escape() || p.shown != first {
		t.Errorf("Escape shows %s, want %s", p.shown, first)
	}
	if p.escape() {
		t.Error("Escape keeps the page although nothing is left to go back to")
	}
	left := false
	p.leave = func() { left = true }
	if !p.escape() || !left {
		t.Error("from the first launch Escape does not lead back")
	}
}

func TestTheHelpInEverySize(t *testing.T) {
	defer widgets.DrawInline()()
	for _, mode := range []widgets.Mode{widgets.ModeLight, widgets.ModeDark} {
		a := test.NewTempApp(t)
		a.Settings().SetTheme(widgets.NewTheme(mode, 1))
		for _, size := range []fyne.Size{{Width: 1399, Height: 1000}, {Width: 699, Height: 600}} {
			p := newHelpPage(&stage{})
			for _, slug := range []string{"first-run", "hours", "trouble"} {
				p.start(slug)
				tag := fmt.Sprintf("help-%s-%d-%.0f", slug, mode, size.Width)
				capture(t, tag, p.Object(), mode, size, 1)
				if slug == "hours" {
					capture(t, tag+"-2x", p.Object(), mode, size, 2)
				}
			}
			p.search.SetText("cap hours")
			capture(t, fmt.Sprintf("help-search-%d-%.0f", mode, size.Width), p.Object(), mode, size, 1)
			p.search.SetText("xyzzy")
			capture(t, fmt.Sprintf("help-nothing-%d-%.0f", mode, size.Width), p.Object(), mode, size, 1)
		}
	}
}

// A link to a heading brings it to the top, although its place is known only when the text has been broken into lines.
func TestALinkToAHeadingScrollsThere(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	p := newHelpPage(&stage{})
	w := test.NewWindow(p.Object())
	defer w.Close()
	w.Resize(fyne.NewSize(700, 400))
	p.start("scripts")
	p.show("scripts", "templates")
	if p.scroll.scroll.Offset.Y == 0 {
		t.Error("the text did not scroll")
	}
}

func TestF1OpensTheHelpOfThePageAndEscapeLeadsBack(t *testing.T) {
	s, _, _ := openShell(t, t.TempDir())
	key := func(k fyne.KeyName) {
		ev := &fyne.KeyEvent{Name: k}
		if f := s.win.Canvas().Focused(); f != nil {
			f.TypedKey(ev)
		} else {
			s.win.Canvas().OnTypedKey()(ev)
		}
	}
	topic := func() string {
		if p, ok := s.currentPage().(*helpPage); ok {
			return p.shown
		}
		return ""
	}
	for _, c := range []struct{ page, topic string }{{"first", "first-run"}, {"week", "hours"}, {"plan", "plan"}, {"experiments", "experiments"}, {"new", "new-run"}} {
		s.Go(c.page)
		if p, ok := s.currentPage().(*newPage); ok {
			p.w.at = stepProject
			s.win.Canvas().Focus(newEntry(s, "")) // F1 works in a field as well
		}
		key(fyne.KeyF1)
		if topic() != c.topic {
			t.Errorf("F1 on %s shows %q, want %q", c.page, topic(), c.topic)
		}
		key(fyne.KeyF1) // the search
		if s.win.Canvas().Focused() != fyne.Focusable(s.currentPage().(*helpPage).search) {
			t.Error("F1 in the help is not its search")
		}
		key(fyne.KeyEscape)
		key(fyne.KeyEscape)
		if at := s.visible.Load().at.page; at != c.page {
			t.Errorf("Escape in the help of %s leads to %s", c.page, at)
		}
	}
	if n := len(s.history); n > 5 {
		t.Errorf("the help left %d places in the history", n)
	}
}
