package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/runnerpack"
)

// saveRequest is what is sent. Every switch is explicit, the cap is always there
// (it is the only stop a session has), prefixes that Kaggle refuses are stripped.
func saveRequest(p *pushFolder, opt PushOptions) kaggle.SaveKernelRequest {
	m := p.meta
	r := kaggle.SaveKernelRequest{
		ID: m.IDNo, Slug: strings.ToLower(m.ID), NewTitle: m.Title, Text: p.folder.Source, Language: m.Language, KernelType: m.KernelType,
		DatasetDataSources:     stripped(m.DatasetSources, "datasets/"),
		KernelDataSources:      stripped(m.KernelSources, "code/"),
		CompetitionDataSources: stripped(m.CompetitionSources, "competitions/"),
		ModelDataSources:       stripped(m.ModelSources, "models/"),
		CategoryIDs:            m.Keywords,
		IsPrivate:              m.IsPrivate, EnableGPU: m.EnableGPU, EnableTPU: m.EnableTPU, EnableInternet: m.EnableInternet,
		SessionTimeoutSeconds: int(p.limit.Seconds()),
		MachineShape:          m.MachineShape, DockerImage: m.DockerImage, DockerImagePinningType: m.DockerImagePinningType,
	}
	if opt.NoRun {
		r.KernelExecutionType = kaggle.ExecQuickSave
	}
	return r
}

func stripped(refs []string, prefix string) []string {
	var out []string
	for _, r := range refs {
		out = append(out, strings.TrimPrefix(strings.TrimPrefix(r, "/"), prefix))
	}
	return out
}

// scoreFile is the part of a job's score.json that is shown of a baseline.
type scoreFile struct {
	Score   *float64 `json:"score"`
	Metric  string   `json:"metric"`
	Greater *bool    `json:"greater_is_better"`
}

// attachBaseline copies the baseline's curves and score to the run, so that they
// are shown beside it whatever becomes of the folder. A baseline that cannot be
// read costs the comparison, never the run.
func (a *App) attachBaseline(ctx context.Context, r runlog.Run, dir string) {
	if dir == "" {
		return
	}
	curves, err := runnerpack.ReadCurves(dir)
	if err != nil {
		a.log.Warn("baseline not read", "run", r.ID, "dir", dir, "err", err)
		return
	}
	for _, c := range curves {
		if err := a.store.AddPoints(ctx, r.ID, runlog.SeriesBaseline, logCurve(c)); err != nil {
			a.log.Warn("baseline not kept", "run", r.ID, "err", err)
			return
		}
	}
	score := readScore(dir)
	_, err = a.change(ctx, r.ID, func(r *runlog.Run) error {
		r.BaselineName, r.BaselineScore = filepath.Base(dir), score.Score
		if r.Metric == "" {
			r.Metric = score.Metric
		}
		switch {
		case score.Greater != nil:
			r.Greater = *score.Greater
		case len(curves) > 0:
			r.Greater = curves[0].Greater
		}
		return nil
	})
	if err != nil {
		a.log.Warn("baseline not kept", "run", r.ID, "err", err)
	}
}

// readScore reads a job folder's score.json, as far as it can be read.
func readScore(dir string) scoreFile {
	var s scoreFile
	raw, err := os.ReadFile(filepath.Join(dir, "score.json"))
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return scoreFile{}
	}
	return s
}

// logCurve is a curve as the run log keeps it.
func logCurve(c runnerpack.Curve) runlog.Curve {
	out := runlog.Curve{Job: c.Job, Fold: c.Fold, Epochs: c.Epochs, Greater: c.Greater}
	for _, p := range c.Points {
		out.Points = append(out.Points, runlog.Point{Epoch: p.Epoch, Score: p.Score, Seconds: nanIfZero(p.Seconds)})
	}
	return out
}

// statusWord is Kaggle's status in lower case, as the run log and --json show it:
// queued, starting, running, stopping, cancelled, complete, error, or the word
// itself when we do not know it.
func statusWord(st kaggle.SessionStatus) string {
	switch st.State {
	case kaggle.StateQueued:
		return "queued"
	case kaggle.StateNewScript:
		return "new_script"
	case kaggle.StateRunning:
		return "running"
	case kaggle.StateCancelRequested:
		return "stopping"
	case kaggle.StateCancelled:
		return "cancelled"
	case kaggle.StateComplete:
		return "complete"
	case kaggle.StateError:
		return "error"
	}
	return fmt.Sprintf("unknown:%s", strings.ToLower(st.Raw))
}
