package app

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/app/runlog"
)

func TestKnownDurations(t *testing.T) {
	timed := func(k int, state string, seconds float64) runlog.Task {
		task := foldTask(k, state)
		task.Seconds = seconds
		return task
	}
	for _, tt := range []struct {
		name   string
		change func(*runlog.Run)
		tasks  []runlog.Task
		want   map[string]float64
	}{
		{"different folds", nil, []runlog.Task{timed(0, "done", 1234.5), timed(1, "done", 2345.6)}, map[string]float64{"idea/0": 1200, "idea/1": 2300}},
		{"short folds", nil, []runlog.Task{timed(0, "done", 1.26), timed(1, "done", 2)}, map[string]float64{"idea/0": 1.3, "idea/1": 2}},
		{"equal folds change no order", nil, []runlog.Task{timed(0, "done", 1000), timed(1, "done", 1050)}, nil},
		{"a fold that did not finish says nothing", nil, []runlog.Task{timed(0, "done", 1000), timed(1, "timeout", 2000)}, nil},
		{"another command", func(r *runlog.Run) { r.Command = "python other.py" }, []runlog.Task{timed(0, "done", 1000), timed(1, "done", 2000)}, nil},
		{"another machine", func(r *runlog.Run) { r.Accelerator = "none" }, []runlog.Task{timed(0, "done", 1000), timed(1, "done", 2000)}, nil},
		{"no earlier task", nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, r := resumeWorld(t, tt.change, tt.tasks...)
			spec := BuildSpec{Project: r.Project, Name: "idea", Command: "python src/train.py --name idea --folds {fold}", Hours: 1}
			got, err := a.knownDurations(t.Context(), r.Account, spec, "NvidiaTeslaT4")
			if err != nil || !maps.EqualFunc(got, tt.want, func(x, y float64) bool { return x-y < 1e-9 && y-x < 1e-9 }) {
				t.Errorf("%v, %v; want %v", got, err, tt.want)
			}
			b, err := a.Build(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			script, err := os.ReadFile(filepath.Join(b.Dir, b.Script))
			if err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(string(script), `"idea/1": `); told != (tt.want != nil) {
				t.Errorf("the session is told: %v", told)
			}
		})
	}
}
