package keychain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// File keeps secrets in a file that only the person can read. Use it only with
// their consent: anything that runs under their account can read it too.
//
// A file that others may read, or that is no plain file, is refused with
// ErrUnavailable and left as it is. (Windows keeps the rights of the folder.)
func File(path string) Store { return &fileStore{path: path} }

type fileStore struct{ path string }

// fileContent is the file, as JSON.
type fileContent struct {
	Schema  int               `json:"schema"`
	Secrets map[string]string `json:"secrets"`
}

func (s *fileStore) Name() string { return "file" }

func (s *fileStore) Get(_ context.Context, account string) (string, error) {
	c, err := s.read()
	if err != nil {
		return "", err
	}
	secret, ok := c.Secrets[account]
	if !ok {
		return "", ErrNotFound
	}
	return secret, nil
}

func (s *fileStore) Delete(ctx context.Context, account string) error {
	return s.Set(ctx, account, "")
}

// Set changes one entry under a lock, so that two processes lose nothing.
func (s *fileStore) Set(ctx context.Context, account, secret string) error {
	if _, err := os.Lstat(s.path); secret == "" && errors.Is(err, fs.ErrNotExist) {
		return nil // nothing to delete, and no reason to make a file
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return s.cannot("made", err)
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	lock := flock.New(s.path+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); !ok {
		return s.cannot("locked", err)
	}
	defer lock.Unlock() //nolint:errcheck // the process's end unlocks too
	c, err := s.read()
	if err != nil {
		return err
	}
	if secret == "" {
		delete(c.Secrets, account)
	} else {
		c.Secrets[account] = secret
	}
	return s.write(c)
}

func (s *fileStore) read() (fileContent, error) {
	c := fileContent{Schema: 1, Secrets: map[string]string{}}
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, s.cannot("read", err)
	}
	if !info.Mode().IsRegular() {
		return c, unavailable("%s is no plain file; it was left as it is", s.path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return c, unavailable("other people can read %s (mode %04o), so it is not used; run chmod 600 on it, or delete it and sign in again", s.path, mode)
	}
	raw, err := os.ReadFile(s.path)
	if err != nil {
		return c, s.cannot("read", err)
	}
	if err := json.Unmarshal(raw, &c); err != nil || c.Schema != 1 {
		// Not with the decoder's words: they can quote what they stumbled over.
		return c, unavailable("%s is damaged or was written by a newer Sandglass; it was left as it is: move it away and sign in again", s.path)
	}
	if c.Secrets == nil {
		c.Secrets = map[string]string{}
	}
	return c, nil
}

// write replaces the file in one step: after a crash there is the old or the new one.
func (s *fileStore) write(c fileContent) (err error) {
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return s.cannot("written", errors.New("it cannot be encoded"))
	}
	tmp, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".tmp-*") // made with mode 0600
	if err != nil {
		return s.cannot("written", err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
			err = s.cannot("written", err)
		}
	}()
	if _, err = tmp.Write(raw); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), s.path)
}

// cannot names the file and the cause; paths are no secrets.
func (s *fileStore) cannot(what string, err error) error {
	return &Error{Kind: ErrUnavailable, Reason: fmt.Sprintf("the file %s cannot be %s (%v)", s.path, what, err), Err: err}
}
