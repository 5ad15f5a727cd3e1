package desktop

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"sandglass/app"
)

// spoken is the catalogue of the core's sentences in the window's language; nil = English, which needs none.
var spoken *catalogue

// said puts a text of the core into the window's language. What the catalogue does not know stays as it is.
func said(text string) string {
	if spoken == nil {
		return text
	}
	return spoken.say(text)
}

// saidAll is said for a list.
func saidAll(texts []string) []string {
	if spoken == nil {
		return texts
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = spoken.say(t)
	}
	return out
}

// explain is app.Explain in the window's language. The details are a report for others and stay English.
func explain(err error) app.Explained {
	ex := app.Explain(err)
	ex.Title, ex.Sentence, ex.Action = said(ex.Title), said(ex.Sentence), said(ex.Action)
	return ex
}

// catalogue finds the translation of a sentence that was made from a format string. Its keys are the format strings as they
// stand in the core's source, with %s for a value that is joined on with +, without the blanks at their ends.
type catalogue struct {
	whole  map[string]string     // sentences without a value, folded
	made   map[string][]*pattern // by their anchor: the longest word outside the values
	loose  []*pattern            // without one
	mu     sync.Mutex
	answer map[string]string
}

// answersKept bounds the cache. A window shows a few hundred sentences; those with a clock in them change.
const answersKept = 4096

type pattern struct {
	key, text string
	literal   int // letters outside the values: the more, the surer
	whole     func() (*regexp.Regexp, *regexp.Regexp)
}

var (
	verb   = regexp.MustCompile(`%(?:\[(\d+)\])?[-+#0]*[0-9]*(?:\.[0-9]+)?([a-zA-Z%])`)
	worded = regexp.MustCompile(`[\pL_]{3,}`)
)

func readCatalogue(name string) (*catalogue, error) {
	words, err := readWords(name)
	if err != nil {
		return nil, err
	}
	return newCatalogue(words), nil
}

func newCatalogue(words map[string]string) *catalogue {
	c := &catalogue{whole: map[string]string{}, made: map[string][]*pattern{}, answer: map[string]string{}}
	for k, v := range words {
		if len(verbsOf(k)) == 0 {
			c.whole[folded(strings.ReplaceAll(k, "%%", "%"))] = strings.ReplaceAll(v, "%%", "%")
			continue
		}
		p := &pattern{key: k, text: v}
		p.whole = sync.OnceValues(p.compile)
		anchor := ""
		for _, w := range worded.FindAllString(verb.ReplaceAllString(k, "\x00"), -1) {
			p.literal += len(w)
			if w = strings.ToLower(w); len(w) > len(anchor) {
				anchor = w
			}
		}
		if anchor == "" {
			c.loose = append(c.loose, p)
		} else {
			c.made[anchor] = append(c.made[anchor], p)
		}
	}
	return c
}

// verbsOf lists the values of a format string, which of them each is, and of what kind: {1 s}, {2 d}.
func verbsOf(format string) (out []formatValue) {
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		v := formatValue{n: len(out) + 1, kind: m[2]}
		if m[1] != "" {
			fmt.Sscan(m[1], &v.n)
		}
		out = append(out, v)
	}
	return out
}

type formatValue struct {
	n    int
	kind string
}

// compile makes two expressions: one whose values end with a sentence, and one whose values may hold several.
func (p *pattern) compile() (*regexp.Regexp, *regexp.Regexp) {
	build := func(free string) *regexp.Regexp {
		var b strings.Builder
		b.WriteString(`(?is)^`)
		rest := strings.TrimSuffix(p.key, ".")
		for {
			at := verb.FindStringSubmatchIndex(rest)
			if at == nil {
				break
			}
			b.WriteString(regexp.QuoteMeta(rest[:at[0]]))
			switch kind := rest[at[4]:at[5]]; {
			case kind == "%":
				b.WriteString("%")
			case kind == "s", kind == "v", kind == "w":
				b.WriteString(free)
			case kind == "q":
				b.WriteString(`("(?:[^"\\]|\\.)*")`)
			default:
				b.WriteString(`([-+]?[\d.,]+(?:e[-+]?\d+)?)`)
			}
			rest = rest[at[1]:]
		}
		b.WriteString(regexp.QuoteMeta(rest))
		b.WriteString(`\.?$`)
		return regexp.MustCompile(b.String())
	}
	return build(`((?:[^.!?]|[.!?][^ ])*?)`), build(`(.*?)`)
}

// folded is a sentence as it is looked up: it may stand at the beginning, in the middle or at the end.
func folded(s string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(s), "."))
}

func (c *catalogue) say(text string) string {
	if text == "" {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.answer[text]; ok {
		return s
	}
	if len(c.answer) >= answersKept {
		clear(c.answer)
	}
	s, _ := c.text(text, 0)
	c.answer[text] = s
	return s
}

// deepest is how far values within values are followed.
const deepest = 4

// text translates line by line, and says whether all of it is known.
func (c *catalogue) text(text string, depth int) (string, bool) {
	if strings.Contains(text, "\n") {
		lines, all := strings.Split(text, "\n"), true
		for i, l := range lines {
			s, ok := c.text(l, depth)
			lines[i], all = s, all && ok
		}
		return strings.Join(lines, "\n"), all
	}
	core := strings.TrimSpace(text)
	if core == "" || depth > deepest {
		return text, core == ""
	}
	at := strings.Index(text, core)
	s, ok := c.sentences(core, depth)
	return text[:at] + s + text[at+len(core):], ok
}

// sentences translates the longest runs of sentences that are known: some entries are several.
func (c *catalogue) sentences(text string, depth int) (string, bool) {
	parts := sentencesOf(text)
	var out []string
	all := true
	for i := 0; i < len(parts); {
		end, got := i+1, ""
		for j := len(parts); j > i && got == ""; j-- {
			if s, ok := c.one(strings.Join(parts[i:j], " "), depth, false); ok {
				end, got = j, s
			}
		}
		if got == "" { // a value that is several sentences itself
			for j := len(parts); j > i+1 && got == ""; j-- {
				if s, ok := c.one(strings.Join(parts[i:j], " "), depth, true); ok {
					end, got = j, s
				}
			}
		}
		if got == "" {
			var ok bool
			got, ok = c.clauses(parts[i], depth)
			all = all && ok
		}
		out = append(out, got)
		i = end
	}
	return strings.Join(out, " "), all
}

// sentencesOf cuts a text where a sentence ends.
func sentencesOf(text string) []string {
	var out []string
	start := 0
	for i := 0; i+2 < len(text); i++ {
		if strings.IndexByte(".!?", text[i]) < 0 || text[i+1] != ' ' {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[i+2:]); unicode.IsLower(r) && !strings.HasPrefix(text[i+2:], "sandglass") {
			continue // an abbreviation
		}
		out = append(out, text[start:i+1])
		start = i + 2
	}
	return append(out, text[start:])
}

// one translates a text that is one entry as a whole.
func (c *catalogue) one(text string, depth int, long bool) (string, bool) {
	if s, ok := c.whole[folded(text)]; ok {
		return like(text, s), true
	}
	var fits []*pattern
	seen := map[string]bool{}
	for _, w := range worded.FindAllString(text, -1) {
		if w = strings.ToLower(w); !seen[w] {
			seen[w] = true
			fits = append(fits, c.made[w]...)
		}
	}
	slices.SortFunc(fits, func(a, b *pattern) int { return cmp.Or(b.literal-a.literal, strings.Compare(a.key, b.key)) })
	for _, p := range append(fits, c.loose...) {
		strict, free := p.whole()
		if long {
			strict = free
		}
		if m := strict.FindStringSubmatch(text); m != nil {
			return like(text, c.fill(p.text, m[1:], depth)), true
		}
	}
	return "", false
}

// fill puts the values into a translation, and translates those that are words of the catalogue.
func (c *catalogue) fill(format string, values []string, depth int) string {
	n := 0
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		m := verb.FindStringSubmatch(v)
		if m[2] == "%" {
			return "%"
		}
		n++
		at := n
		if m[1] != "" {
			fmt.Sscan(m[1], &at)
		}
		if at > len(values) {
			return v
		}
		s, _ := c.text(values[at-1], depth+1)
		return dates(s)
	})
}

// clauses translates a sentence that is no entry but is put together from some, when all of its parts are known.
func (c *catalogue) clauses(text string, depth int) (string, bool) {
	for _, joint := range []struct{ in, out string }{{"; ", "; "}, {": ", ": "}, {", ", ", "}, {" and ", " und "}} {
		parts := strings.Split(text, joint.in)
		if len(parts) == 1 {
			continue
		}
		known, opaque := 0, true
		for i, p := range parts {
			s, ok := c.text(p, depth+1)
			switch {
			case ok:
				known++
			case strings.Contains(strings.TrimSpace(p), " "):
				opaque = false
			}
			parts[i] = s
		}
		// Half a sentence in each language is worse than one; only what follows a semicolon or a colon stands for itself.
		if known > 0 && (opaque || joint.in == "; " || joint.in == ": ") {
			return strings.Join(parts, joint.out), opaque && known == len(parts)
		}
	}
	if m := amount.FindStringSubmatch(text); m != nil {
		if s, ok := c.one(m[2], depth, false); ok {
			return m[1] + s, true
		}
	}
	return dates(text), !strings.ContainsFunc(text, unicode.IsLower)
}

// amount is a number before the words it counts.
var amount = regexp.MustCompile(`^([-+]?[\d.,]+ )(\D+)$`)

// like gives a translation the beginning and the end of its original: a capital, a full stop or none.
func like(original, s string) string {
	if strings.HasSuffix(original, ".") {
		if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "!") && !strings.HasSuffix(s, "?") {
			s += "."
		}
	} else {
		s = strings.TrimSuffix(s, ".")
	}
	first, _ := utf8.DecodeRuneInString(original)
	if r, n := utf8.DecodeRuneInString(s); unicode.IsUpper(first) && unicode.IsLower(r) {
		s = string(unicode.ToUpper(r)) + s[n:]
	}
	return s
}
