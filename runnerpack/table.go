package runnerpack

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxTableBytes bounds a folds file: cells are kept as 32-bit offsets.
const maxTableBytes = 1 << 30

var bom = []byte("\xef\xbb\xbf")

// span is a cell's place in the file.
type span struct{ from, to uint32 }

// table is a CSV file split into raw cells, column by column, in place.
type table struct {
	data   []byte
	bom    bool
	sep    byte
	eol    string // "\n", "\r\n" or, in an old or mixed file, "" (see plain)
	final  bool   // the last line ends with eol
	header []span
	cols   [][]span
	lines  []uint32 // line in which each row begins; nil while it is row+2
	rows   int
	// plain: the file is exactly its cells joined by sep and eol. Blank lines,
	// mixed line ends and line breaks within quotes make it false.
	plain bool

	counters map[int]*SplitColumn // columns looked at for an arithmetic sequence; nil: not one
}

// counter is column i as an arithmetic sequence. Looking takes a pass over the
// column, and both the check for repeated ids and the packing want to know.
func (t *table) counter(i int) (SplitColumn, bool) {
	col, known := t.counters[i]
	if !known {
		if c, ok := asRange(column{t, t.cols[i]}); ok {
			col = &c
		}
		if t.counters == nil {
			t.counters = map[int]*SplitColumn{}
		}
		t.counters[i] = col
	}
	if col == nil {
		return SplitColumn{}, false
	}
	return *col, true
}

// raw is a cell as it stands in the file.
func (t *table) raw(s span) []byte { return t.data[s.from:s.to] }

// text is a cell's value: quotes undone.
func (t *table) text(s span) []byte { return unquote(t.raw(s)) }

// line is the line of the file in which row i begins, the header being line 1.
func (t *table) line(i int) int {
	if t.lines == nil {
		return i + 2
	}
	return int(t.lines[i])
}

func unquote(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '"' {
		return raw
	}
	out := make([]byte, 0, len(raw))
	inside := true
	for i := 1; i < len(raw); i++ {
		switch {
		case raw[i] != '"' || !inside:
			out = append(out, raw[i])
		case i+1 < len(raw) && raw[i+1] == '"':
			out = append(out, '"')
			i++
		default:
			inside = false
		}
	}
	return out
}

// parseTable splits a CSV file. Separators are comma, semicolon or tab; cells
// may be quoted; line ends may be \n, \r\n or \r.
func parseTable(data []byte) (*table, error) {
	if len(data) > maxTableBytes {
		return nil, &FoldsError{Reason: fmt.Sprintf("the file has %d bytes; more than %d cannot be read", len(data), maxTableBytes)}
	}
	t := &table{data: data, plain: true}
	start := 0
	if bytes.HasPrefix(data, bom) {
		t.bom, start = true, len(bom)
	}
	if err := checkUTF8(data); err != nil {
		return nil, err
	}
	t.sep = separator(data[start:])
	s := scanner{t: t, pos: start, line: 1}
	header, _, err := s.row(nil)
	if err != nil {
		return nil, err
	}
	if header == nil {
		return nil, &FoldsError{Reason: "the file is empty"}
	}
	t.header = header
	if err := s.body(); err != nil {
		return nil, err
	}
	if t.eol == "" { // a single line without an end, or an end we do not write
		t.plain = t.plain && s.ends == 0
		t.eol = "\n"
	}
	return t, nil
}

// checkUTF8 refuses other encodings, by line.
func checkUTF8(data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	line := 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[n:]
	}
	return &FoldsError{Row: line, Reason: fmt.Sprintf("row %d is not UTF-8; save the file as UTF-8", line)}
}

// separator guesses from the first line: the one that leaves a cell named fold,
// otherwise the most frequent, otherwise a comma.
func separator(data []byte) byte {
	first := data
	if i := bytes.IndexAny(first, "\r\n"); i >= 0 {
		first = first[:i]
	}
	best, most := byte(','), 0
	for _, sep := range []byte{',', ';', '\t'} {
		cells := bytes.Split(first, []byte{sep})
		for _, c := range cells {
			if len(cells) > 1 && cellName(unquote(c)) == foldColumn {
				return sep
			}
		}
		if len(cells) > most+1 {
			best, most = sep, len(cells)-1
		}
	}
	return best
}

func cellName(c []byte) string { return strings.TrimSpace(string(c)) }

// scanner walks over the rows of a table.
type scanner struct {
	t    *table
	pos  int
	line int
	ends int // line ends seen
}

// body reads all rows after the header.
func (s *scanner) body() error {
	t := s.t
	t.cols = make([][]span, len(t.header))
	estimate := 0
	if width := s.pos; width > 0 {
		estimate = bytes.Count(t.data[s.pos:], []byte{'\n'}) + 1
	}
	for i := range t.cols {
		t.cols[i] = make([]span, 0, estimate)
	}
	cells := make([]span, 0, len(t.header))
	for {
		var line int
		var err error
		cells, line, err = s.row(cells[:0])
		if err != nil {
			return err
		}
		if cells == nil {
			return nil
		}
		if len(cells) != len(t.header) {
			return &FoldsError{Row: line, Reason: fmt.Sprintf("row %d has %d cells and the header %d", line, len(cells), len(t.header))}
		}
		if t.lines == nil && line != t.rows+2 {
			t.lines = make([]uint32, t.rows, cap(t.cols[0]))
			for i := range t.lines {
				t.lines[i] = uint32(i + 2)
			}
		}
		if t.lines != nil {
			t.lines = append(t.lines, uint32(line))
		}
		for i, c := range cells {
			t.cols[i] = append(t.cols[i], c)
		}
		t.rows++
	}
}

// row reads the next line that is not blank into cells; nil at the end.
func (s *scanner) row(cells []span) ([]span, int, error) {
	data, sep := s.t.data, s.t.sep
	for s.pos < len(data) && (data[s.pos] == '\n' || data[s.pos] == '\r') {
		s.t.plain = false // a blank line
		s.end()
	}
	if s.pos >= len(data) {
		return nil, 0, nil
	}
	if cells == nil {
		cells = []span{}
	}
	line := s.line
	s.t.final = false
	from := s.pos
	for {
		if s.pos < len(data) && data[s.pos] == '"' {
			if err := s.quoted(line); err != nil {
				return nil, 0, err
			}
		}
		for s.pos < len(data) && data[s.pos] != sep && data[s.pos] != '\n' && data[s.pos] != '\r' {
			s.pos++
		}
		cells = append(cells, span{uint32(from), uint32(s.pos)})
		if s.pos >= len(data) {
			return cells, line, nil
		}
		if data[s.pos] != sep {
			s.t.final = true
			s.end()
			return cells, line, nil
		}
		s.pos++
		from = s.pos
	}
}

// quoted moves behind the closing quote of the cell that begins here.
func (s *scanner) quoted(line int) error {
	data := s.t.data
	for i := s.pos + 1; i < len(data); i++ {
		switch data[i] {
		case '\n', '\r':
			s.t.plain = false
			if data[i] == '\n' || i+1 >= len(data) || data[i+1] != '\n' {
				s.line++
			}
		case '"':
			if i+1 < len(data) && data[i+1] == '"' {
				i++
				continue
			}
			s.pos = i + 1
			return nil
		}
	}
	return &FoldsError{Row: line, Reason: fmt.Sprintf("row %d has a quote that is never closed", line)}
}

// end moves over a line end and notes its kind.
func (s *scanner) end() {
	kind := "\n"
	if s.t.data[s.pos] == '\r' {
		kind = ""
		if s.pos+1 < len(s.t.data) && s.t.data[s.pos+1] == '\n' {
			kind = "\r\n"
		}
	}
	if s.ends == 0 {
		s.t.eol = kind
	}
	if kind != s.t.eol || kind == "" {
		s.t.plain = false
	}
	s.pos += max(1, len(kind))
	s.ends++
	s.line++
}
