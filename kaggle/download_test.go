package kaggle

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var content = bytes.Repeat([]byte("leaf scan "), 300<<10) // 3 MB

// fileServer serves content like a storage does, cutting the first cuts answers after half of what is left.
type fileServer struct {
	cuts     atomic.Int32
	requests atomic.Int32
	ranges   atomic.Int32
	holds    atomic.Int32 // answers that stop half-way until the client goes
	change   func(h http.Header)
}

func (s *fileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	w.Header().Set("ETag", `"v1"`)
	if s.change != nil {
		s.change(w.Header())
	}
	if r.Header.Get("Range") != "" {
		s.ranges.Add(1)
	}
	if s.cuts.Add(-1) >= 0 {
		w = &cutter{ResponseWriter: w, left: len(content) / 3}
	}
	if s.holds.Add(-1) >= 0 {
		w = &cutter{ResponseWriter: w, left: len(content) / 3, wait: r.Context().Done()}
	}
	http.ServeContent(w, r, "", time.Date(2026, 10, 1, 2, 3, 4, 0, time.UTC), bytes.NewReader(content))
}

type cutter struct {
	http.ResponseWriter
	left int
	wait <-chan struct{} // nil = cut at once
}

func (c *cutter) Write(b []byte) (int, error) {
	if len(b) > c.left {
		_, _ = c.ResponseWriter.Write(b[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		if c.wait != nil {
			<-c.wait
		}
		panic(http.ErrAbortHandler)
	}
	c.left -= len(b)
	return c.ResponseWriter.Write(b)
}

func (s *fileServer) start(t *testing.T) (*Client, string) {
	t.Helper()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a credential went to the storage")
		}
		s.ServeHTTP(w, r)
	})
	return c, strings.TrimSuffix(c.base, "/api/v1") + "/kf/1/secretsignature/model.bin?sig=secretsignature"
}

func md5Header(b []byte) string {
	sum := md5.Sum(b)
	return "md5=" + base64.StdEncoding.EncodeToString(sum[:])
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, left := range []string{path + ".part", path + ".part.json"} {
		if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", left, err)
		}
	}
}

// Trap 25: the file gets its name when it is complete and checked; it carries the server's time; no credential goes out.
func TestDownload(t *testing.T) {
	sum := sha256.Sum256(content)
	for _, tc := range []struct{ header, sha, want string }{
		{"", "", "size"}, {"crc32c=AAAAAA==, " + md5Header(content), "", ""}, {md5Header(content), "", "md5"},
		{"crc32c=bad," + md5Header(content), "", "md5"}, {"", hex.EncodeToString(sum[:]), "sha256"},
	} {
		s := &fileServer{change: func(h http.Header) {
			if tc.header != "" {
				h.Set("X-Goog-Hash", tc.header)
			}
		}}
		c, url := s.start(t)
		dest := filepath.Join(t.TempDir(), "fold0", "model.bin")
		var done, total int64
		res, err := c.Download(t.Context(), url, dest, DownloadOptions{SHA256: tc.sha, Progress: func(d, n int64) {
			if d < done {
				t.Error("progress went back")
			}
			done, total = d, n
		}})
		if tc.want == "" { // a wrong crc32c
			asError(t, err, ErrMalformed)
			if _, err := os.Stat(dest); err == nil {
				t.Error("a damaged file has its name")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		checkFile(t, dest)
		if res.Verified != tc.want || res.Bytes != int64(len(content)) || done != res.Bytes || total != res.Bytes || res.Resumed {
			t.Errorf("%+v, progress %d of %d", res, done, total)
		}
		if fi, _ := os.Stat(dest); !fi.ModTime().Equal(time.Date(2026, 10, 1, 2, 3, 4, 0, time.UTC)) || !res.ModTime.Equal(fi.ModTime()) {
			t.Errorf("time %v", fi.ModTime())
		}
	}
}

// A broken connection is resumed by range; the end is checked.
func TestDownloadResumesAfterCuts(t *testing.T) {
	s := &fileServer{change: func(h http.Header) { h.Set("X-Goog-Hash", md5Header(content)) }}
	s.cuts.Store(2)
	c, url := s.start(t)
	dest := filepath.Join(t.TempDir(), "model.bin")
	res, err := c.Download(t.Context(), url, dest, DownloadOptions{})
	if err != nil || !res.Resumed || res.Verified != "md5" || s.ranges.Load() != 2 {
		t.Fatalf("%+v %v, %d ranges", res, err, s.ranges.Load())
	}
	checkFile(t, dest)
}

// A cancelled download leaves its part for the next one.
func TestDownloadCancelledLeavesThePart(t *testing.T) {
	s := &fileServer{}
	s.holds.Store(1) // the rest does not come before the person has cancelled
	c, url := s.start(t)
	dest := filepath.Join(t.TempDir(), "model.bin")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Download(ctx, url, dest, DownloadOptions{Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	fi, err := os.Stat(dest + ".part")
	if err != nil || fi.Size() == 0 {
		t.Fatalf("no part: %v", err)
	}
	if _, err := os.Stat(dest); err == nil {
		t.Error("half a file has its name")
	}
	res, err := c.Download(t.Context(), url, dest, DownloadOptions{})
	if err != nil || !res.Resumed {
		t.Fatalf("%+v %v", res, err)
	}
	checkFile(t, dest)
}

// What stands in a part file from before: the same thing is continued, another thing is started over.
func TestDownloadWithAnOldPart(t *testing.T) {
	ignoreRange := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }
	s := &fileServer{change: func(h http.Header) { h.Set("X-Goog-Hash", md5Header(content)) }}
	wrongPart := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "" {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-4/%d", len(content)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(content[:5])
			return
		}
		_, _ = w.Write(content)
	}
	for _, tc := range []struct {
		name    string
		h       http.HandlerFunc
		part    []byte
		mark    string
		resumed bool
	}{
		{"same, no mark", s.ServeHTTP, content[:1000], "", true},
		{"same", s.ServeHTTP, content[:1000], `{"etag":"\"v1\""}`, true},
		{"complete", s.ServeHTTP, content, `{"etag":"\"v1\""}`, true},
		{"too long", s.ServeHTTP, append(bytes.Clone(content), 'x'), "", false},
		{"another version by its tag", s.ServeHTTP, []byte("other"), `{"etag":"\"v0\""}`, false},
		{"another version by its size", s.ServeHTTP, []byte("other"), `{"size":5000}`, false},
		{"another version by its digest", s.ServeHTTP, []byte("other"), "", false},
		{"server without ranges", ignoreRange, content[:1000], "", false},
		{"server that sends another part", wrongPart, content[:1000], "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := serve(t, tc.h)
			dest := filepath.Join(t.TempDir(), "model.bin")
			if err := os.WriteFile(dest+".part", tc.part, 0o644); err != nil {
				t.Fatal(err)
			}
			if tc.mark != "" {
				if err := os.WriteFile(dest+".part.json", []byte(tc.mark), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			res, err := c.Download(t.Context(), c.base, dest, DownloadOptions{})
			if err != nil || res.Resumed != tc.resumed {
				t.Fatalf("%+v %v", res, err)
			}
			checkFile(t, dest)
		})
	}
}

// Trap 25: an expired URL is renewed; without renewal, and for an error page, nothing is written.
func TestDownloadExpiredURL(t *testing.T) {
	s := &fileServer{}
	for _, status := range []int{401, 403, 404} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("sig") != "new" {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "<Error>Expired secretsignature</Error>")
				return
			}
			s.ServeHTTP(w, r)
		})
		dest := filepath.Join(t.TempDir(), "model.bin")
		_, err := c.Download(t.Context(), c.base+"?sig=secretsignature", dest, DownloadOptions{})
		kind, _ := kindOf(status)
		asError(t, err, kind)
		if _, serr := os.Stat(dest + ".part"); serr == nil || strings.Contains(err.Error(), "sig=") {
			t.Errorf("part %v, error %v", serr, err)
		}
		refreshed := 0
		_, err = c.Download(t.Context(), c.base+"?sig=secretsignature", dest, DownloadOptions{Refresh: func(context.Context) (string, error) {
			refreshed++
			return c.base + "?sig=new", nil
		}})
		if err != nil || refreshed != 1 {
			t.Fatalf("%v after %d", err, refreshed)
		}
		checkFile(t, dest)
		_, err = c.Download(t.Context(), c.base, dest, DownloadOptions{Refresh: func(context.Context) (string, error) {
			refreshed++
			return c.base, nil
		}})
		if asError(t, err, kind); refreshed != 1+refreshLimit {
			t.Errorf("refreshed %d times", refreshed)
		}
	}
}

// A server that fails for long is given up on after five tries without a byte, with growing waits; silence has a limit too.
func TestDownloadGivesUp(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"503":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int32
				c := inBubble(t, func(w http.ResponseWriter, r *http.Request) { n.Add(1); h(w, r) })
				start := time.Now()
				_, err := c.Download(t.Context(), "http://files.invalid/a", filepath.Join(t.TempDir(), "a"), DownloadOptions{})
				var e *Error
				if !errors.As(err, &e) || n.Load() != downloadTries {
					t.Errorf("%v after %d tries", err, n.Load())
				}
				if name == "silent" && time.Since(start) < downloadTries*downloadIdle {
					t.Errorf("gave up after %v", time.Since(start))
				}
				synctest.Wait()
			})
		})
	}
}

// An unknown length, an empty file, a wrong digest and a folder in the way.
func TestDownloadEdges(t *testing.T) {
	body := "abc"
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush() // chunked: no length
		_, _ = io.WriteString(w, body)
	})
	dest := filepath.Join(t.TempDir(), "a")
	for _, text := range []string{"abc", ""} {
		body = text
		res, err := c.Download(t.Context(), c.base, dest, DownloadOptions{})
		got, _ := os.ReadFile(dest)
		if err != nil || res.Verified != "" || string(got) != text {
			t.Errorf("%q: %+v %v", text, res, err)
		}
	}
	_, err := c.Download(t.Context(), c.base, dest, DownloadOptions{SHA256: strings.Repeat("ab", 32)})
	asError(t, err, ErrMalformed)
	_, err = c.Download(t.Context(), c.base, dest, DownloadOptions{SHA256: "zz"})
	asError(t, err, ErrRejected)
	if got, rerr := os.ReadFile(dest); rerr != nil || string(got) != "" {
		t.Errorf("the old file was touched: %q %v", got, rerr)
	}
	blocked := filepath.Join(dest, "b")
	if _, err := c.Download(t.Context(), c.base, blocked, DownloadOptions{}); err == nil || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("a file in place of a folder: %v", err)
	}
	for _, bad := range []string{"", "file:///etc/passwd", "gs://x/y", "::"} {
		_, err := c.Download(t.Context(), bad, dest, DownloadOptions{})
		asError(t, err, ErrMalformed)
	}
}

// A full disk is told as what it is, once, and the part stays.
func TestDownloadFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil || runtime.GOOS != "linux" {
		t.Skip("there is no /dev/full here")
	}
	s := &fileServer{}
	c, url := s.start(t)
	dest := filepath.Join(t.TempDir(), "model.bin")
	if err := os.Symlink("/dev/full", dest+".part"); err != nil {
		t.Fatal(err)
	}
	_, err := c.Download(t.Context(), url, dest, DownloadOptions{})
	if err == nil || !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "secretsignature") || s.requests.Load() != 1 {
		t.Errorf("%v after %d requests", err, s.requests.Load())
	}
}

// A redirect to the storage is followed without telling it the signed address; never from https to http.
func TestDownloadRedirects(t *testing.T) {
	s := &fileServer{}
	storage := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("headers %v", r.Header)
		}
		s.ServeHTTP(w, r)
	})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, storage.base, http.StatusFound) })
	dest := filepath.Join(t.TempDir(), "model.bin")
	if _, err := c.Download(t.Context(), c.base+"?sig=x", dest, DownloadOptions{}); err != nil {
		t.Fatal(err)
	}
	checkFile(t, dest)
	from, _ := http.NewRequest(http.MethodGet, "https://a.invalid", nil)
	to, _ := http.NewRequest(http.MethodGet, "http://a.invalid", nil)
	if followFile(to, []*http.Request{from}) == nil {
		t.Error("https to http is followed")
	}
}

// Trap 26: names come from the run.
func TestCleanOutputPath(t *testing.T) {
	for in, want := range map[string]string{
		"a.txt": "a.txt", "fold0/oof.csv": "fold0/oof.csv", "./a//b/./c": "a/b/c", "a b/ü 葉.txt": "a b/ü 葉.txt", ".hidden": ".hidden",
		"console.log": "console.log", "com10": "com10", "a..b": "a..b", "...": "...", "dir/": "dir", "2026-12-01T01:02.log": "2026-12-01T01:02.log",
	} {
		if got, err := cleanOutputPath(in, "linux"); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", ".", "./", "..", "../a", "a/../../b", "a/..", "/etc/passwd", "//host/x", `a\b`, `..\a`, `C:\x`, "C:/x", "c:x", "a/C:x",
		"a\x00b", "a\nb", "\x1b[2J", "\xff", "CON", "con", "nul.txt", "dir/AUX", "com1", "COM1.log", "lpt9.tar.gz", "LPT¹", "con .txt", "aux:stream", "conin$",
		strings.Repeat("x", 300), strings.Repeat("x/", 1500)} {
		if got, err := cleanOutputPath(in, "linux"); err == nil {
			t.Errorf("%q becomes %q", in, got)
		}
	}
	for _, in := range []string{"a?b", "ab:c:d", "a.", "a /b", "a|b", `a"b`} {
		if _, err := cleanOutputPath(in, "linux"); err != nil {
			t.Errorf("%q on Linux: %v", in, err)
		}
		if _, err := cleanOutputPath(in, "windows"); err == nil {
			t.Errorf("%q on Windows is accepted", in)
		}
	}
}
