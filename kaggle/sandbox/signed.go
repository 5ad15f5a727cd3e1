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

// outputURL is a URL for one output file, or for all of them as a zip when name is "".
func (s *Sandbox) outputURL(base string, session int64, name string) string {
	id := strconv.FormatInt(session, 10)
	return base + "/kf/" + id + "/" + s.stamp("kf", id, name) + "/" + escapePath(name)
}

// dataURL is a URL for one file of a dataset or competition ("dataset:owner/slug:3", "competition:slug"), or for all.
func (s *Sandbox) dataURL(base, what, name string) string {
	return base + "/data/" + base64.RawURLEncoding.EncodeToString([]byte(what)) + "/" + s.stamp("data", what, name) + "/" + escapePath(name)
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
	session, _ := strconv.ParseInt(id, 10, 64)
	s.mu.Lock()
	x := s.st.Sessions[session]
	s.mu.Unlock()
	if x == nil {
		http.NotFound(w, r)
		return
	}
	s.serveFrom(w, r, s.workingDir(session), name, "kernel-"+id)
}

// serveFrom answers with one file below dir, or with all of them as a zip when name is "".
func (s *Sandbox) serveFrom(w http.ResponseWriter, r *http.Request, dir, name, zipKey string) {
	files, err := listFiles(dir)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if name == "" {
		file, err := s.zipped(files, zipKey)
		if err != nil {
			s.answer(w, r, nil, fmt.Errorf("make the archive: %w", err))
			return
		}
		w.Header().Set("Content-Type", "application/zip")
		serveFile(w, r, file)
		return
	}
	for _, f := range files {
		if f.name == name {
			if w.Header().Get("Content-Type") == "" && path.Ext(name) == "" {
				w.Header().Set("Content-Type", "application/octet-stream")
			}
			serveFile(w, r, f.path)
			return
		}
	}
	http.NotFound(w, r)
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
