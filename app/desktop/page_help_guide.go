package desktop

import (
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// topic is a page of the guide.
type topic struct {
	slug  string // the file's name without .md
	title string // the words of its link in the index
	group string // the heading in the index above its link
	text  []byte // Markdown
}

// readGuide reads the topics that guide/index.md links to, in its order and under its headings; the index is none of them. The
// files are embedded and a test opens every link, so a file that is missing is left out here.
func readGuide(files fs.FS) []topic {
	raw, err := fs.ReadFile(files, "guide/index.md")
	if err != nil {
		return nil
	}
	var out []topic
	group := ""
	eachNode(parseMarkdown(raw), func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Heading:
			group = plain(n, raw)
		case *ast.Link:
			slug, _, ok := topicLink(string(n.Destination))
			if !ok || find(out, slug) != nil {
				return
			}
			content, err := fs.ReadFile(files, path.Join("guide", string(n.Destination)))
			if err != nil {
				return
			}
			out = append(out, topic{slug: slug, title: plain(n, raw), group: group, text: content})
		}
	})
	return out
}

func find(guide []topic, slug string) *topic {
	for i := range guide {
		if guide[i].slug == slug {
			return &guide[i]
		}
	}
	return nil
}

// hit is a topic that has all words of a search, with the line that has most of them and the heading above it.
type hit struct {
	topic
	line, at string
}

// searchGuide finds the topics in which every word occurs, whatever its case. Those with a word in the title come first.
func searchGuide(guide []topic, query string) []hit {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	var titled, others []hit
	for _, t := range guide {
		if has(strings.ToLower(t.title+"\n"+string(t.text)), words) < len(words) {
			continue
		}
		h := hit{topic: t}
		best, at := 0, ""
		for _, b := range parts(t.text) {
			if b.heading {
				at = anchor(b.text)
			}
			if n := has(strings.ToLower(b.text), words); n > best {
				best, h.line, h.at = n, around(b.text, words), at
			}
		}
		if has(strings.ToLower(t.title), words) > 0 {
			titled = append(titled, h)
		} else {
			others = append(others, h)
		}
	}
	return append(titled, others...)
}

// has counts the words that occur in a text.
func has(text string, words []string) int {
	n := 0
	for _, w := range words {
		if strings.Contains(text, w) {
			n++
		}
	}
	return n
}

const snippet = 90

// around is the piece of a text at the first word found, cut between words.
func around(text string, words []string) string {
	fields := strings.Fields(text)
	first := 0
	for i, f := range fields {
		if has(strings.ToLower(f), words) > 0 {
			first = i
			break
		}
	}
	from := max(0, first-4)
	if len(strings.Join(fields, " ")) <= snippet {
		from = 0
	}
	out := strings.Join(fields[from:min(from+1, len(fields))], " ")
	i := from + 1
	for ; i < len(fields) && len(out)+len(fields[i]) < snippet; i++ {
		out += " " + fields[i]
	}
	if from > 0 {
		out = "… " + out
	}
	if i < len(fields) {
		out += " …"
	}
	return out
}

// part is a block's plain words: what a search looks through.
type part struct {
	text    string
	heading bool
}

func parts(content []byte) []part {
	var out []part
	eachNode(parseMarkdown(content), func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Heading:
			out = append(out, part{plain(n, content), true})
		case *ast.Paragraph, *ast.TextBlock:
			out = append(out, part{plain(n, content), false})
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for line := range strings.Lines(code(n, content)) {
				if line = strings.TrimSpace(line); line != "" {
					out = append(out, part{line, false})
				}
			}
		default:
			if isRow(n) {
				out = append(out, part{plain(n, content), false})
			}
		}
	})
	return out
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

func parseMarkdown(content []byte) ast.Node { return markdown.Parser().Parse(text.NewReader(content)) }

func eachNode(n ast.Node, f func(ast.Node)) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
}

// plain is a node's words without marks. Lines that were broken in the file are one.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	eachNode(n, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		default:
			if isCell(n) && b.Len() > 0 {
				b.WriteString(" · ")
			}
		}
	})
	return strings.TrimSpace(b.String())
}

// code is the text of a code block without its last line end.
func code(n ast.Node, source []byte) string {
	var b strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		b.Write(line.Value(source))
	}
	return strings.TrimRight(b.String(), "\n")
}

// anchor is the name of a heading in a link, as on GitHub: small letters, hyphens for spaces, no other marks.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.ToLower(heading))
}
