package kaggle

import "strings"

// maxColumn bounds how far a cursor movement can pad a line, and with it how much a log can swell.
const maxColumn = 512

// LogLines turns records into lines as a terminal would show them: chunks of a stream are joined, a carriage return
// overwrites, colours, titles and cursor movements are gone, control characters are shown as their symbols (NUL as U+2400).
// A line stands where it was finished; lines that were never finished come last.
func LogLines(recs []LogRecord) []string {
	var b LineBuilder
	var lines []string
	for _, r := range recs {
		lines = append(lines, b.Add(r)...)
	}
	return append(lines, b.Flush()...)
}

// LineBuilder makes lines from records as they arrive. The zero value is ready.
type LineBuilder struct {
	streams []*lineStream // in the order of their first record
}

type lineStream struct {
	name string
	term terminal
}

// Add takes a record and returns the lines it finished.
func (b *LineBuilder) Add(r LogRecord) []string {
	var s *lineStream
	for _, have := range b.streams {
		if have.name == r.Stream {
			s = have
		}
	}
	if s == nil {
		s = &lineStream{name: r.Stream}
		b.streams = append(b.streams, s)
	}
	var lines []string
	for _, c := range r.Data {
		if s.term.put(c) {
			lines = append(lines, s.term.take())
		}
	}
	return lines
}

// Pending returns the unfinished lines without ending them: a progress bar as it stands now.
func (b *LineBuilder) Pending() []string {
	var lines []string
	for _, s := range b.streams {
		if s.term.dirty {
			lines = append(lines, s.term.text())
		}
	}
	return lines
}

// Flush ends and returns the unfinished lines.
func (b *LineBuilder) Flush() []string {
	lines := b.Pending()
	b.streams = nil
	return lines
}

// terminal is one line of a terminal: cells, a cursor, and the state of an escape sequence that may span chunks.
type terminal struct {
	cells []rune
	col   int
	dirty bool // something was written since the last line end
	moved bool // the cursor was moved: blanks at the end may be what an overwriting left
	mode  escMode
	param []rune
}

type escMode int

const (
	escNone   escMode = iota
	escStart          // after ESC
	escCSI            // ESC [ …
	escString         // ESC ] P X ^ _ … until BEL or ESC \
	escEnd            // ESC inside a string
	escOne            // ESC and an intermediate: one more character
)

// put takes a character and tells whether it ended the line.
func (t *terminal) put(c rune) bool {
	if t.mode != escNone && t.escape(c) {
		return false
	}
	switch c {
	case '\n':
		return true
	case '\r':
		t.col, t.moved = 0, true
	case '\b':
		t.col, t.moved = max(0, t.col-1), true
	case '\a':
	case 0x1b:
		t.mode = escStart
	case 0x9b:
		t.mode, t.param = escCSI, t.param[:0]
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		t.mode = escString
	default:
		t.write(c)
	}
	return false
}

// write puts a visible character at the cursor.
func (t *terminal) write(c rune) {
	switch {
	case c < 0x20 && c != '\t':
		c += 0x2400
	case c == 0x7f:
		c = 0x2421
	case c >= 0x80 && c < 0xa0:
		return
	}
	t.pad(t.col)
	if t.col < len(t.cells) {
		t.cells[t.col] = c
	} else {
		t.cells = append(t.cells, c)
	}
	t.col++
	t.dirty = true
}

// pad fills with blanks up to col.
func (t *terminal) pad(col int) {
	for len(t.cells) < col {
		t.cells = append(t.cells, ' ')
	}
}

// escape takes a character inside an escape sequence. False means that the sequence is over or broken and the character
// is an ordinary one.
func (t *terminal) escape(c rune) bool {
	switch t.mode {
	case escStart:
		return t.afterESC(c)
	case escOne:
		t.mode = escNone
		return c >= 0x20
	case escCSI:
		switch {
		case c >= 0x40 && c <= 0x7e:
			t.mode = escNone
			t.move(c)
			return true
		case c >= 0x20 && c < 0x40 && len(t.param) < 64:
			t.param = append(t.param, c)
			return true
		}
	case escString:
		switch c {
		case '\a', 0x9c:
			t.mode = escNone
			return true
		case 0x1b:
			t.mode = escEnd
			return true
		case '\n', '\r': // never closed: the text goes on
		default:
			return true
		}
	case escEnd:
		if c == '\\' {
			t.mode = escNone
			return true
		}
		return t.afterESC(c)
	}
	t.mode = escNone
	return false
}

func (t *terminal) afterESC(c rune) bool {
	switch {
	case c == '[':
		t.mode, t.param = escCSI, t.param[:0]
	case c == ']', c == 'P', c == 'X', c == '^', c == '_':
		t.mode = escString
	case c == 0x1b:
		t.mode = escStart
	case c >= 0x20 && c < 0x30:
		t.mode = escOne
	case c >= 0x30 && c < 0x7f:
		t.mode = escNone
	default:
		t.mode = escNone
		return false
	}
	return true
}

// move obeys what changes this line: erasing and moving sideways. Other rows cannot be reached any more.
func (t *terminal) move(final rune) {
	n, given := t.number()
	step := max(1, n)
	if final != 'm' {
		t.moved = true
	}
	switch final {
	case 'C':
		t.col = min(max(t.col, maxColumn), t.col+step)
	case 'D':
		t.col = max(0, t.col-step)
	case 'G', '`':
		t.col = min(step-1, maxColumn)
	case 'K', 'J':
		t.erase(n, given)
	case 'P':
		if t.col < len(t.cells) {
			t.cells = append(t.cells[:t.col], t.cells[min(t.col+step, len(t.cells)):]...)
		}
	}
}

func (t *terminal) erase(n int, given bool) {
	switch {
	case !given || n == 0:
		t.cells = t.cells[:min(t.col, len(t.cells))]
	case n == 1:
		for i := range min(t.col+1, len(t.cells)) {
			t.cells[i] = ' '
		}
	case n == 2:
		t.cells = t.cells[:0]
	}
}

// number is the first parameter of a sequence.
func (t *terminal) number() (n int, given bool) {
	for _, c := range t.param {
		if c < '0' || c > '9' {
			break
		}
		given = true
		n = min(n*10+int(c-'0'), maxColumn)
	}
	return n, given
}

func (t *terminal) text() string {
	if t.moved {
		return strings.TrimRight(string(t.cells), " ")
	}
	return string(t.cells)
}

// take returns the line and starts the next one.
func (t *terminal) take() string {
	s := t.text()
	t.cells, t.col, t.dirty, t.moved = t.cells[:0], 0, false, false
	return s
}
