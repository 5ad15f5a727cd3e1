package cli

import (
	"path/filepath"
	"time"

	"sandglass/app"
)

// The JSON documents of the verbs. Fields may be added; none changes its name or meaning. Lists are [] when empty, times
// are RFC 3339 or null, hours and seconds are numbers, and what is not known is null.

// poolJSON is one pool of `quota --json`; its figures are null when Kaggle did not report the pool.
type poolJSON struct {
	Known    bool     `json:"known"`
	Used     *float64 `json:"used_h"`
	Reserved *float64 `json:"reserved_h"` // held by running sessions, in Kaggle's words
	Held     *float64 `json:"held_h"`     // held by our own runs beyond that
	Total    *float64 `json:"total_h"`
	Left     *float64 `json:"left_h"`
	Holders  []string `json:"holders"`
}

// quotaJSON is `quota --json`.
type quotaJSON struct {
	GPU       poolJSON   `json:"gpu"`
	TPU       poolJSON   `json:"tpu"`
	RefreshAt *time.Time `json:"refresh_at"`
	Live      bool       `json:"live"` // read from Kaggle just now
	FetchedAt *time.Time `json:"fetched_at"`
	Why       string     `json:"why"`     // when not live: why
	Rebased   bool       `json:"rebased"` // the reading is older than the last reset
	Since     []string   `json:"started_since"`
}

func quotaOf(q app.QuotaView) quotaJSON {
	return quotaJSON{GPU: poolOf(q.GPU), TPU: poolOf(q.TPU), RefreshAt: when(q.RefreshAt), Live: q.Live, FetchedAt: when(q.FetchedAt), Why: q.Why, Rebased: q.Rebased, Since: list(q.StartedSince)}
}

func poolOf(v app.PoolView) poolJSON {
	p := poolJSON{Known: v.Known, Holders: list(v.Holders)}
	if v.Known {
		p.Used, p.Reserved, p.Held, p.Total, p.Left = &v.Used, &v.Reserved, &v.Held, &v.Total, &v.Left
	}
	return p
}

// buildJSON is `build --json`: the fields of app.BuildResult, with script as a whole path, and the next command.
type buildJSON struct {
	app.BuildResult
	Next []string `json:"next"`
}

func buildOf(r app.BuildResult) buildJSON {
	r.Fill = list(r.Fill)
	r.Parts, r.Jobs, r.Folds, r.Warnings, r.LeftOut = list(r.Parts), list(r.Jobs), list(r.Folds), list(r.Warnings), list(r.LeftOut)
	if r.Script != "" && !filepath.IsAbs(r.Script) && filepath.Dir(r.Script) == "." {
		r.Script = filepath.Join(r.Dir, r.Script)
	}
	return buildJSON{r, []string{"sandglass", "push", r.Dir}}
}

// planJSON is `push --dry-run --json`.
type planJSON struct {
	Kernel      string             `json:"kernel"`
	Dir         string             `json:"dir"`
	Accelerator string             `json:"accelerator"`
	Pool        string             `json:"pool"`
	CapHours    float64            `json:"cap_h"`
	LeftAfter   float64            `json:"left_after_h"`
	Cost        string             `json:"cost"`
	Guards      []app.Guard        `json:"guards"`
	Warnings    []string           `json:"warnings"`
	Quota       quotaJSON          `json:"quota"`
	Rehearsal   *app.RehearsalNote `json:"rehearsal"` // the newest of this very script; null: none
}

func planOf(p app.PushPlan) planJSON {
	return planJSON{Kernel: p.Kernel, Dir: p.Dir, Accelerator: p.Accelerator, Pool: p.Pool, CapHours: p.CapHours, LeftAfter: p.LeftAfter,
		Cost: p.CostText, Guards: list(p.Guards), Warnings: list(p.Warnings), Quota: quotaOf(p.Quota), Rehearsal: p.Rehearsal}
}

// pushJSON is `push --json`.
type pushJSON struct {
	Run         int64    `json:"run"`
	Kernel      string   `json:"kernel"`
	Version     int      `json:"version"`
	URL         string   `json:"url"`
	CapHours    float64  `json:"cap_h"`
	State       string   `json:"state"` // queued, waiting (here, for a slot), no run
	Accelerator string   `json:"accelerator"`
	Pool        string   `json:"pool"`
	Why         string   `json:"why"` // what a waiting one waits for
	Warnings    []string `json:"warnings"`
}

// rowJSON is a run in `log --json`, and the head of runJSON.
type rowJSON struct {
	Run         int64      `json:"run"`
	Kernel      string     `json:"kernel"`
	Version     int        `json:"version"`
	Name        string     `json:"name"`
	Project     string     `json:"project"`
	State       string     `json:"state"`  // as Sandglass sees it: queued, running, complete, …
	Status      string     `json:"status"` // Kaggle's last word, lower case; the state when Kaggle said nothing yet
	Outcome     string     `json:"outcome"`
	Accelerator string     `json:"accelerator"`
	Pool        string     `json:"pool"`
	CapHours    float64    `json:"cap_h"`
	Hours       float64    `json:"hours"`
	Metric      string     `json:"metric"`
	Score       *float64   `json:"score"`
	Failure     string     `json:"failure"`
	Note        string     `json:"note"` // what Sandglass has to say about it
	URL         string     `json:"url"`  // its page at Kaggle; "" on a sandbox
	CreatedAt   *time.Time `json:"created_at"`
	PushedAt    *time.Time `json:"pushed_at"`
	StartedAt   *time.Time `json:"started_at"`
	EndedAt     *time.Time `json:"ended_at"`
	EndedFrom   string     `json:"ended_from"` // session (its own record), cap, observed (when it was seen to be over); "" = not ended
	CollectedAt *time.Time `json:"collected_at"`
	Unreachable *time.Time `json:"unreachable_since"`
	Origin      string     `json:"origin"`
	Ended       bool       `json:"ended"`
	Collected   bool       `json:"collected"`
}

func rowOf(r app.RunRow) rowJSON {
	status := r.Status
	if status == "" {
		status = r.State
	}
	return rowJSON{Run: r.ID, Kernel: r.Kernel, Version: r.Version, Name: r.Name, Project: r.Project, State: r.State, Status: status,
		Outcome: r.Outcome, Accelerator: r.Accelerator, Pool: r.Pool, CapHours: r.CapHours, Hours: r.Hours, Metric: r.Metric, Score: r.Score,
		Failure: r.Failure, Note: r.Note, EndedFrom: r.EndedFrom, URL: r.URL, CreatedAt: when(r.CreatedAt), PushedAt: when(r.PushedAt), StartedAt: when(r.StartedAt),
		EndedAt: when(r.EndedAt), CollectedAt: when(r.CollectedAt), Unreachable: when(r.UnreachableAt), Origin: r.Origin, Ended: r.Ended, Collected: r.Collected}
}

// runJSON is `status KERNEL --json`, `wait --json` and `collect --json`.
type runJSON struct {
	rowJSON
	Tasks         []app.TaskView    `json:"tasks"`
	Files         []app.FileView    `json:"files"`
	Findings      []app.FindingView `json:"findings"`
	Baseline      string            `json:"baseline"`
	BaselineScore *float64          `json:"baseline_score"`
	QueuedHours   float64           `json:"queued_h"`
	EndsBy        *time.Time        `json:"ends_by"` // start + cap
	LogLines      int               `json:"log_lines"`
	Artifacts     string            `json:"artifacts"` // folder with the results, "" before collecting
	// of collect alone:
	New       *int     `json:"new,omitempty"`        // files fetched now
	Kept      *int     `json:"kept,omitempty"`       // files that were here already
	Left      *int     `json:"left,omitempty"`       // files of weights that stay at Kaggle
	LeftBytes *int64   `json:"left_bytes,omitempty"` // and their size
	Dir       string   `json:"dir,omitempty"`
	Problems  []string `json:"problems,omitempty"`
}

func runOf(v app.RunView) runJSON {
	return runJSON{rowJSON: rowOf(v.RunRow), Tasks: list(v.Tasks), Files: list(v.Files), Findings: list(v.Findings), Baseline: v.BaselineName,
		BaselineScore: v.BaselineScore, QueuedHours: v.QueuedFor.Hours(), EndsBy: when(v.EndsBy), LogLines: v.LogLines, Artifacts: v.ArtifactsDir}
}

// queueJSON is `queue --json`.
type queueJSON struct {
	Paused bool           `json:"paused"`
	Served bool           `json:"served"` // a program that pushes from the queue is running on this computer
	Runs   []queueRowJSON `json:"runs"`   // in order; what was stopped comes last
}

// queueRowJSON is one run of the launch queue.
type queueRowJSON struct {
	rowJSON
	Position int        `json:"position"` // from 1; 0 = stopped
	Code     string     `json:"code"`     // slots, quota, inputs, missing, behind, fill, paused, pushing, unclear, offline, pace, signin, due; of a stopped one: what stopped it
	Why      string     `json:"why"`
	Advice   string     `json:"advice"`
	Stopped  bool       `json:"stopped"`
	Since    *time.Time `json:"since"`
	LastTry  *time.Time `json:"last_try"`
	NextTry  *time.Time `json:"next_try"` // Kaggle asked for a pause until then
	Dir      string     `json:"dir"`
	Source   string     `json:"source_sha256"` // of the source that was authorised
	Consent  string     `json:"consent"`
	Least    *float64   `json:"least_h"`   // it may start with a shorter cap, from these hours on; null: with its own only
	FollowUp bool       `json:"follow_up"` // it goes on with a run that was stopped
}

func queueRowOf(q app.QueueRow) queueRowJSON {
	j := queueRowJSON{rowJSON: rowOf(q.RunRow), Position: q.Position, Code: q.Code, Why: q.Why, Advice: q.Advice, Stopped: q.Stopped,
		Since: when(q.Since), LastTry: when(q.LastTry), NextTry: when(q.NextTry), Dir: q.Dir, Source: q.Source, Consent: q.Consent, FollowUp: q.FollowUp}
	if q.LeastH > 0 {
		j.Least = &q.LeastH
	}
	return j
}

// lineJSON is one line of `logs --json`.
type lineJSON struct {
	N      int    `json:"n"`
	Stream string `json:"stream"`
	Text   string `json:"text"`
}

func when(t time.Time) *time.Time {
	t = t.UTC()
	if t.IsZero() || t.Year() > 9999 { // JSON has no later year, and nobody waits for it
		return nil
	}
	return &t
}

func list[T any](x []T) []T {
	if x == nil {
		return []T{}
	}
	return x
}
