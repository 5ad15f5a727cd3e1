package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// dataset is a data set with its versions.
type dataset struct {
	ID          int64
	Owner       string
	Slug        string
	Title       string
	Subtitle    string
	Description string
	License     string
	Private     bool
	ReadyAt     time.Time // sandbox time; processed from then on
	Versions    []*dataVersion
}

// dataVersion is one version; Dir is a person's own folder or one below the sandbox's.
type dataVersion struct {
	Number  int
	Dir     string
	Notes   string
	Created time.Time
}

func (d *dataset) ref() string { return d.Owner + "/" + d.Slug }

// version n, or the newest for 0; nil when there is none.
func (d *dataset) version(n int) *dataVersion {
	if n == 0 {
		n = len(d.Versions)
	}
	if n < 1 || n > len(d.Versions) {
		return nil
	}
	return d.Versions[n-1]
}

type competition struct {
	ID      int64
	Slug    string
	Title   string
	Dir     string
	Entered bool
}

type model struct {
	ID  int64
	Ref string
	Dir string
}

// readable says whether dir is a folder that can be listed, with an error that helps.
func readable(what, dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%s: find the folder %s: %w", what, dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: there is no folder %s", what, abs)
	case err == nil && !info.IsDir():
		return "", fmt.Errorf("%s: %s is a file, not a folder; name the folder it is in", what, abs)
	case err == nil:
		_, err = os.ReadDir(abs)
	}
	if err != nil {
		return "", fmt.Errorf("%s: the folder %s cannot be read; check its permissions: %w", what, abs, err)
	}
	return abs, nil
}

// AddDataset makes the files below dir the newest version of dataset owner/slug (links to them, no copies: what
// changes there changes here, and a kernel could change it). Owner "" is the account's own name. Adding the same
// folder again changes nothing.
func (s *Sandbox) AddDataset(owner, slug, dir string) error {
	if owner == "" {
		owner = s.Username()
	}
	what := "dataset " + owner + "/" + slug
	if !validOwner(owner) || slug == "" || slug != slugify(slug) {
		return fmt.Errorf("%s: owner and slug may hold lower-case letters, digits and hyphens only", what)
	}
	abs, err := readable(what, dir)
	if err != nil {
		return err
	}
	return s.update(func(st *state) error {
		d := st.Datasets[owner+"/"+slug]
		if d == nil {
			d = &dataset{ID: st.newID(), Owner: owner, Slug: slug, Title: slug, License: "unknown", Private: owner == st.Username, ReadyAt: s.clockNow()}
			st.Datasets[d.ref()] = d
		}
		if v := d.version(0); v != nil && v.Dir == abs {
			return nil
		}
		d.Versions = append(d.Versions, &dataVersion{Number: len(d.Versions) + 1, Dir: abs, Created: s.now()})
		return nil
	})
}

// AddCompetition makes the files below dir the data of competition slug. entered says whether the account has
// accepted its rules; without that a kernel cannot use it and downloads are refused.
func (s *Sandbox) AddCompetition(slug, dir string, entered bool) error {
	what := "competition " + slug
	if slug == "" || slug != slugify(slug) {
		return fmt.Errorf("%s: the slug may hold lower-case letters, digits and hyphens only", what)
	}
	abs, err := readable(what, dir)
	if err != nil {
		return err
	}
	return s.update(func(st *state) error {
		c := st.Competitions[slug]
		if c == nil {
			c = &competition{ID: st.newID(), Slug: slug, Title: slug}
			st.Competitions[slug] = c
		}
		c.Dir, c.Entered = abs, entered
		return nil
	})
}

// AddModel makes the files below dir the model ref: owner/model/framework/variation/version.
func (s *Sandbox) AddModel(ref, dir string) error {
	if parts := strings.Split(ref, "/"); len(parts) != 5 || strings.Contains(ref, "//") {
		return fmt.Errorf("model %s: a model is owner/model/framework/variation/version", ref)
	} else if n, err := strconv.Atoi(parts[4]); err != nil || n < 1 {
		return fmt.Errorf("model %s: the version must be a number from 1", ref)
	}
	abs, err := readable("model "+ref, dir)
	if err != nil {
		return err
	}
	return s.update(func(st *state) error {
		key := strings.ToLower(ref)
		if st.Models[key] == nil {
			st.Models[key] = &model{ID: st.newID(), Ref: ref}
		}
		st.Models[key].Dir = abs
		return nil
	})
}

// KernelSeed is a kernel that is simply there, with a finished run, e.g. another person's.
type KernelSeed struct {
	Owner, Slug, Title string // Owner "" is the account; Title "" is made from the slug
	Source             string
	KernelType         string // "script" (default) or "notebook"
	Private            bool
	Output             string // folder whose files are copied as the run's output; "" = none
}

// AddKernel puts a kernel with one finished run (COMPLETE, empty log) into the sandbox, outside slots and quota.
func (s *Sandbox) AddKernel(seed KernelSeed) error {
	if seed.Owner == "" {
		seed.Owner = s.Username()
	}
	if seed.KernelType == "" {
		seed.KernelType = "script"
	}
	if seed.Title == "" {
		seed.Title = strings.ReplaceAll(seed.Slug, "-", " ")
	}
	what := "kernel " + seed.Owner + "/" + seed.Slug
	if !validOwner(seed.Owner) || len(seed.Slug) < 5 || len(seed.Slug) > 50 || seed.Slug != slugify(seed.Slug) {
		return fmt.Errorf("%s: owner and slug may hold lower-case letters, digits and hyphens only, the slug 5 to 50 of them", what)
	}
	if seed.Output != "" {
		abs, err := readable(what, seed.Output)
		if err != nil {
			return err
		}
		seed.Output = abs
	}
	return s.update(func(st *state) error {
		if s.findKernel(seed.Owner, seed.Slug) != nil {
			return fmt.Errorf("%s: it exists already", what)
		}
		now := s.now()
		k := &kernel{ID: st.newID(), Owner: seed.Owner, Slug: seed.Slug, Title: seed.Title, Language: "python", KernelType: seed.KernelType,
			Private: seed.Private, Created: now, LastRun: now}
		x := &session{ID: st.newID(), Kernel: k.ID, Version: 1, Pool: poolCPU, Limit: poolLimit[poolCPU], Status: StatusComplete, Pushed: now, Started: now, Ended: now}
		k.Versions = []*version{{Number: 1, Session: x.ID}}
		st.Kernels[k.ID], st.Sessions[x.ID] = k, x
		if err := s.writeSource(k.ID, 1, seed.Source); err != nil {
			return err
		}
		if err := os.MkdirAll(s.workingDir(x.ID), 0o700); err != nil {
			return fmt.Errorf("%s: make its output: %w", what, err)
		}
		if seed.Output == "" {
			return nil
		}
		if err := copyTree(seed.Output, s.workingDir(x.ID)); err != nil {
			return fmt.Errorf("%s: copy its output: %w", what, err)
		}
		return nil
	})
}

// findDataset reads owner/slug or owner/slug/version and gives the dataset, if who may see it, and the version asked
// for (0 = newest). The caller holds s.mu.
func (s *Sandbox) findDataset(who, ref string) (*dataset, int) {
	parts := strings.Split(strings.ToLower(ref), "/")
	n := 0
	if len(parts) == 3 {
		var err error
		if n, err = strconv.Atoi(parts[2]); err != nil || n < 1 {
			return nil, 0
		}
		parts = parts[:2]
	}
	if len(parts) != 2 {
		return nil, 0
	}
	d := s.st.Datasets[parts[0]+"/"+parts[1]]
	if d == nil || (d.Private && d.Owner != who) {
		return nil, 0
	}
	return d, n
}

// findModel reads owner/model/framework/variation with or without a version: without one the newest. The caller
// holds s.mu.
func (s *Sandbox) findModel(ref string) *model {
	ref = strings.ToLower(ref)
	if m := s.st.Models[ref]; m != nil || strings.Count(ref, "/") != 3 {
		return m
	}
	var newest *model
	best := 0
	for key, m := range s.st.Models {
		tail, ok := strings.CutPrefix(key, ref+"/")
		if n, err := strconv.Atoi(tail); ok && err == nil && n > best {
			newest, best = m, n
		}
	}
	return newest
}
