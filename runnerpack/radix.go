package runnerpack

import (
	"fmt"
	"math"
	"math/bits"
)

const (
	maxGroupBytes = 32
	maxRadix      = 256
)

// radixGroup is the packing of digits of base k: groups of digits in bytes.
type radixGroup struct{ k, digits, bytes int }

// size of n digits.
func (g radixGroup) size(n int) int { return (n + g.digits - 1) / g.digits * g.bytes }

// bestGroup is the group size that packs n digits of base k, 2 <= k <= 256, in
// the fewest bytes. At a million rows it stays within half a percent of
// log2(k) bits a digit.
func bestGroup(k, n int) radixGroup {
	best := radixGroup{k, 1, 1}
	for b := 1; b <= maxGroupBytes; b++ {
		g := radixGroup{k, digitsIn(k, b), b}
		if g.size(n) < best.size(n) {
			best = g
		}
	}
	return best
}

// digitsIn is the largest d with k^d <= 256^b.
func digitsIn(k, b int) int {
	d := int(math.Floor(float64(8*b) / math.Log2(float64(k))))
	for ; d > 1; d-- { // a rounding error must not cost a digit of the data
		if fits(k, d, b) {
			break
		}
	}
	return max(d, 1)
}

// fits: the largest number of d digits, all k-1, has at most b bytes.
func fits(k, d, b int) bool {
	var v wide
	for range d {
		if v.mulAdd(uint64(k), uint64(k-1)) != 0 {
			return false
		}
	}
	return v.bytes() <= b
}

// wide is a 256-bit unsigned integer, least significant word first.
type wide [maxGroupBytes / 8]uint64

// mulAdd sets w = w*m + a and returns what ran over.
func (w *wide) mulAdd(m, a uint64) uint64 {
	for i := range w {
		hi, lo := bits.Mul64(w[i], m)
		lo, carry := bits.Add64(lo, a, 0)
		w[i], a = lo, hi+carry
	}
	return a
}

// divMod sets w = w/d and returns w%d.
func (w *wide) divMod(d uint64) uint64 {
	var rem uint64
	for i := len(w) - 1; i >= 0; i-- {
		w[i], rem = bits.Div64(rem, w[i], d)
	}
	return rem
}

// bytes is how many bytes w needs.
func (w *wide) bytes() int {
	for i := len(w) - 1; i >= 0; i-- {
		if w[i] != 0 {
			return i*8 + (bits.Len64(w[i])+7)/8
		}
	}
	return 0
}

// pack packs digits, each below k.
func (g radixGroup) pack(digits []byte) []byte {
	out := make([]byte, 0, g.size(len(digits)))
	for len(digits) > 0 {
		n := min(g.digits, len(digits))
		var v wide
		for i := n - 1; i >= 0; i-- { // Horner, so that the first digit is the least significant
			v.mulAdd(uint64(g.k), uint64(digits[i]))
		}
		for i := range g.bytes {
			out = append(out, byte(v[i/8]>>(8*(i%8))))
		}
		digits = digits[n:]
	}
	return out
}

// unpack undoes pack for n digits.
func (g radixGroup) unpack(blob []byte, n int) ([]byte, error) {
	if g.digits < 1 || g.bytes < 1 || g.bytes > maxGroupBytes || g.k < 2 || g.k > maxRadix {
		return nil, fmt.Errorf("radix %d in groups of %d digits, %d bytes", g.k, g.digits, g.bytes)
	}
	if len(blob) != g.size(n) {
		return nil, fmt.Errorf("%d bytes for %d digits, %d expected", len(blob), n, g.size(n))
	}
	out := make([]byte, 0, n+g.digits)
	for ; len(blob) > 0; blob = blob[g.bytes:] {
		var v wide
		for i := range g.bytes {
			v[i/8] |= uint64(blob[i]) << (8 * (i % 8))
		}
		for range g.digits {
			out = append(out, byte(v.divMod(uint64(g.k))))
		}
	}
	return out[:n], nil
}
