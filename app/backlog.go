package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
	"sandglass/runnerpack"
)

// States of a backlog item.
const (
	BacklogTodo    = "todo"
	BacklogDone    = "done"
	BacklogDropped = "dropped"
)

// BacklogItem is a run that could be started one day. Plan chooses from those that are validated.
type BacklogItem struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Project   string    `json:"project"` // folder; "" = none
	Command   string    `json:"command"`
	Dir       string    `json:"dir"` // build folder; "" = not built yet
	Pool      string    `json:"pool"`
	Hours     float64   `json:"hours"`     // it will probably burn; 0 = not known
	Gain      *float64  `json:"gain"`      // expected, above zero is better; null = not known
	GainSD    *float64  `json:"gain_sd"`   // its standard deviation
	Validated bool      `json:"validated"` // ready to start: the script ran, and the idea is worth its hours
	Divisible bool      `json:"divisible"` // saves checkpoints, so a part of it is worth its part
	State     string    `json:"state"`     // todo, done, dropped
	Note      string    `json:"note"`
	AddedAt   time.Time `json:"added_at"`
	ChangedAt time.Time `json:"changed_at"`
}

// noSuchItem is the answer when no open item has that name or number.
func noSuchItem(reason string) error {
	return &CallError{Reason: reason, Action: "\"sandglass backlog list\" shows the open items with their numbers."}
}

// AddBacklog adds an item. Two open items of one project cannot have the same name.
func (a *App) AddBacklog(ctx context.Context, in BacklogItem) (BacklogItem, error) {
	if err := in.check(); err != nil {
		return in, err
	}
	in.State = BacklogTodo
	row, err := a.store.AddBacklog(ctx, runlog.BacklogItem(in), in.alone)
	return BacklogItem(row), err
}

// check tidies an item's words and refuses what cannot be kept.
func (in *BacklogItem) check() error {
	in.Name = strings.Join(strings.Fields(in.Name), " ")
	in.Pool = strings.ToLower(in.Pool)
	if in.Pool == "" {
		in.Pool = PoolGPU
	}
	switch {
	case in.Name == "":
		return &CallError{Reason: "an item of the backlog needs a name", Action: "Name the idea in a few words."}
	case in.Pool != PoolGPU && in.Pool != PoolTPU && in.Pool != PoolCPU:
		return &CallError{Reason: in.Pool + " is no pool of hours", Action: "Say gpu, tpu or cpu."}
	case !(in.Hours >= 0 && in.Hours < 1e4):
		return &CallError{Reason: fmt.Sprintf("%v is no number of hours", in.Hours)}
	case in.Gain != nil && (math.IsNaN(*in.Gain) || math.IsInf(*in.Gain, 0)), in.GainSD != nil && !(*in.GainSD >= 0 && *in.GainSD < math.Inf(1)):
		return &CallError{Reason: "the gain and its standard deviation are numbers, and the latter is not below zero"}
	}
	for _, path := range []*string{&in.Project, &in.Dir} {
		if *path == "" {
			continue
		}
		whole, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("the folder %s: %w", *path, err)
		}
		*path = whole
	}
	return nil
}

// alone refuses an item whose name another open one of its project has.
func (in BacklogItem) alone(others []runlog.BacklogItem) error {
	for _, o := range others {
		if o.ID != in.ID && o.State == BacklogTodo && o.Project == in.Project && strings.EqualFold(o.Name, in.Name) {
			return &CallError{Reason: fmt.Sprintf("%s is in the backlog already, as number %d", o.Name, o.ID), Action: "Give this one another name, or drop that one."}
		}
	}
	return nil
}

// EditBacklog gives the open item with in's number in's words and figures. Its state and when it was added stay.
func (a *App) EditBacklog(ctx context.Context, in BacklogItem) (BacklogItem, error) {
	if err := in.check(); err != nil {
		return in, err
	}
	others, err := a.store.Backlog(ctx)
	if err != nil {
		return in, err
	}
	if err := in.alone(others); err != nil {
		return in, err
	}
	return a.changeBacklog(ctx, in.ID, func(b *runlog.BacklogItem) error {
		if b.State != BacklogTodo {
			return noSuchItem(fmt.Sprintf("%s is %s already", b.Name, b.State))
		}
		in.State, in.AddedAt = b.State, b.AddedAt
		*b = runlog.BacklogItem(in)
		return nil
	})
}

// ReopenBacklog takes back that an item is done or dropped. One that is open stays so.
func (a *App) ReopenBacklog(ctx context.Context, id int64) (BacklogItem, error) {
	others, err := a.store.Backlog(ctx)
	if err != nil {
		return BacklogItem{}, err
	}
	return a.changeBacklog(ctx, id, func(b *runlog.BacklogItem) error {
		b.State = BacklogTodo
		return BacklogItem(*b).alone(others)
	})
}

func (a *App) changeBacklog(ctx context.Context, id int64, change func(*runlog.BacklogItem) error) (BacklogItem, error) {
	row, err := a.store.UpdateBacklog(ctx, id, change)
	if errors.Is(err, runlog.ErrNotFound) {
		err = noSuchItem(fmt.Sprintf("no item of the backlog has the number %d", id))
	}
	return BacklogItem(row), err
}

// Backlog lists the open items, the oldest first; with all those that are done or dropped too.
func (a *App) Backlog(ctx context.Context, all bool) ([]BacklogItem, error) {
	rows, err := a.store.Backlog(ctx)
	if err != nil {
		return nil, err
	}
	out := []BacklogItem{}
	for _, r := range rows {
		if all || r.State == BacklogTodo {
			out = append(out, BacklogItem(r))
		}
	}
	return out, nil
}

// MarkBacklog sets the state of an open item, found by its number or name, to done or dropped.
func (a *App) MarkBacklog(ctx context.Context, item, state string) (BacklogItem, error) {
	if state != BacklogDone && state != BacklogDropped {
		return BacklogItem{}, &CallError{Reason: state + " is no end of a backlog item", Action: "Say done or dropped."}
	}
	rows, err := a.store.Backlog(ctx)
	if err != nil {
		return BacklogItem{}, err
	}
	id, err := openItem(rows, item)
	if err != nil {
		return BacklogItem{}, err
	}
	row, err := a.store.UpdateBacklog(ctx, id, func(b *runlog.BacklogItem) error {
		if b.State != BacklogTodo {
			return noSuchItem(fmt.Sprintf("%s is %s already", b.Name, b.State))
		}
		b.State = state
		return nil
	})
	return BacklogItem(row), err
}

// openBacklog is the open item with a number.
func (a *App) openBacklog(ctx context.Context, id int64) (BacklogItem, error) {
	open, err := a.Backlog(ctx, false)
	if err != nil {
		return BacklogItem{}, err
	}
	for _, b := range open {
		if b.ID == id {
			return b, nil
		}
	}
	return BacklogItem{}, noSuchItem(fmt.Sprintf("no open item of the backlog has the number %d", id))
}

// BacklogSpec is what a new run of an open item starts from: the newest run of its project, of the same command where there is
// one, with the item's own name, command and machine. The cap is left to be advised, unless hours says how long it may be.
func (a *App) BacklogSpec(ctx context.Context, id int64, hours float64) (BuildSpec, error) {
	it, err := a.openBacklog(ctx, id)
	if err != nil {
		return BuildSpec{}, err
	}
	var spec BuildSpec
	if it.Project != "" {
		if spec, err = a.lastSpecIn(ctx, it); err != nil {
			return BuildSpec{}, err
		}
	}
	spec.Project, spec.Name, spec.Hours = it.Project, runnerpack.Slugify(it.Name), hours
	spec.Slug, spec.Out, spec.ResumeFrom = "", "", nil // those are of that one run
	if it.Command != "" {
		spec.Command = it.Command
	}
	if spec.Accelerator == "" || string(planner.PoolOf(spec.Accelerator)) != it.Pool {
		spec.Accelerator = map[string]string{PoolGPU: runnerpack.AcceleratorT4, PoolTPU: runnerpack.AcceleratorTPU, PoolCPU: runnerpack.AcceleratorNone}[it.Pool]
	}
	return spec, nil
}

// lastSpecIn is the spec of the newest run in an item's project, zero when there is none.
func (a *App) lastSpecIn(ctx context.Context, it BacklogItem) (BuildSpec, error) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Project: it.Project, Origins: []string{originPush}})
	if err != nil || len(runs) == 0 {
		return BuildSpec{}, err
	}
	best := runs[0] // they come newest first
	for _, r := range runs {
		if it.Command != "" && r.Command == it.Command {
			best = r
			break
		}
	}
	return a.SpecOf(ctx, best.ID)
}

// openItem finds one open item by number or by name.
func openItem(rows []runlog.BacklogItem, item string) (int64, error) {
	item = strings.Join(strings.Fields(item), " ")
	number, numErr := strconv.ParseInt(item, 10, 64)
	var named []int64
	for _, r := range rows {
		switch {
		case r.State != BacklogTodo:
		case numErr == nil && r.ID == number:
			return r.ID, nil
		case strings.EqualFold(r.Name, item):
			named = append(named, r.ID)
		}
	}
	switch len(named) {
	case 0:
		return 0, noSuchItem(fmt.Sprintf("no open item of the backlog is %q", item))
	case 1:
		return named[0], nil
	}
	return 0, &CallError{Reason: fmt.Sprintf("%d open items have the name %s", len(named), item), Action: fmt.Sprintf("Give its number: %s.", numberList(named))}
}

func numberList(ids []int64) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(parts, ", ")
}
