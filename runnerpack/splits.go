package runnerpack

// # Packed tables
//
// A split (data/folds.csv) travels in the cheapest exact form. Its description
// is one element of the config's "splits"; the bytes that the description
// refers to are members of the payload tar. The session rebuilds the file and
// compares its SHA-256 with the original's before anything trains.
//
// A description is a JSON object:
//
//	path    where the file belongs, slash-separated, under the project folder
//	sha256  of the whole original file, lower-case hex
//	bytes   its length
//	rows    its data rows (the header is not one)
//	form    "table", "raw" or "mounted"
//
// form "raw": the original bytes are the content of "blob". Nothing else.
//
//	blob    name of the payload member
//	xz      true when that member is an xz stream of the bytes, false when it is the bytes
//
// form "mounted": the file does not travel. It is the file of the same name in
// the dataset "from" (owner/slug), at most two folders deep, with that length and
// SHA-256; the session links it to its place, and stops if no file there is it.
//
//	from    the dataset
//
// form "table": the file is, in UTF-8,
//
//	(BOM if "bom") + header line + row 0 + … + row rows-1
//
// where a line is its cells joined by "sep", followed by "eol" – except that
// the last line of the file has no "eol" when "final_eol" is false. Cells are
// raw text as they stand in the file, with their quotes and blanks, so nothing
// is quoted or trimmed on either side. No cell contains "\n" or "\r".
//
//	bom        true: the file starts with EF BB BF
//	sep        one character: "," ";" or "\t"
//	eol        "\n" or "\r\n"
//	final_eol  true: the last line ends with eol
//	columns    from left to right, each with "name" (raw header cell), "kind" and:
//
// kind "const": every cell is "value".
//
// kind "range": cell i is prefix + pad(start + step*i) + suffix. pad writes the
// integer in decimal and fills it with zeros on the left up to "width"
// characters (Python: str(n).zfill(width); width 0 fills nothing; with width > 0
// no number is negative).
//
//	prefix, suffix, start, step, width
//
// kind "ints": like range, with the numbers from a blob: rows LEB128 unsigned
// varints (7 bits a byte, least significant first, high bit = more follows),
// each a zigzag-coded difference (0, -1, 1, -2 … are 0, 1, 2, 3 …) to the number
// before; the first one's predecessor is 0.
//
//	prefix, suffix, width, blob, xz
//
// kind "radix": cell i is labels[d[i]], k = len(labels) >= 2. The digits are
// packed in groups of "digits" digits to "bytes" bytes: a group is a
// little-endian unsigned integer sum(d[j] * k**j), j counting from the group's
// first row. The last group is filled up with digit 0. So the blob has
// ceil(rows/digits) * bytes bytes. bytes is at most 32.
//
//	labels, digits, bytes, blob, xz
//
// kind "bytes": cell i is labels[blob[i]], one byte a row, at most 256 labels.
//
//	labels, blob, xz
//
// kind "runs": the blob is a sequence of pairs of varints (as in "ints", not
// zigzag): label index, run length >= 1. The lengths add up to rows.
//
//	labels, blob, xz
//
// kind "repeat": the blob is "period" cells, each followed by "\n"; cell i is
// the (i mod period)-th of them.
//
//	period, blob, xz
//
// kind "chars": all cells have the same number of characters (code points),
// that of "mask", and differ from it only at the places listed in "slots"
// (ascending). The characters there are digits of base k = len(alphabet), packed
// as in "radix" over rows*len(slots) digits, row after row, slot after slot.
//
//	mask, slots, alphabet (a string), digits, bytes, blob, xz
//
// kind "text": the blob is the cells, each followed by "\n".
//
//	blob, xz
//
// kind "front": front-coded text. The blob's first "rows" bytes say how many
// bytes (0 to 255) each cell shares with the start of the cell before (the
// first one's is 0); then follow the rests of the cells in order, each followed
// by "\n". Sharing is counted in UTF-8 bytes and may end inside a character.
//
//	blob, xz
//
// "xz" means the same everywhere: the payload member is an xz stream of the
// blob. An unknown form or kind must stop the session with its name: a script is
// always unpacked by the runner that travels with it, so it means a damaged
// script. Members are named "_sandglass/splits/<split>-<column>", both counted
// from 0; a raw one "_sandglass/splits/<split>".
//
// The digits of a group come out fastest with divmod by a power of k and a
// table, least significant first:
//
//	table = [t for t in itertools.product(labels, repeat=m)]  # k**m entries, each reversed
//	v = int.from_bytes(group, "little")
//	while left: v, r = divmod(v, k**m); out.extend(table[r])

// Split describes a packed table; its JSON form is fixed by the comment above.
type Split struct {
	Path     string        `json:"path"`
	SHA256   string        `json:"sha256"`
	Bytes    int           `json:"bytes"`
	Rows     int           `json:"rows"`
	Form     string        `json:"form"`
	BOM      bool          `json:"bom"`
	Sep      string        `json:"sep,omitempty"`
	EOL      string        `json:"eol,omitempty"`
	FinalEOL bool          `json:"final_eol"`
	Columns  []SplitColumn `json:"columns,omitempty"`
	From     string        `json:"from,omitempty"`
	Blob     string        `json:"blob,omitempty"`
	XZ       bool          `json:"xz"`
}

// SplitColumn is one column of a packed table. Which fields count depends on Kind.
type SplitColumn struct {
	Name     string
	Kind     string
	Value    string
	Prefix   string
	Suffix   string
	Start    int64
	Step     int64
	Width    int
	Labels   []string
	Digits   int
	Bytes    int
	Period   int
	Mask     string
	Slots    []int
	Alphabet string
	Blob     string
	XZ       bool
}

// Blob is a payload member that a Split refers to.
type Blob struct {
	Name string
	Data []byte
}
