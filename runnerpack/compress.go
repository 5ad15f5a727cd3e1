package runnerpack

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// xzConfig is fixed, because equal input has to give equal bytes. No position
// bits, because nothing that travels has a period of four bytes; CRC32 because
// the payload has a SHA-256 of its own.
func xzConfig(size int) xz.WriterConfig {
	dict := lzma.MinDictCap
	for dict < size && dict < 8<<20 {
		dict *= 2
	}
	return xz.WriterConfig{
		Properties: &lzma.Properties{LC: 3, LP: 0, PB: 0},
		DictCap:    dict,
		CheckSum:   xz.CRC32,
	}
}

// xzPack compresses data to an xz stream.
func xzPack(data []byte) ([]byte, error) {
	var buf bytes.Buffer
	w, err := xzConfig(len(data)).NewWriter(&buf)
	if err != nil {
		return nil, fmt.Errorf("xz: %w", err)
	}
	if _, err := w.Write(data); err != nil {
		return nil, fmt.Errorf("xz: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("xz: %w", err)
	}
	return buf.Bytes(), nil
}

// xzUnpack undoes xzPack, at most limit bytes of it.
func xzUnpack(data []byte, limit int64) ([]byte, error) {
	r, err := xz.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("xz: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("xz: %w", err)
	}
	if int64(len(out)) > limit {
		return nil, fmt.Errorf("xz: more than %d bytes", limit)
	}
	return out, nil
}
