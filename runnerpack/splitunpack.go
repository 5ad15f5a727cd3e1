package runnerpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// UnpackSplit rebuilds the file and compares its SHA-256. The session has its
// own in Python; this one proves each build before it is written.
func UnpackSplit(s Split, blobs []Blob) ([]byte, error) {
	content := map[string][]byte{}
	for _, b := range blobs {
		content[b.Name] = b.Data
	}
	u := unpacker{s, content}
	var out []byte
	var err error
	switch s.Form {
	case "raw":
		out, err = u.blob(s.Blob, s.XZ)
	case "table":
		out, err = u.table()
	default:
		err = fmt.Errorf("unknown form %q", s.Form)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	if hexSHA256(out) != s.SHA256 {
		return nil, fmt.Errorf("%s: rebuilt, but not to the same bytes", s.Path)
	}
	return out, nil
}

type unpacker struct {
	s     Split
	blobs map[string][]byte
}

// blob is a payload member, decompressed.
func (u unpacker) blob(name string, xz bool) ([]byte, error) {
	data, ok := u.blobs[name]
	if !ok {
		return nil, fmt.Errorf("the payload has no %s", name)
	}
	if !xz {
		return data, nil
	}
	return xzUnpack(data, 2*maxTableBytes)
}

func (u unpacker) table() ([]byte, error) {
	s := u.s
	if s.Bytes < 0 || s.Bytes > maxTableBytes || s.Rows < 0 || s.Rows > s.Bytes || len(s.Columns) == 0 {
		return nil, fmt.Errorf("%d rows, %d bytes, %d columns", s.Rows, s.Bytes, len(s.Columns))
	}
	writers := make([]func(dst []byte, row int) []byte, len(s.Columns))
	for i, c := range s.Columns {
		w, err := u.column(c)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		writers[i] = w
	}
	out := make([]byte, 0, s.Bytes)
	if s.BOM {
		out = append(out, bom...)
	}
	for i, c := range s.Columns {
		if i > 0 {
			out = append(out, s.Sep...)
		}
		out = append(out, c.Name...)
	}
	for row := range s.Rows {
		out = append(out, s.EOL...)
		for i, w := range writers {
			if i > 0 {
				out = append(out, s.Sep...)
			}
			out = w(out, row)
		}
	}
	if s.FinalEOL {
		out = append(out, s.EOL...)
	}
	return out, nil
}

// column gives a function that appends a row's cell.
func (u unpacker) column(c SplitColumn) (func(dst []byte, row int) []byte, error) {
	var blob []byte
	if c.Kind != "const" && c.Kind != "range" {
		var err error
		if blob, err = u.blob(c.Blob, c.XZ); err != nil {
			return nil, err
		}
	}
	switch c.Kind {
	case "const":
		return func(dst []byte, _ int) []byte { return append(dst, c.Value...) }, nil
	case "range":
		return func(dst []byte, row int) []byte { return c.number(dst, c.Start+c.Step*int64(row)) }, nil
	case "ints":
		return c.ints(blob, u.s.Rows)
	case "radix":
		digits, err := radixGroup{len(c.Labels), c.Digits, c.Bytes}.unpack(blob, u.s.Rows)
		return c.labels(digits, u.s.Rows, err)
	case "bytes":
		return c.labels(blob, u.s.Rows, nil)
	case "runs":
		digits, err := undoRuns(blob, u.s.Rows)
		return c.labels(digits, u.s.Rows, err)
	case "repeat":
		if c.Period < 1 {
			return nil, fmt.Errorf("period %d", c.Period)
		}
		return c.lines(blob, nil, c.Period)
	case "chars":
		return c.chars(blob, u.s.Rows)
	case "text":
		return c.lines(blob, nil, u.s.Rows)
	case "front":
		if len(blob) < u.s.Rows {
			return nil, errors.New("cut short")
		}
		return c.lines(blob[u.s.Rows:], blob[:u.s.Rows], u.s.Rows)
	}
	return nil, fmt.Errorf("unknown kind %q", c.Kind)
}

func (c SplitColumn) number(dst []byte, v int64) []byte {
	return append(appendNumber(append(dst, c.Prefix...), v, c.Width), c.Suffix...)
}

func (c SplitColumn) ints(blob []byte, rows int) (func([]byte, int) []byte, error) {
	values := make([]int64, rows)
	var last int64
	for i := range values {
		d, n := binary.Varint(blob)
		if n <= 0 {
			return nil, errors.New("cut short")
		}
		last, blob = last+d, blob[n:]
		values[i] = last
	}
	return func(dst []byte, row int) []byte { return c.number(dst, values[row]) }, nil
}

func (c SplitColumn) labels(digits []byte, rows int, err error) (func([]byte, int) []byte, error) {
	if err != nil {
		return nil, err
	}
	if len(digits) != rows {
		return nil, fmt.Errorf("%d cells, %d expected", len(digits), rows)
	}
	for _, d := range digits {
		if int(d) >= len(c.Labels) {
			return nil, fmt.Errorf("label %d of %d", d, len(c.Labels))
		}
	}
	return func(dst []byte, row int) []byte { return append(dst, c.Labels[digits[row]]...) }, nil
}

func undoRuns(blob []byte, rows int) ([]byte, error) {
	out := make([]byte, 0, rows)
	for len(blob) > 0 {
		label, a := binary.Uvarint(blob)
		n, b := binary.Uvarint(blob[max(a, 0):])
		if a <= 0 || b <= 0 || label >= maxRadix || n > uint64(rows-len(out)) {
			return nil, errors.New("a broken run")
		}
		for range n {
			out = append(out, byte(label))
		}
		blob = blob[a+b:]
	}
	return out, nil
}

// lines are cells that end in a line feed; shared, if not nil, is what each has
// in common with the one before. More rows than cells begin again.
func (c SplitColumn) lines(blob, shared []byte, n int) (func([]byte, int) []byte, error) {
	cells := make([][]byte, n)
	var last []byte
	for i := range cells {
		end := bytes.IndexByte(blob, '\n')
		if end < 0 || (shared != nil && int(shared[i]) > len(last)) {
			return nil, errors.New("cut short")
		}
		cells[i] = blob[:end:end]
		if shared != nil {
			cells[i] = append(last[:shared[i]:shared[i]], blob[:end]...)
			last = cells[i]
		}
		blob = blob[end+1:]
	}
	return func(dst []byte, row int) []byte { return append(dst, cells[row%n]...) }, nil
}

func (c SplitColumn) chars(blob []byte, rows int) (func([]byte, int) []byte, error) {
	mask, alphabet := []rune(c.Mask), []rune(c.Alphabet)
	for _, s := range c.Slots {
		if s < 0 || s >= len(mask) {
			return nil, fmt.Errorf("slot %d of %d", s, len(mask))
		}
	}
	digits, err := radixGroup{len(alphabet), c.Digits, c.Bytes}.unpack(blob, rows*len(c.Slots))
	if err != nil {
		return nil, err
	}
	return func(dst []byte, row int) []byte {
		for i, s := range c.Slots {
			mask[s] = alphabet[digits[row*len(c.Slots)+i]]
		}
		return append(dst, string(mask)...)
	}, nil
}
