package runnerpack

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxLabels is the number of different cells up to which a column is a column of
// labels; with more the list itself would cost more than it saves.
const maxLabels = 64

// labelled finds the different cells of a column, sorted, and each row's place
// among them. ok is false when there are too many, or they are long.
func labelled(c column) (labels []string, digits []byte, ok bool) {
	digits = make([]byte, c.len())
	last := -1
	for i := range digits {
		cell := c.cell(i)
		if last < 0 || labels[last] != string(cell) {
			last = slices.Index(labels, string(cell))
		}
		if last < 0 {
			if len(labels) == maxLabels || len(cell) > 64 {
				return nil, nil, false
			}
			last = len(labels)
			labels = append(labels, string(cell))
		}
		digits[i] = byte(last)
	}
	if len(labels) > 1 && len(labels)*4 > c.len() {
		return nil, nil, false // a list of labels only pays when they come again
	}
	sorted := slices.Sorted(slices.Values(labels))
	var to [maxLabels]byte
	for i, l := range labels {
		to[i] = byte(slices.Index(sorted, l))
	}
	for i, d := range digits {
		digits[i] = to[d]
	}
	return sorted, digits, true
}

// period is the smallest p, at most half the rows, with digits[i] == digits[i-p]
// for all i >= p; 0 if there is none. (The failure function of Knuth, Morris and Pratt.)
func period(digits []byte) int {
	fail := make([]int32, len(digits))
	for i, k := 1, int32(0); i < len(digits); i++ {
		for k > 0 && digits[i] != digits[k] {
			k = fail[k-1]
		}
		if digits[i] == digits[k] {
			k++
		}
		fail[i] = k
	}
	p := len(digits) - int(fail[len(digits)-1])
	if p > len(digits)/2 {
		return 0
	}
	return p
}

// runLengths is the content of a "runs" blob; ok is false when the runs are so
// short that one byte a row is no longer.
func runLengths(digits []byte) ([]byte, bool) {
	var out []byte
	for i := 0; i < len(digits); {
		n := 1
		for i+n < len(digits) && digits[i+n] == digits[i] {
			n++
		}
		out = binary.AppendUvarint(out, uint64(digits[i]))
		out = binary.AppendUvarint(out, uint64(n))
		if len(out) > len(digits)/2 {
			return nil, false
		}
		i += n
	}
	return out, true
}

// number is a cell split into prefix + padded integer + suffix.
type number struct {
	from, to int // the integer's place in the cell
	value    int64
	zero     bool // written with a leading zero that the value alone has not
	minus    bool
}

// lastNumber reads the last integer of a cell. A leading minus belongs to it
// only when the integer is the whole cell, so that "scan-01" stays a name.
func lastNumber(cell []byte) (n number, ok bool) {
	n.to = len(cell)
	for n.to > 0 && (cell[n.to-1] < '0' || cell[n.to-1] > '9') {
		n.to--
	}
	n.from = n.to
	scale := int64(1)
	for n.from > 0 && cell[n.from-1] >= '0' && cell[n.from-1] <= '9' {
		if n.to-n.from == 18 {
			return n, false
		}
		n.from--
		n.value += int64(cell[n.from]-'0') * scale
		scale *= 10
	}
	if n.from == n.to {
		return n, false
	}
	n.zero = cell[n.from] == '0' && n.to-n.from > 1
	if n.from == 1 && cell[0] == '-' && n.to == len(cell) {
		n.from, n.value, n.minus = 0, -n.value, true
		n.zero = n.zero || n.value == 0 // "-0" and "-07" are no integers of ours
	}
	return n, true
}

// is: the integer is what pad(value) writes at this width.
func (n number) is(width int) bool {
	digits := n.to - n.from
	if width == 0 {
		return !n.zero
	}
	return !n.minus && digits >= width && (!n.zero || digits == width)
}

// appendNumber writes what "range" and "ints" call pad.
func appendNumber(dst []byte, v int64, width int) []byte {
	at := len(dst)
	dst = strconv.AppendInt(dst, v, 10)
	for len(dst)-at < width {
		dst = slices.Insert(dst, at, '0')
	}
	return dst
}

// numbers reads a column as prefix + padded integer + suffix with the same
// prefix, suffix and width throughout; step is called with each integer in turn
// and may stop.
func numbers(c column, step func(i int, v int64) bool) (prefix, suffix []byte, width int, ok bool) {
	for i := range c.cells {
		n, ok := lastNumber(c.cell(i))
		if !ok {
			return nil, nil, 0, false
		}
		if n.zero { // the width shows at the first leading zero only: "10" may come before "07"
			width = n.to - n.from
			break
		}
	}
	for i := range c.cells {
		cell := c.cell(i)
		n, ok := lastNumber(cell)
		if i == 0 {
			prefix, suffix = cell[:n.from], cell[n.to:]
		}
		if !ok || !n.is(width) || !bytes.Equal(cell[:n.from], prefix) || !bytes.Equal(cell[n.to:], suffix) || !step(i, n.value) {
			return nil, nil, 0, false
		}
	}
	return prefix, suffix, width, true
}

// asRange holds an arithmetic sequence.
func asRange(c column) (SplitColumn, bool) {
	if c.len() < 2 {
		return SplitColumn{}, false
	}
	var start, stepBy, last int64
	prefix, suffix, width, ok := numbers(c, func(i int, v int64) bool {
		switch i {
		case 0:
			start = v
		case 1:
			stepBy = v - start
		default:
			if v-last != stepBy {
				return false
			}
		}
		last = v
		return true
	})
	if !ok || stepBy == 0 {
		return SplitColumn{}, false
	}
	return SplitColumn{Kind: "range", Prefix: string(prefix), Suffix: string(suffix), Start: start, Step: stepBy, Width: width}, true
}

// asInts holds integers in any order.
func asInts(c column) (SplitColumn, []byte, bool) {
	var blob []byte
	var last int64
	prefix, suffix, width, ok := numbers(c, func(i int, v int64) bool {
		if i == 0 {
			blob, last = make([]byte, 0, 2*c.len()), 0
		}
		blob = binary.AppendVarint(blob, v-last) // zigzag
		last = v
		return true
	})
	if !ok {
		return SplitColumn{}, nil, false
	}
	return SplitColumn{Kind: "ints", Prefix: string(prefix), Suffix: string(suffix), Width: width}, blob, true
}

// asChars holds cells of one length that vary at some places only.
func asChars(c column) (SplitColumn, []byte, bool) {
	mask := []rune(string(c.cell(0)))
	if len(mask) == 0 || len(mask) > 128 || c.len() < 2 {
		return SplitColumn{}, nil, false
	}
	varies := make([]bool, len(mask))
	for i := range c.cells {
		cell, at := c.cell(i), 0
		for len(cell) > 0 {
			r, n := utf8.DecodeRune(cell)
			if at == len(mask) {
				return SplitColumn{}, nil, false
			}
			varies[at] = varies[at] || r != mask[at]
			cell, at = cell[n:], at+1
		}
		if at != len(mask) {
			return SplitColumn{}, nil, false
		}
	}
	var slots []int
	for at, v := range varies {
		if v {
			slots = append(slots, at)
		}
	}
	digits, alphabet, ok := charDigits(c, varies, len(slots))
	if !ok {
		return SplitColumn{}, nil, false
	}
	g := bestGroup(len(alphabet), len(digits))
	return SplitColumn{
		Kind: "chars", Mask: string(mask), Slots: slots, Alphabet: string(alphabet),
		Digits: g.digits, Bytes: g.bytes,
	}, g.pack(digits), true
}

// charDigits are the varying characters of all cells as digits.
func charDigits(c column, varies []bool, slots int) ([]byte, []rune, bool) {
	digits := make([]byte, 0, c.len()*slots)
	index := map[rune]byte{}
	var alphabet []rune
	for i := range c.cells {
		at := 0
		for _, r := range string(c.cell(i)) {
			if varies[at] {
				d, ok := index[r]
				if !ok {
					if len(alphabet) == maxLabels {
						return nil, nil, false
					}
					d = byte(len(alphabet))
					index[r], alphabet = d, append(alphabet, r)
				}
				digits = append(digits, d)
			}
			at++
		}
	}
	return digits, alphabet, len(alphabet) >= 2
}

// joinCells is every cell followed by a line feed.
func joinCells(c column) []byte {
	n := 0
	for _, s := range c.cells {
		n += int(s.to-s.from) + 1
	}
	out := make([]byte, 0, n)
	for i := range c.cells {
		out = append(append(out, c.cell(i)...), '\n')
	}
	return out
}

func asText(c column) (SplitColumn, []byte, bool) {
	return SplitColumn{Kind: "text"}, joinCells(c), true
}

// asFront holds cells that begin like the one before.
func asFront(c column) (SplitColumn, []byte, bool) {
	out := make([]byte, c.len(), 2*c.len())
	var last []byte
	for i := range c.cells {
		cell, n := c.cell(i), 0
		for n < len(cell) && n < len(last) && n < 255 && cell[n] == last[n] {
			n++
		}
		out[i] = byte(n)
		out = append(append(out, cell[n:]...), '\n')
		last = cell
	}
	return SplitColumn{Kind: "front"}, out, true
}
