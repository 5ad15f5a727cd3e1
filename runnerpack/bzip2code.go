package runnerpack

import (
	"bytes"
	"slices"
)

// bzLengths are the lengths of a Huffman code for the counts, at most
// bzMaxLength. Every symbol has one: a symbol that a table's own groups lack may
// still stand in a group that chooses the table later.
func bzLengths(count []int) []uint8 {
	weight := make([]int, len(count))
	for i, c := range count {
		weight[i] = max(c, 1) << 8
	}
	for {
		lengths := huffman(weight)
		if slices.Max(lengths) <= bzMaxLength {
			return lengths
		}
		for i := range weight { // flatter, until the rarest is short enough
			weight[i] = weight[i]/2 + 1
		}
	}
}

// huffman gives code lengths by the two-queue method.
func huffman(weight []int) []uint8 {
	n := len(weight)
	leaves := make([]int, n)
	for i := range leaves {
		leaves[i] = i
	}
	slices.SortStableFunc(leaves, func(a, b int) int { return weight[a] - weight[b] })
	sum := slices.Grow(slices.Clone(weight), n)
	parent := make([]int, 2*n-1)
	inner := n // first inner node not yet joined
	take := func() int {
		if len(leaves) > 0 && (inner >= len(sum) || sum[leaves[0]] <= sum[inner]) {
			at := leaves[0]
			leaves = leaves[1:]
			return at
		}
		inner++
		return inner - 1
	}
	for len(sum) < 2*n-1 {
		a, b := take(), take()
		parent[a], parent[b] = len(sum), len(sum)
		sum = append(sum, sum[a]+sum[b])
	}
	depth := make([]uint8, 2*n-1)
	for i := 2*n - 3; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
	}
	return depth[:n]
}

// bzCodes are the codes of a table: shorter ones first, then by symbol.
func bzCodes(lengths []uint8) []uint32 {
	codes := make([]uint32, len(lengths))
	code := uint32(0)
	for n := uint8(1); n <= bzMaxLength; n++ {
		for s, l := range lengths {
			if l == n {
				codes[s] = code
				code++
			}
		}
		code <<= 1
	}
	return codes
}

// bitWriter writes bits, most significant first.
type bitWriter struct {
	out  bytes.Buffer
	bits uint64
	n    int
}

// write writes the lowest n bits of v, n at most 48.
func (w *bitWriter) write(v uint64, n int) {
	if n > 32 {
		w.write(v>>32, n-32)
		v, n = v&(1<<32-1), 32
	}
	w.bits = w.bits<<n | v
	w.n += n
	for w.n >= 8 {
		w.n -= 8
		w.out.WriteByte(byte(w.bits >> w.n))
	}
	w.bits &= 1<<w.n - 1
}

func (w *bitWriter) flush() {
	if w.n > 0 {
		w.write(0, 8-w.n)
	}
}
