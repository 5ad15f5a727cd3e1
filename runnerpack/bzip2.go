package runnerpack

import (
	"bytes"
	"math/bits"
)

// The code in a payload is compressed by bzip2: on some hundred kilobytes of
// Python it is five to fifteen percent smaller than what xz makes of it, and
// every Python can undo it. Go's library only reads the format, so here is a
// writer. The layout is that of bzip2 1.0, as compress/bzip2 documents it by
// reading it.

const (
	bzBlock     = 900_000 - 19 // bytes a block after the first run-length coding
	bzGroup     = 50           // symbols that share a Huffman table
	bzMaxLength = 17           // bits of a code; the format allows 20
	bzRounds    = 10           // of refining the tables; the reference does 4
	bzMinTables = 2
	bzMaxTables = 6
)

// bzip2Pack compresses data to a bzip2 stream. Equal input gives equal bytes.
func bzip2Pack(data []byte) []byte {
	w := &bitWriter{}
	w.out.WriteString("BZh9")
	total := uint32(0)
	for len(data) > 0 {
		block, used := bzRuns(data)
		sum := bzSum(data[:used])
		total = bits.RotateLeft32(total, 1) ^ sum
		w.write(0x314159265359, 48)
		w.write(uint64(sum), 32)
		w.write(0, 1) // not randomised
		w.block(block)
		data = data[used:]
	}
	w.write(0x177245385090, 48)
	w.write(uint64(total), 32)
	w.flush()
	return w.out.Bytes()
}

// bzRuns is one block: runs of 4 to 255 equal bytes become four of them and the
// number of further ones. used is how much of data is in it.
func bzRuns(data []byte) (block []byte, used int) {
	block = make([]byte, 0, min(len(data)+len(data)/4, bzBlock))
	for used < len(data) && len(block)+5 <= bzBlock {
		n := 1
		for n < 255 && used+n < len(data) && data[used+n] == data[used] {
			n++
		}
		block = append(block, bytes.Repeat(data[used:used+1], min(n, 4))...)
		if n >= 4 {
			block = append(block, byte(n-4))
		}
		used += n
	}
	return block, used
}

var bzSumTable = func() (t [256]uint32) {
	for i := range t {
		v := uint32(i) << 24
		for range 8 {
			v = v<<1 ^ 0x04c11db7&-(v>>31)
		}
		t[i] = v
	}
	return t
}()

// bzSum is bzip2's CRC-32, most significant bit first.
func bzSum(data []byte) uint32 {
	sum := ^uint32(0)
	for _, c := range data {
		sum = sum<<8 ^ bzSumTable[byte(sum>>24)^c]
	}
	return ^sum
}

// block writes what follows a block's head: transform, alphabet, tables, symbols.
func (w *bitWriter) block(block []byte) {
	last := make([]byte, len(block))
	var origin int
	for i, at := range rotations(block) {
		if at == 0 {
			origin = i
			at = int32(len(block))
		}
		last[i] = block[at-1]
	}
	w.write(uint64(origin), 24)
	var used [256]bool
	for _, c := range last {
		used[c] = true
	}
	w.alphabet(&used)
	symbols, size := bzFront(last, &used)
	tables, choice := bzTables(symbols, size)
	w.write(uint64(len(tables)), 3)
	w.write(uint64(len(choice)), 15)
	w.choices(choice, len(tables))
	for _, t := range tables {
		w.lengths(t)
	}
	codes := make([][]uint32, len(tables))
	for i, t := range tables {
		codes[i] = bzCodes(t)
	}
	for i, s := range symbols {
		k := choice[i/bzGroup]
		w.write(uint64(codes[k][s]), int(tables[k][s]))
	}
}

// alphabet says which bytes occur.
func (w *bitWriter) alphabet(used *[256]bool) {
	var rows uint64
	for i := range 256 {
		if used[i] {
			rows |= 1 << (15 - i/16)
		}
	}
	w.write(rows, 16)
	for row := range 16 {
		if rows&(1<<(15-row)) == 0 {
			continue
		}
		for i := range 16 {
			bit := uint64(0)
			if used[16*row+i] {
				bit = 1
			}
			w.write(bit, 1)
		}
	}
}

// choices writes each group's table, moved to the front and in unary.
func (w *bitWriter) choices(choice []uint8, tables int) {
	list := []uint8{0, 1, 2, 3, 4, 5}[:tables]
	for _, c := range choice {
		at := bytes.IndexByte(list, c)
		copy(list[1:at+1], list[:at])
		list[0] = c
		w.write(1<<(at+1)-2, at+1)
	}
}

// lengths writes a table as differences.
func (w *bitWriter) lengths(table []uint8) {
	at := table[0]
	w.write(uint64(at), 5)
	for _, n := range table {
		for ; at < n; at++ {
			w.write(2, 2)
		}
		for ; at > n; at-- {
			w.write(3, 2)
		}
		w.write(0, 1)
	}
}

// bzFront moves to the front and writes runs of the front symbol in bijective
// base 2. size is the number of different symbols, the end's included.
func bzFront(last []byte, used *[256]bool) (symbols []uint16, size int) {
	var list []byte
	for i, u := range used {
		if u {
			list = append(list, byte(i))
		}
	}
	size = len(list) + 2
	symbols = make([]uint16, 0, len(last)/2+1)
	run := 0
	flush := func() {
		for ; run > 0; run = (run - 1) / 2 {
			symbols = append(symbols, uint16((run-1)&1))
		}
	}
	for _, c := range last {
		at := bytes.IndexByte(list, c)
		if at == 0 {
			run++
			continue
		}
		flush()
		copy(list[1:at+1], list[:at])
		list[0] = c
		symbols = append(symbols, uint16(at+1))
	}
	flush()
	return append(symbols, uint16(size-1)), size
}

// bzTables makes the Huffman tables. Each group of symbols takes the table that
// suits it and each table is fitted to its groups, over and over, from a division
// of the text into equal stretches: code, prose and data of a payload lie together.
// Fewer tables cost less to describe and more fit better; which counts is tried.
func bzTables(symbols []uint16, size int) (tables [][]uint8, choice []uint8) {
	least := 0
	for n := bzMinTables; n <= bzMaxTables; n++ {
		if t, c, bits := bzFit(symbols, size, n); tables == nil || bits < least {
			tables, choice, least = t, c, bits
		}
	}
	return tables, choice
}

// bzFit makes n tables, and says about how many bits all takes with them.
func bzFit(symbols []uint16, size, n int) (tables [][]uint8, choice []uint8, bits int) {
	tables = make([][]uint8, n)
	choice = make([]uint8, (len(symbols)+bzGroup-1)/bzGroup)
	for g := range choice {
		choice[g] = uint8(g * n / len(choice))
	}
	group := func(g int) []uint16 { return symbols[g*bzGroup : min((g+1)*bzGroup, len(symbols))] }
	for range bzRounds {
		fit := make([][]int, n)
		for i := range fit {
			fit[i] = make([]int, size)
		}
		for g, c := range choice {
			for _, s := range group(g) {
				fit[c][s]++
			}
		}
		for i := range tables {
			tables[i] = bzLengths(fit[i])
		}
		bits = 0
		for g := range choice {
			var cost int
			choice[g], cost = bzBest(tables, group(g))
			bits += cost
		}
	}
	w := &bitWriter{}
	w.choices(choice, n)
	for _, t := range tables {
		w.lengths(t)
	}
	return tables, choice, bits + 8*w.out.Len()
}

// bzBest is the table in which a group takes the fewest bits.
func bzBest(tables [][]uint8, group []uint16) (table uint8, bits int) {
	for i, t := range tables {
		cost := 0
		for _, s := range group {
			cost += int(t[s])
		}
		if i == 0 || cost < bits {
			table, bits = uint8(i), cost
		}
	}
	return table, bits
}
