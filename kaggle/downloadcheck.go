package kaggle

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// partMark remembers what a part file is a part of.
type partMark struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Size         int64  `json:"size,omitempty"` // bytes; 0 = not known
}

func markPath(part string) string { return part + ".json" }

func markOf(h http.Header, total int64) partMark {
	m := partMark{ETag: h.Get("ETag"), LastModified: h.Get("Last-Modified"), Size: max(0, total)}
	if strings.HasPrefix(m.ETag, "W/") {
		m.ETag = "" // a weak tag may not stand in If-Range
	}
	return m
}

func readMark(part string) partMark {
	var m partMark
	if b, err := os.ReadFile(markPath(part)); err == nil {
		_ = json.Unmarshal(b, &m) // an unreadable mark is no mark
	}
	return m
}

// write keeps the mark; without it a resume is only less sure, so a failure is not one of the download.
func (m partMark) write(part string) {
	if b, err := json.Marshal(m); err == nil {
		_ = os.WriteFile(markPath(part), b, 0o644)
	}
}

// validator is the value of If-Range.
func (m partMark) validator() string {
	if m.ETag != "" {
		return m.ETag
	}
	return m.LastModified
}

// discard throws the part file away.
func (d *download) discard() {
	_ = os.Remove(d.part)
	_ = os.Remove(markPath(d.part))
	d.have = 0
}

// verify checks the part file on the disk and names the strongest check that was possible.
func (d *download) verify() (string, error) {
	size := d.partSize()
	if d.total >= 0 && size != d.total {
		return "", d.damaged(fmt.Sprintf("%d bytes came instead of %d", size, d.total))
	}
	sums := map[string]hash.Hash{}
	want := map[string][]byte{}
	if d.opt.SHA256 != "" {
		w, err := hex.DecodeString(strings.TrimSpace(d.opt.SHA256))
		if err != nil || len(w) != sha256.Size {
			return "", &Error{Op: d.op, Kind: ErrRejected, Message: "the expected SHA-256 is not 64 hex digits"}
		}
		want["sha256"], sums["sha256"] = w, sha256.New()
	}
	for name, w := range googHashes(d.header) {
		want[name] = w
		if name == "md5" {
			sums[name] = md5.New()
		} else {
			sums[name] = crc32.New(crc32.MakeTable(crc32.Castagnoli))
		}
	}
	if err := d.sum(sums); err != nil {
		return "", err
	}
	best := ""
	if d.total >= 0 {
		best = "size"
	}
	for _, name := range []string{"crc32c", "md5", "sha256"} {
		h, ok := sums[name]
		if !ok {
			continue
		}
		if !bytes.Equal(h.Sum(nil), want[name]) {
			return "", d.damaged("its " + name + " digest is not the announced one")
		}
		best = name
	}
	return best, nil
}

func (d *download) damaged(why string) error {
	return &Error{Op: d.op, Kind: ErrMalformed, Temporary: true, Message: "the file is damaged: " + why + "; nothing of it was kept"}
}

// sum reads the part file through the digests.
func (d *download) sum(sums map[string]hash.Hash) error {
	if len(sums) == 0 {
		return nil
	}
	f, err := os.Open(d.part)
	if err != nil {
		return d.disk(err)
	}
	defer f.Close()
	var to []io.Writer
	for _, h := range sums {
		to = append(to, h)
	}
	if _, err := io.Copy(io.MultiWriter(to...), f); err != nil {
		return d.disk(err)
	}
	return nil
}

// googHashes reads X-Goog-Hash: crc32c=…, md5=…, in one header or several. The digests of an object that is stored
// compressed are those of its compressed form, so they are left out then (unverified for Kaggle's storage).
func googHashes(h http.Header) map[string][]byte {
	out := map[string][]byte{}
	if enc := h.Get("X-Goog-Stored-Content-Encoding"); enc != "" && enc != "identity" && h.Get("Content-Encoding") == "" {
		return out
	}
	for _, line := range h.Values("X-Goog-Hash") {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			b, err := base64.StdEncoding.DecodeString(value)
			if err == nil && (name == "md5" && len(b) == md5.Size || name == "crc32c" && len(b) == binary.Size(uint32(0))) {
				out[name] = b
			}
		}
	}
	return out
}

// finish puts the part file under its name, with its time, and makes sure that both survive a crash.
func (d *download) finish(how string) (DownloadResult, error) {
	res := DownloadResult{Path: d.dest, Bytes: d.partSize(), Resumed: d.resumed, Verified: how}
	if err := syncPath(d.part); err != nil {
		return DownloadResult{}, d.disk(err)
	}
	if t, err := http.ParseTime(d.header.Get("Last-Modified")); err == nil {
		res.ModTime = t.UTC()
		_ = os.Chtimes(d.part, time.Time{}, t) // the time is a convenience
	}
	if err := os.Rename(d.part, d.dest); err != nil {
		return DownloadResult{}, d.disk(err)
	}
	_ = os.Remove(markPath(d.part))
	if runtime.GOOS != "windows" {
		_ = syncPath(filepath.Dir(d.dest)) // not every file system can
	}
	return res, nil
}

func syncPath(path string) error {
	flag := os.O_RDWR
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// followFile follows a redirect to a file: never to plain http from https, and without telling where it came from, because
// that address is signed.
func followFile(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return fmt.Errorf("more than ten redirects")
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("a redirect away from https")
	}
	req.Header.Del("Referer")
	req.Header.Del("Authorization")
	return nil
}
