package runnerpack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

const splitFolder = "_sandglass/splits/"

// PackSplit packs a CSV table that parseTable accepts into a description and its
// blobs. number is the split's place in the config. The result was unpacked
// again and compared before it is returned.
func PackSplit(path string, number int, data []byte) (Split, []Blob, error) {
	t, err := parseTable(data)
	if err != nil {
		return Split{}, nil, err
	}
	return packTable(path, number, t)
}

func packTable(path string, number int, t *table) (Split, []Blob, error) {
	base := Split{Path: path, SHA256: hexSHA256(t.data), Bytes: len(t.data), Rows: t.rows}
	if t.plain && t.rows > 0 {
		s, blobs, err := packColumns(base, number, t)
		if err != nil {
			return Split{}, nil, err
		}
		if back, err := UnpackSplit(s, blobs); err == nil && bytes.Equal(back, t.data) {
			return s, blobs, nil
		}
		// Not known to happen, and if it does the raw form is right all the same.
	}
	return packRaw(base, number, t.data)
}

// mountedSplit describes a table that a dataset brings to the session.
func mountedSplit(path, from string, t *table) Split {
	return Split{Path: path, SHA256: hexSHA256(t.data), Bytes: len(t.data), Rows: t.rows, Form: "mounted", From: from}
}

func hexSHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func packRaw(s Split, number int, data []byte) (Split, []Blob, error) {
	packed, xz, err := smaller(data)
	if err != nil {
		return Split{}, nil, err
	}
	s.Form, s.XZ = "raw", xz
	s.Blob = fmt.Sprintf("%s%d", splitFolder, number)
	return s, []Blob{{s.Blob, packed}}, nil
}

func packColumns(s Split, number int, t *table) (Split, []Blob, error) {
	s.Form, s.BOM, s.Sep, s.EOL, s.FinalEOL = "table", t.bom, string(t.sep), t.eol, t.final
	var blobs []Blob
	for i, cells := range t.cols {
		col, counts := t.counter(i)
		var blob []byte
		if !counts {
			var err error
			if col, blob, err = packColumn(column{t, cells}); err != nil {
				return Split{}, nil, err
			}
		}
		col.Name = string(t.raw(t.header[i]))
		if blob != nil {
			col.Blob = fmt.Sprintf("%s%d-%d", splitFolder, number, i)
			blobs = append(blobs, Blob{col.Blob, blob})
		}
		s.Columns = append(s.Columns, col)
	}
	return s, blobs, nil
}

// smaller is data, or its xz stream if that has fewer bytes.
func smaller(data []byte) ([]byte, bool, error) {
	packed, err := xzPack(data)
	if err != nil {
		return nil, false, err
	}
	if len(packed) < len(data) {
		return packed, true, nil
	}
	return data, false, nil
}

// column is one column's cells.
type column struct {
	t     *table
	cells []span
}

func (c column) len() int          { return len(c.cells) }
func (c column) cell(i int) []byte { return c.t.raw(c.cells[i]) }

// part is rows from to to of the column.
func (c column) part(from, to int) column { return column{c.t, c.cells[from:to]} }

// encoding is one exact form of a column. Forms that cost time to make are made
// when chosen; until then their size is an estimate from a sample.
type encoding struct {
	col  SplitColumn
	blob []byte
	size int // bytes of the blob as it travels, plus what the description costs
}

// packColumn tries every other form that can hold the column and keeps the smallest.
func packColumn(c column) (SplitColumn, []byte, error) {
	if labels, digits, ok := labelled(c); ok {
		return packLabels(c, labels, digits)
	}
	return packText(c)
}

// packLabels chooses among the forms of a column with few different cells.
func packLabels(c column, labels []string, digits []byte) (SplitColumn, []byte, error) {
	if len(labels) == 1 {
		return SplitColumn{Kind: "const", Value: labels[0]}, nil, nil
	}
	g := bestGroup(len(labels), len(digits))
	best := encoding{
		col:  SplitColumn{Kind: "radix", Labels: labels, Digits: g.digits, Bytes: g.bytes},
		size: g.size(len(digits)) + labelCost(labels),
	}
	try := func(kind string, blob []byte, withLabels bool, period int) error {
		packed, xz, err := smaller(blob)
		if err != nil {
			return err
		}
		e := encoding{col: SplitColumn{Kind: kind, Period: period, XZ: xz}, blob: packed, size: len(packed)}
		if withLabels {
			e.col.Labels = labels
			e.size += labelCost(labels)
		}
		if e.size < best.size {
			best = e
		}
		return nil
	}
	if p := period(digits); p > 0 {
		if err := try("repeat", joinCells(c.part(0, p)), false, p); err != nil {
			return SplitColumn{}, nil, err
		}
	}
	if blob, ok := runLengths(digits); ok {
		if err := try("runs", blob, true, 0); err != nil {
			return SplitColumn{}, nil, err
		}
	}
	if promises(digits, best.size) {
		if err := try("bytes", digits, true, 0); err != nil {
			return SplitColumn{}, nil, err
		}
	}
	if best.col.Kind == "radix" {
		best.blob = g.pack(digits)
	}
	return best.col, best.blob, nil
}

// sampleRows is enough to see what xz makes of a column, and takes it about 20 ms.
const sampleRows = 1 << 16

// promises: a sample says that xz over one byte a row might get below limit.
// Random folds cannot, and trying costs ten times the rest of the packing.
func promises(digits []byte, limit int) bool {
	if len(digits) <= sampleRows {
		return true
	}
	mid := (len(digits) - sampleRows) / 2
	packed, err := xzPack(digits[mid : mid+sampleRows])
	if err != nil {
		return false
	}
	// Regularity may span more than the sample, so a near miss is tried too; at
	// random folds the sample stands a tenth above the limit.
	estimate := float64(len(packed)) / sampleRows * float64(len(digits))
	return estimate < 1.02*float64(limit)
}

// labelCost is about what the labels add to the config.
func labelCost(labels []string) int {
	n := 0
	for _, l := range labels {
		n += len(l) + 3
	}
	return n
}

// packText chooses among the forms of a column with many different cells. Up to
// a sample's size all are made; above it a sample decides.
func packText(c column) (SplitColumn, []byte, error) {
	forms := []func(column) (SplitColumn, []byte, bool){asInts, asChars, asText, asFront}
	sample := c
	if c.len() > sampleRows {
		mid := (c.len() - sampleRows) / 2
		sample = c.part(mid, mid+sampleRows)
	}
	best, least := -1, 0.0
	var col SplitColumn
	var blob []byte
	for i, form := range forms {
		got, raw, ok := form(sample)
		if !ok {
			continue
		}
		packed, xz, err := smaller(raw)
		if err != nil {
			return SplitColumn{}, nil, err
		}
		if best < 0 || float64(len(packed)) < least {
			best, least = i, float64(len(packed))
			col, blob, col.XZ = got, packed, xz
		}
	}
	if sample.len() == c.len() {
		col.XZ = col.XZ && best >= 0
		return col, blob, nil
	}
	got, raw, ok := forms[best](c)
	if !ok { // the sample had the form, the whole has not
		got, raw, _ = asText(c)
	}
	packed, xz, err := smaller(raw)
	if err != nil {
		return SplitColumn{}, nil, err
	}
	got.XZ = xz
	return got, packed, nil
}
