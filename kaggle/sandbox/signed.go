package sandbox

import (
	"archive/zip"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sign is the MAC of some text under the sandbox's secret. Parts are joined so that none can run into the next.
func (s *Sandbox) sign(parts ...string) []byte {
	m := hmac.New(sha256.New, s.secret)
	for _, p := range parts {
		fmt.Fprintf(m, "%d:%s", len(p), p)
	}
	return m.Sum(nil)
}

// stamp makes the signature part of a URL: when it ends and the MAC over that and what it is for.
func (s *Sandbox) stamp(what ...string) string {
	until := strconv.FormatInt(s.now().Add(s.opt.URLLife).Unix(), 10)
	return until + "-" + hex.EncodeToString(s.sign(append([]string{"url", until}, what...)...)[:16])
}

// stampGood says whether a signature is ours and not over.
func (s *Sandbox) stampGood(stamp string, what ...string) bool {
	until, mac, ok := strings.Cut(stamp, "-")
	n, err := strconv.ParseInt(until, 10, 64)
	if !ok || err != nil || s.now().Unix() > n {
		return false
	}
	return hmac.Equal([]byte(mac), []byte(hex.EncodeToString(s.sign(append([]string{"url", until}, what...)...)[:16])))
}

func escapePath(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// outputURL is a URL for one output file.
func (s *Sandbox) outputURL(base string, session int64, name string) string {
	id := strconv.FormatInt(session, 10)
	return base + "/kf/" + id + "/" + s.stamp("kf", id, name) + "/" + escapePath(name)
}

// dataURL is a URL for one file of "dataset:owner/slug:3" or "competition:slug".
func (s *Sandbox) dataURL(base, what, name string) string {
	return base + "/data/" + encodeKind(what) + "/" + s.stamp("data", what, name) + "/" + escapePath(name)
}

// zipURL is a URL for all files of one of those, or of "session:4711". The official tool takes the extension of the
// file it writes from the URL, so the path ends like a file's.
func (s *Sandbox) zipURL(base, what, name string) string {
	return base + "/zip/" + encodeKind(what) + "/" + s.stamp("zip", what) + "/" + url.PathEscape(name) + ".zip"
}

func encodeKind(what string) string { return base64.RawURLEncoding.EncodeToString([]byte(what)) }

func decodeKind(s string) (string, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return string(b), err
}

// expired is what a storage host answers for a URL that is not, or no longer, signed.
func expired(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml; charset=UTF-8")
	w.WriteHeader(http.StatusForbidden)
	io.WriteString(w, "<?xml version='1.0' encoding='UTF-8'?><Error><Code>AccessDenied</Code><Message>The signature is wrong or has expired.</Message></Error>")
}

func (s *Sandbox) serveOutput(w http.ResponseWriter, r *http.Request) {
	id, name := r.PathValue("id"), r.PathValue("name")
	if !s.stampGood(r.PathValue("sig"), "kf", id, name) {
		expired(w)
		return
	}
	serveFrom(w, r, s.dirOf("session:"+id), name)
}

// serveData answers a signed URL of a dataset's or competition's file.
func (s *Sandbox) serveData(w http.ResponseWriter, r *http.Request) {
	what, err := decodeKind(r.PathValue("kind"))
	name := r.PathValue("name")
	if err != nil || !s.stampGood(r.PathValue("sig"), "data", what, name) {
		expired(w)
		return
	}
	serveFrom(w, r, s.dirOf(what), name)
}

// serveZip answers a signed URL of everything in one archive.
func (s *Sandbox) serveZip(w http.ResponseWriter, r *http.Request) {
	what, err := decodeKind(r.PathValue("kind"))
	if err != nil || !s.stampGood(r.PathValue("sig"), "zip", what) {
		expired(w)
		return
	}
	dir := s.dirOf(what)
	files, err := listFiles(dir)
	if dir == "" || err != nil {
		http.NotFound(w, r)
		return
	}
	file, err := s.zipped(files, slugify(what))
	if err != nil {
		s.answer(w, r, nil, fmt.Errorf("make the archive (is the disk of %s full?): %w", s.home, err))
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	serveFile(w, r, file)
}

// dirOf is the folder behind a URL; "" when that is gone.
func (s *Sandbox) dirOf(what string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, rest, _ := strings.Cut(what, ":")
	switch kind {
	case "session":
		if id, err := strconv.ParseInt(rest, 10, 64); err == nil && s.st.Sessions[id] != nil {
			return s.workingDir(id)
		}
	case "dataset":
		ref, n, _ := strings.Cut(rest, ":")
		number, _ := strconv.Atoi(n)
		if d := s.st.Datasets[ref]; d != nil && d.version(number) != nil {
			return d.version(number).Dir
		}
	case "competition":
		if c := s.st.Competitions[rest]; c != nil {
			return c.Dir
		}
	}
	return ""
}

// serveFrom answers with one file below dir. Only what a listing shows can be had.
func serveFrom(w http.ResponseWriter, r *http.Request, dir, name string) {
	files, err := listFiles(dir)
	i := slices.IndexFunc(files, func(f fileInfo) bool { return f.name == name })
	if dir == "" || err != nil || i < 0 {
		http.NotFound(w, r)
		return
	}
	if path.Ext(name) == "" {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	serveFile(w, r, files[i].path)
}

// hashLimit is up to what size a file's MD5 is sent along, as storage hosts do; reading more twice is not worth it.
const hashLimit = 256 << 20

// serveFile answers with a file: whole, or the ranges asked for, with its date and its MD5.
func serveFile(w http.ResponseWriter, r *http.Request, file string) {
	f, err := os.Open(file)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if info.Size() <= hashLimit {
		h := md5.New()
		if _, err := io.Copy(h, f); err == nil {
			w.Header().Set("X-Goog-Hash", "md5="+base64.StdEncoding.EncodeToString(h.Sum(nil)))
		}
	}
	http.ServeContent(w, r, filepath.Base(file), info.ModTime(), f)
}

// zipped is an archive of files, made once for each state they are in.
func (s *Sandbox) zipped(files []fileInfo, key string) (string, error) {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s\x00%d\x00%d\n", f.name, f.info.Size(), f.info.ModTime().UnixNano())
	}
	file := filepath.Join(s.home, "cache", key+"-"+hex.EncodeToString(h.Sum(nil))[:16]+".zip")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "zip")
	if err != nil {
		return "", err
	}
	z := zip.NewWriter(tmp)
	for _, f := range files {
		if err = addToZip(z, f); err != nil {
			break
		}
	}
	for _, e := range []error{z.Close(), tmp.Close()} {
		if err == nil {
			err = e
		}
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return "", err
	}
	return file, nil
}

func addToZip(z *zip.Writer, f fileInfo) error {
	src, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: f.info.ModTime().Truncate(time.Second)})
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return err
}
