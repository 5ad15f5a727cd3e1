package runnerpack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// randomFolds is "id,fold" with rows random k-way folds.
func randomFolds(rows, k int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := []byte("id,fold\n")
	for i := range rows {
		b = fmt.Appendf(b, "%d,%d\n", i, r.IntN(k))
	}
	return b
}

// travelled packs a table, sends its description through JSON, as the script
// does, and unpacks it.
func travelled(t testing.TB, data []byte) (Split, []Blob) {
	t.Helper()
	s, blobs, err := PackSplit(FoldsFile, 0, data)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := plainJSON(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Split
	if err := json.Unmarshal(asciiJSON(raw), &back); err != nil {
		t.Fatal(err)
	}
	out, err := UnpackSplit(back, blobs)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	if !bytes.Equal(out, data) {
		t.Fatalf("got %q, want %q", out, data)
	}
	return s, blobs
}

func blobBytes(blobs []Blob) (n int) {
	for _, b := range blobs {
		n += len(b.Data)
	}
	return n
}

// rowsOf writes a header and rows made by cell.
func rowsOf(header string, rows int, cell func(i int) string) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range rows {
		b.WriteString(cell(i) + "\n")
	}
	return b.String()
}

func TestSplitForms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, tt := range []struct {
		name, data string
		kinds      string
		most       int // bytes of the blobs
	}{
		{"count", rowsOf("id,fold", 5000, func(i int) string { return fmt.Sprintf("%d,%d", i, r.IntN(5)) }), "range radix", 1500},
		{"padded names", rowsOf("id,fold", 5000, func(i int) string { return fmt.Sprintf("img_%05d.png,%d", i+7, r.IntN(2)) }), "range radix", 650},
		{"padded, width seen late", rowsOf("id,fold", 300, func(i int) string { return fmt.Sprintf("%03d,%d", 299-i, r.IntN(2)) }), "range radix", 60},
		{"backwards", rowsOf("id,fold", 300, func(i int) string { return fmt.Sprintf("%d,0", 10-3*i) }), "range const", 0},
		{"periodic", rowsOf("id,fold", 5003, func(i int) string { return fmt.Sprintf("%d,%d", i, (i*i)%7) }), "range repeat", 40},
		{"sorted", rowsOf("id,fold", 5000, func(i int) string { return fmt.Sprintf("%d,%d", i, i*i/5000000) }), "range runs", 40},
		{"skewed", rowsOf("id,fold", 20000, func(i int) string { return fmt.Sprintf("%d,%d", i, max(0, r.IntN(100)-97)) }), "range runs", 1500},
		{"clustered", rowsOf("id,fold", 20000, func(i int) string { return fmt.Sprintf("%d,%d", i, (i*i/977+i%3)%5) }), "range bytes", 3000},
		{"gaps", rowsOf("id,fold", 5000, func(i int) string { return fmt.Sprintf("%d,0", 3*i+r.IntN(3)) }), "ints const", 1600},
		{"hashes", rowsOf("id,fold", 2000, func(i int) string { return fmt.Sprintf("x-%08x,1", r.Uint32()) }), "chars const", 8100},
		{"paths", rowsOf("id,fold", 3000, func(i int) string { return fmt.Sprintf("train/%d/scan%d/view.dcm,1", i/40, i*i) }), "front const", 8000},
		{"words", "id,fold\nblue,0\ngreen tea,1\nred,0\nb,1\nwhite wine,0\n", "text chars", 60},
		{"old line ends", "id,fold\ra,0\rb,1\r", "raw", 40},
		{"mixed line ends", "id,fold\na,0\r\nb,1\n", "raw", 40},
		{"blank line", "id,fold\na,0\n\nb,1\n", "raw", 40},
		{"line break in quotes", "id,fold\n\"a\nb\",0\nb,1\n", "raw", 40},
		{"quotes", "\"id\",fold\n\"a,\"\"x\"\"\",0\nb,1\n", "text range", 60},
		{"no final end", "id,fold\na,0\nb,1", "chars range", 60},
		{"everything odd", "\xef\xbb\xbfid;\"fold\"\r\nä'''; 0\r\n\U0001F600;-1\r\n\\;1 \r\n\x7f;2", "", 80},
		{"header only", "id,fold", "raw", 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, blobs := travelled(t, []byte(tt.data))
			kinds := "raw"
			if s.Form == "table" {
				kinds = ""
				for _, c := range s.Columns {
					kinds += " " + c.Kind
				}
			}
			if got := strings.TrimSpace(kinds); tt.kinds != "" && got != tt.kinds {
				t.Errorf("kinds %s, want %s", got, tt.kinds)
			}
			if n := blobBytes(blobs); n > tt.most {
				t.Errorf("%d bytes, want at most %d", n, tt.most)
			}
		})
	}
}

func TestSplitNearEntropy(t *testing.T) {
	_, blobs := travelled(t, randomFolds(700_000, 5))
	if n := base85Len(blobBytes(blobs)); n > 254_500 { // the entropy is 253,962 in base85
		t.Errorf("%d characters of base85", n)
	}
}

func TestRadixGroups(t *testing.T) {
	for k := 2; k <= maxRadix; k++ {
		g := bestGroup(k, 1_000_000)
		digits := make([]byte, 2*g.digits+1)
		for i := range digits {
			digits[i] = byte(k - 1) // the largest number there is
		}
		back, err := g.unpack(g.pack(digits), len(digits))
		if err != nil || !bytes.Equal(back, digits) {
			t.Fatalf("base %d in %v: %v", k, g, err)
		}
	}
}

func TestUnpackRefusesDamage(t *testing.T) {
	data := []byte("id,fold,g\nq1,0,x y\nw,1,z\nrr,0,k\nt,1,ii\nz,2,o\n")
	s, blobs := travelled(t, data)
	for i := range blobs {
		for _, damaged := range [][]byte{nil, blobs[i].Data[:len(blobs[i].Data)/2], append([]byte{255}, blobs[i].Data...)} {
			other := append([]Blob(nil), blobs...)
			other[i].Data = damaged
			if out, err := UnpackSplit(s, other); err == nil {
				t.Errorf("%s with %q gave %q", blobs[i].Name, damaged, out)
			}
		}
	}
	s.Columns[0].Kind = "other"
	if _, err := UnpackSplit(s, blobs); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("unknown kind: %v", err)
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"id,fold\n1,0\n2,1\n3,0\n", "\xef\xbb\xbfid;fold\r\na;0\r\nb;1", "id\tfold\n\"a\"\"b\"\t0\n\"c\td\"\t-1\n",
		"fold\n0\n1\n", "id,fold\n007,0\n7,1\n", "id,fold\n-1,0\n0,1\n1,0\n", "id,fold\n00,0\n-1,1\n", "a,b\n,\n,\n", "x\r1\r\n2\n",
		"id,fold\nüx,0\nüy,0\nñy,1\n", "k\n9223372036854775807\n1\n", "id\n-0\n05\n", "k\n999999999999999999\n-99999999999999999\n5\n", "\n\nid,fold\n\n",
	} {
		f.Add([]byte(s), uint16(1))
	}
	f.Add([]byte("id,fold\nb1,0\nb2,1\n"), uint16(40))
	f.Fuzz(func(t *testing.T, data []byte, times uint16) {
		if head, body, ok := bytes.Cut(data, []byte("\n")); ok { // long tables take other ways than short ones
			data = append(append(append([]byte(nil), head...), '\n'), bytes.Repeat(body, int(times%64)+1)...)
		}
		if _, err := parseTable(data); err != nil {
			return
		}
		travelled(t, data)
	})
}

func BenchmarkPackSplit700k(b *testing.B) {
	data := randomFolds(700_000, 5)
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		t, _, err := readFoldsTable(data)
		if err != nil {
			b.Fatal(err)
		}
		s, blobs, err := packTable(FoldsFile, 0, t)
		if err != nil {
			b.Fatal(err)
		}
		raw, _ := plainJSON(s)
		b.ReportMetric(float64(base85Len(blobBytes(blobs))+len(raw)), "script-bytes")
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/1e6, "MB/op")
}
