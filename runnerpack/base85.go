package runnerpack

import "encoding/binary"

// base85Alphabet is that of RFC 1924, which Python's base64.b85encode uses. It
// has neither quotes nor a backslash, so the text fits a Python string literal.
// (The standard library's ascii85 has both.)
const base85Alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// base85Len is the length of n bytes in base85: five characters for four bytes,
// and one more than its bytes for a last incomplete group.
func base85Len(n int) int {
	full := n / 4 * 5
	if r := n % 4; r > 0 {
		full += r + 1
	}
	return full
}

// appendBase85 appends src in base85 to dst, byte for byte what Python's
// base64.b85encode gives.
func appendBase85(dst, src []byte) []byte {
	for len(src) >= 4 {
		dst = appendGroup85(dst, binary.BigEndian.Uint32(src), 5)
		src = src[4:]
	}
	if len(src) > 0 {
		var pad [4]byte
		copy(pad[:], src)
		dst = appendGroup85(dst, binary.BigEndian.Uint32(pad[:]), len(src)+1)
	}
	return dst
}

func appendGroup85(dst []byte, v uint32, keep int) []byte {
	var g [5]byte
	for i := 4; i >= 0; i-- {
		g[i] = base85Alphabet[v%85]
		v /= 85
	}
	return append(dst, g[:keep]...)
}
