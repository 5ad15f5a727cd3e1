package sandbox

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sandglass/kaggle"
)

// blob is an upload on its way into a dataset.
type blob struct {
	Name     string
	Size     int64
	Modified time.Time
}

func (s *Sandbox) blobPath(token string) string { return filepath.Join(s.home, "blobs", token) }

func (s *Sandbox) startBlobUpload(c *call, req *kaggle.StartBlobUploadRequest) (any, error) {
	name := filepath.ToSlash(req.Name)
	switch {
	case req.Type != kaggle.BlobTypeDataset:
		return nil, refuse(400, "The sandbox takes uploads of type DATASET only")
	case name == "" || !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(req.Name, `\`):
		return nil, refuse(400, "name must be a file name")
	case req.ContentLength < 0:
		return nil, refuse(400, "contentLength must not be negative")
	}
	token := randomHex(16)
	err := s.update(func(st *state) error {
		st.Blobs[token] = &blob{Name: name, Size: req.ContentLength, Modified: time.Unix(req.LastModifiedEpochSeconds, 0)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return kaggle.StartBlobUploadResponse{Token: token, CreateURL: c.base + "/upload/" + token}, nil
}

// receiveBlob takes the bytes of an upload, whole or from where an earlier try broke off. The token in the URL is the
// permission; there is no Authorization header.
func (s *Sandbox) receiveBlob(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	s.mu.Lock()
	b := s.st.Blobs[token]
	s.mu.Unlock()
	if b == nil {
		http.NotFound(w, r)
		return
	}
	f, err := os.OpenFile(s.blobPath(token), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		s.answer(w, r, nil, fmt.Errorf("keep the upload: %w", err))
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		s.answer(w, r, nil, fmt.Errorf("keep the upload: %w", err))
		return
	}
	have := info.Size()
	from, ask, err := contentRange(r.Header.Get("Content-Range"), b.Size)
	switch {
	case err != nil:
		writeError(w, refuse(400, "%v", err))
		return
	case ask:
		uploaded(w, have, b.Size)
		return
	case from > have:
		writeError(w, refuse(416, "The upload has %d bytes, it cannot go on at %d", have, from))
		return
	}
	n, err := io.Copy(io.NewOffsetWriter(f, from), io.LimitReader(r.Body, b.Size-from+1))
	if from+n > b.Size {
		f.Truncate(have)
		writeError(w, refuse(400, "The upload is longer than the %d bytes announced", b.Size))
		return
	}
	if err != nil && r.Context().Err() == nil {
		var write *os.PathError
		if errors.As(err, &write) {
			s.answer(w, r, nil, fmt.Errorf("keep the upload (is the disk of %s full?): %w", s.home, err))
			return
		}
	}
	uploaded(w, max(have, from+n), b.Size)
}

// uploaded says that an upload is whole, or how far it is: 308 with the range that has arrived.
func uploaded(w http.ResponseWriter, have, size int64) {
	if have >= size {
		w.WriteHeader(http.StatusOK)
		return
	}
	if have > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", have-1))
	}
	w.WriteHeader(http.StatusPermanentRedirect)
}

// contentRange reads "bytes 10-19/20" (from 10), "bytes */20" (a question) and "" (from the start).
func contentRange(h string, size int64) (from int64, ask bool, err error) {
	if h == "" {
		return 0, false, nil
	}
	span, total, ok := strings.Cut(strings.TrimPrefix(h, "bytes "), "/")
	if !ok || !strings.HasPrefix(h, "bytes ") || (total != "*" && total != strconv.FormatInt(size, 10)) {
		return 0, false, fmt.Errorf("the Content-Range %q does not fit an upload of %d bytes", h, size)
	}
	if span == "*" {
		return 0, true, nil
	}
	first, _, _ := strings.Cut(span, "-")
	from, err = strconv.ParseInt(first, 10, 64)
	if err != nil || from < 0 || from > size {
		return 0, false, fmt.Errorf("the Content-Range %q does not fit an upload of %d bytes", h, size)
	}
	return from, false, nil
}

// place moves uploads into a folder as they will be mounted; archives are unpacked into folders of their name, as
// Kaggle does. It returns the tokens that went in.
func (s *Sandbox) place(d uploadDir, dir string) (used []string, err error) {
	for _, f := range d.Files {
		s.mu.Lock()
		b := s.st.Blobs[f.Token]
		s.mu.Unlock()
		if b == nil {
			return nil, refuse(400, "There is no upload with one of the tokens")
		}
		info, err := os.Stat(s.blobPath(f.Token))
		if (err != nil || info.Size() != b.Size) && b.Size > 0 {
			return nil, refuse(400, "The upload of %s is not complete", b.Name)
		}
		if err := s.placeBlob(f.Token, b, dir); err != nil {
			return nil, err
		}
		used = append(used, f.Token)
	}
	for _, sub := range d.Directories {
		if !filepath.IsLocal(sub.Name) {
			return nil, refuse(400, "A folder cannot be called %q", sub.Name)
		}
		more, err := s.place(sub, filepath.Join(dir, sub.Name))
		if err != nil {
			return nil, err
		}
		used = append(used, more...)
	}
	return used, nil
}

func (s *Sandbox) placeBlob(token string, b *blob, dir string) error {
	to := filepath.Join(dir, filepath.FromSlash(b.Name))
	if b.Size == 0 {
		// An empty upload may never have been sent.
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, nil, 0o600))
	}
	if stem, ok := strings.CutSuffix(to, ".zip"); ok {
		if err := unzip(s.blobPath(token), stem); err == nil {
			return nil
		}
		os.RemoveAll(stem) // not an archive after all: it stays the file it is
	}
	if err := copyFile(s.blobPath(token), to); err != nil {
		return fmt.Errorf("keep %s: %w", b.Name, err)
	}
	return os.Chtimes(to, b.Modified, b.Modified)
}

// unzip unpacks an archive below dir and nowhere else.
func unzip(file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) || !f.Mode().IsRegular() {
			return fmt.Errorf("the archive holds %q", f.Name)
		}
		if err := unzipOne(f, filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	return nil
}

func unzipOne(f *zip.File, to string) error {
	src, err := f.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	return writeFrom(src, to)
}
