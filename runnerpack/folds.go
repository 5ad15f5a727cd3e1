package runnerpack

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	foldColumn = "fold"
	// FoldsFile is where a project keeps its frozen folds.
	FoldsFile = "data/folds.csv"
	// maxFold is far above any cross-validation; a larger label is an id in the wrong column.
	maxFold = 9999
)

// Folds is what a folds file says.
type Folds struct {
	Folds    []int    // ascending, never negative
	Rows     int      // data rows, held-out ones included
	HeldOut  []string // ids (or "row N" without an id column) of rows with a negative fold
	Warnings []string
	Counts   map[int]int // rows a fold
}

// ReadFolds reads and checks a folds file: a CSV table with a column named fold
// and, usually, one named id. The first thing that would make a run wrong is the
// error, by row and reason. Labels are kept as they are and never shifted; a
// negative fold is a held-out row; ids are text.
func ReadFolds(r io.Reader) (Folds, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTableBytes+1))
	if err != nil {
		return Folds{}, err
	}
	_, f, err := readFoldsTable(data)
	return f, err
}

// readFoldsTable is ReadFolds for those who need the table too.
func readFoldsTable(data []byte) (*table, Folds, error) {
	t, err := parseTable(data)
	if err != nil {
		return nil, Folds{}, err
	}
	c, err := foldColumns(t)
	if err != nil {
		return nil, Folds{}, err
	}
	f, labels, err := c.labels(t)
	if err != nil {
		return nil, Folds{}, err
	}
	if f.Rows == 0 {
		return nil, Folds{}, &FoldsError{Reason: "the file has a header and no rows"}
	}
	if len(f.Folds) == 0 {
		return nil, Folds{}, &FoldsError{Reason: "every row is held out (negative fold); there is no fold to run"}
	}
	if len(f.Folds) == 1 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("every row that is in a fold is in fold %d: a fold is trained on the rows of the others, and there are none", f.Folds[0]))
	}
	if w := holes(f.Folds); w != "" {
		f.Warnings = append(f.Warnings, w)
	}
	if err := c.repeats(t, labels, &f); err != nil {
		return nil, Folds{}, err
	}
	return t, f, nil
}

// columns are the places of what matters in a folds file, -1 for none.
type columns struct {
	fold, id, name int // name: what a held-out row is called by; the id if there is one
	groups         []int
	strict         []bool // a group in two folds is an error, not a remark
	names          []string
}

// foldColumns finds them by their names.
func foldColumns(t *table) (columns, error) {
	c := columns{fold: -1, id: -1, name: -1}
	for i, h := range t.header {
		name := cellName(t.text(h))
		c.names = append(c.names, name)
		switch {
		case name == foldColumn && c.fold >= 0:
			return c, &FoldsError{Reason: "two columns are named fold"}
		case name == foldColumn:
			c.fold = i
		case isGroupName(name):
			c.groups = append(c.groups, i)
			low := strings.ToLower(name)
			c.strict = append(c.strict, low == "group" || low == "groups" || low == "group_id")
		case c.id < 0 && isIDName(name):
			c.id = i
		case c.name < 0:
			c.name = i
		}
	}
	if c.fold < 0 {
		return c, noFoldColumn(c.names)
	}
	if c.id >= 0 {
		c.name = c.id
	}
	return c, nil
}

// noFoldColumn offers the column that was probably meant.
func noFoldColumn(names []string) error {
	for _, want := range []string{"fold", "split", "cv"} {
		for _, n := range names {
			if strings.Contains(strings.ToLower(n), want) {
				return &FoldsError{Reason: fmt.Sprintf("no column named fold; rename the column %s if that is meant", n)}
			}
		}
	}
	return &FoldsError{Reason: "no column named fold; the columns are " + strings.Join(names, ", ")}
}

func isIDName(name string) bool {
	low := strings.ToLower(name)
	return low == "id" || strings.HasSuffix(low, "_id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID")
}

// isGroupName: such a column names several rows at once by nature.
func isGroupName(name string) bool {
	low := strings.ToLower(name)
	for _, w := range []string{"group", "patient", "subject", "user", "customer", "session", "speaker", "author", "study", "site"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// labels reads the fold of every row.
func (c columns) labels(t *table) (Folds, []int32, error) {
	f := Folds{Counts: map[int]int{}}
	labels := make([]int32, t.rows)
	counts := make([]int, 0, 16)
	for i, s := range t.cols[c.fold] {
		label, err := parseFold(t.text(s), t.line(i))
		if err != nil {
			return f, nil, err
		}
		labels[i] = int32(label)
		if label < 0 {
			f.HeldOut = append(f.HeldOut, c.rowName(t, i))
			continue
		}
		for label >= len(counts) {
			counts = append(counts, 0)
		}
		counts[label]++
	}
	f.Rows = t.rows
	for label, n := range counts {
		if n > 0 {
			f.Folds = append(f.Folds, label)
			f.Counts[label] = n
		}
	}
	return f, labels, nil
}

func (c columns) rowName(t *table, i int) string {
	if c.name < 0 {
		return fmt.Sprintf("row %d", t.line(i))
	}
	return cellName(t.text(t.cols[c.name][i]))
}

// parseFold reads one label. Whole numbers may be written as floats ("2.0"),
// which is what a data frame with a gap in it saves.
func parseFold(cell []byte, line int) (int, error) {
	if len(cell) == 1 && cell[0] >= '0' && cell[0] <= '9' {
		return int(cell[0] - '0'), nil
	}
	text := cellName(cell)
	switch strings.ToLower(text) {
	case "", "nan", "na", "n/a", "null", "none", "<na>":
		return 0, &FoldsError{Row: line, Reason: fmt.Sprintf("row %d has no fold", line)}
	}
	whole, frac, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(whole)
	if err != nil || strings.Trim(frac, "0") != "" || strings.HasPrefix(whole, "+") {
		return 0, &FoldsError{Row: line, Reason: fmt.Sprintf("row %d: %s is not a fold", line, clip(text, 40))}
	}
	if n > maxFold || n < math.MinInt32 {
		return 0, &FoldsError{Row: line, Reason: fmt.Sprintf("row %d: %s is not a fold (labels go up to %d)", line, clip(text, 40), maxFold)}
	}
	return n, nil
}

// holes says which labels between the first and the last no row has.
func holes(folds []int) string {
	var missing []string
	for k := folds[0]; k <= folds[len(folds)-1]; k++ {
		if !slices.Contains(folds, k) {
			missing = append(missing, strconv.Itoa(k))
		}
		if len(missing) > 20 {
			missing = append(missing, "…")
			break
		}
	}
	if missing == nil {
		return ""
	}
	word := "fold"
	if len(missing) > 1 {
		word = "folds"
	}
	span := folds[len(folds)-1] - folds[0] + 1
	if folds[0] == 1 || folds[0] == 0 { // numbering from 0 or 1
		span = folds[len(folds)-1] + 1 - folds[0]
	}
	return fmt.Sprintf("no row has %s %s: %s, not %s", word, strings.Join(missing, ", "), runs(len(folds)), numberWord(span))
}

func runs(n int) string {
	if n == 1 {
		return "one run"
	}
	return numberWord(n) + " runs"
}

func numberWord(n int) string {
	words := [...]string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// repeats refuses an id that is there twice and a group that is spread over folds.
func (c columns) repeats(t *table, labels []int32, f *Folds) error {
	if c.id >= 0 {
		if err := c.repeatedID(t, labels); err != nil {
			return err
		}
	}
	for g, col := range c.groups {
		seen := newFirsts(t, col)
		for i := range t.rows {
			if labels[i] < 0 {
				continue // in no fold, so in no two
			}
			first, again := seen.add(i)
			if !again || labels[i] == labels[first] {
				continue
			}
			text := fmt.Sprintf("%s %s is in folds %d and %d", c.names[col],
				clip(cellName(t.text(t.cols[col][i])), 60), labels[first], labels[i])
			if c.strict[g] {
				return &FoldsError{Row: t.line(i), Reason: text}
			}
			f.Warnings = append(f.Warnings, text+": what is learnt about it in one fold helps in the other")
			break
		}
	}
	return nil
}

func (c columns) repeatedID(t *table, labels []int32) error {
	if _, counts := t.counter(c.id); counts {
		return nil // an arithmetic sequence repeats nothing
	}
	seen := newFirsts(t, c.id)
	for i, s := range t.cols[c.id] {
		if s.from == s.to {
			return &FoldsError{Row: t.line(i), Reason: fmt.Sprintf("row %d has no %s", t.line(i), c.names[c.id])}
		}
		first, again := seen.add(i)
		if !again {
			continue
		}
		id := clip(cellName(t.text(s)), 60)
		if labels[i] != labels[first] {
			return &FoldsError{Row: t.line(i), Reason: fmt.Sprintf("%s %s is in folds %d and %d", c.names[c.id], id, labels[first], labels[i])}
		}
		return &FoldsError{Row: t.line(i), Reason: fmt.Sprintf("%s %s is there twice, in rows %d and %d", c.names[c.id], id, t.line(first), t.line(i))}
	}
	return nil
}

// firsts finds the first row with an equal cell. It is an open-addressed table
// of row numbers: at 700,000 ids a map of strings would take ten times the memory.
type firsts struct {
	t     *table
	col   []span
	slots []uint64 // high half: part of the cell's hash; low half: row+1
	mask  uint64
	seed  maphash.Seed
}

func newFirsts(t *table, col int) *firsts {
	size := 16
	for size < t.rows*3/2 {
		size *= 2
	}
	return &firsts{t, t.cols[col], make([]uint64, size), uint64(size - 1), maphash.MakeSeed()}
}

// add notes row i; again is true when an earlier row, first, has the same cell.
func (f *firsts) add(i int) (first int, again bool) {
	cell := f.t.text(f.col[i])
	h := maphash.Bytes(f.seed, cell)
	tag := h &^ math.MaxUint32
	for at := h & f.mask; ; at = (at + 1) & f.mask {
		slot := f.slots[at]
		if slot == 0 {
			f.slots[at] = tag | uint64(i+1)
			return i, false
		}
		row := int(uint32(slot)) - 1
		if slot&^math.MaxUint32 == tag && bytes.Equal(cell, f.t.text(f.col[row])) {
			return row, true
		}
	}
}

// clip shortens text for a message.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
