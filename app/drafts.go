package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Draft is a new run that a person began to describe and did not push: what was
// typed, word for word, and where they were. There is one a project, and one for
// a description that names no project yet.
type Draft struct {
	Project string            `json:"project"` // absolute folder; "" = none chosen yet
	Name    string            `json:"name"`    // of the run, as typed
	Step    string            `json:"step"`    // the screen's word for the place where it was left
	Answers map[string]string `json:"answers"` // what was typed, by field, also what cannot be read
	Spec    BuildSpec         `json:"spec"`    // what the answers change; carries what no screen asks for
	SavedAt time.Time         `json:"saved_at"`
}

// draftsMost is how many drafts are kept; the oldest go first.
const draftsMost = 20

// draftsKey is the setting that holds the drafts of the signed-in account. A
// description begun before the first sign-in is kept under account 0.
func (a *App) draftsKey(ctx context.Context) (string, error) {
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return "", err
	}
	return fmt.Sprintf("drafts.%d", acc.ID), nil
}

// readDrafts reads the setting. One that cannot be read counts as empty: a broken
// draft must not keep a person from starting a run.
func (a *App) readDrafts(raw string) []Draft {
	var list []Draft
	if raw == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		a.log.Warn("the drafts cannot be read and are begun anew", "err", err)
		return nil
	}
	return list
}

// Drafts lists the new runs that were left half-way, newest first.
func (a *App) Drafts(ctx context.Context) ([]Draft, error) {
	key, err := a.draftsKey(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := a.store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return a.readDrafts(raw), nil
}

// Draft is the one of a project; ok false when there is none.
func (a *App) Draft(ctx context.Context, project string) (d Draft, ok bool, err error) {
	list, err := a.Drafts(ctx)
	if err != nil {
		return Draft{}, false, err
	}
	project = draftProject(project)
	i := slices.IndexFunc(list, func(d Draft) bool { return d.Project == project })
	if i < 0 {
		return Draft{}, false, nil
	}
	return list[i], true, nil
}

// SaveDraft keeps d in place of an earlier one of its project.
func (a *App) SaveDraft(ctx context.Context, d Draft) error {
	d.Project, d.SavedAt = draftProject(d.Project), a.now().UTC()
	return a.changeDrafts(ctx, func(list []Draft) []Draft {
		list = slices.DeleteFunc(list, func(o Draft) bool { return o.Project == d.Project })
		list = append([]Draft{d}, list...)
		return list[:min(len(list), draftsMost)]
	})
}

// DropDraft forgets a project's draft: it was pushed, or begun anew. None is no error.
func (a *App) DropDraft(ctx context.Context, project string) error {
	project = draftProject(project)
	return a.changeDrafts(ctx, func(list []Draft) []Draft {
		return slices.DeleteFunc(list, func(o Draft) bool { return o.Project == project })
	})
}

func (a *App) changeDrafts(ctx context.Context, change func([]Draft) []Draft) error {
	key, err := a.draftsKey(ctx)
	if err != nil {
		return err
	}
	return a.store.Change(ctx, key, func(old string) (string, error) {
		raw, err := json.Marshal(change(a.readDrafts(old)))
		return string(raw), err
	})
}

// draftProject is a project's folder as drafts are kept under it.
func draftProject(project string) string {
	project = strings.TrimSpace(project)
	if project == "" {
		return ""
	}
	if abs, err := filepath.Abs(project); err == nil {
		return abs
	}
	return filepath.Clean(project)
}
