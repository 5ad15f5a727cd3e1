package runnerpack

import (
	"bytes"
	"compress/bzip2"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func bunzip(t testing.TB, packed []byte) []byte {
	t.Helper()
	out, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBzip2(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1_000_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "a byte": {0}, "two": {1, 1}, "three": {7, 7, 7}, "four": {7, 7, 7, 7}, "five": {7, 7, 7, 7, 7},
		"255": bytes.Repeat([]byte{3}, 255), "256": bytes.Repeat([]byte{3}, 256), "259": bytes.Repeat([]byte{3}, 259),
		"zeros": make([]byte, 3_000_000), "period": []byte(strings.Repeat("abc", 1000)), "noise over a block": noise,
		"all bytes": noise[:4096], "text": []byte(strings.Repeat("the quick brown fox jumps over the lazy dog\n", 99) + "end"),
		"skewed": func() []byte { // frequencies like Fibonacci's numbers make the deepest codes
			var out []byte
			a, b := 1, 1
			for i := range 28 {
				out = append(out, bytes.Repeat([]byte{byte(i), 200}, min(a, 40_000))...)
				a, b = b, a+b
			}
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
			return out
		}(),
	} {
		if got := bunzip(t, bzip2Pack(data)); !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes came back as %d", name, len(data), len(got))
		}
	}
}

func FuzzBzip2(f *testing.F) {
	f.Add([]byte("abracadabra"), uint16(3))
	f.Add(bytes.Repeat([]byte{0}, 300), uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, times uint16) {
		data = bytes.Repeat(data, int(times%64)+1)
		if got := bunzip(t, bzip2Pack(data)); !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back as %d", len(data), len(got))
		}
	})
}
