package runnerpack

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestFill: what the last round leaves idle is said, and offered with the very flags that use it.
func TestFill(t *testing.T) {
	seeded := "import argparse\np = argparse.ArgumentParser()\np.add_argument(\"--seed\", type=int)\n"
	for _, tt := range []struct {
		name, train, cmd, accelerator string
		folds                         []int
		warning                       string
		want                          []string // flags of the offers, in their order
	}{
		{"none is idle", "", "python src/train.py --name idea --folds {fold}", AcceleratorT4, []int{0, 1}, "", nil},
		{"on the CPU none is idle", "", "python src/train.py --name idea --folds {fold}", AcceleratorNone, nil, "", nil},
		{"another job", "", "python src/train.py --name idea --folds {fold}", AcceleratorT4, nil, "3 tasks on 2 T4 cards: 1 of them idle in the last round",
			[]string{`--extra-job other "python src/other.py --name other --folds {fold}" --job-folds other=0`}},
		{"a second seed, its flag found in the script", seeded, "python src/train.py --name idea --folds {fold}", AcceleratorTPU, nil, "3 tasks on 8 TPU chips: 5 of them idle",
			[]string{`--extra-job idea-seed1 "python src/train.py --name idea-seed1 --folds {fold} --seed 1" --job-folds idea-seed1=0,1,2`,
				`--extra-job other "python src/other.py --name other --folds {fold}" --job-folds other=0,1,2`}},
		{"the seed after the one in the command", "", "python src/train.py --seed=42 --name idea --folds {fold}", AcceleratorT4, nil, "idle",
			[]string{`--extra-job idea-seed43 "python src/train.py --seed 43 --name idea-seed43 --folds {fold}" --job-folds idea-seed43=0`,
				`--extra-job other "python src/other.py --name other --folds {fold}" --job-folds other=0`}},
		{"no second seed without a name to keep it apart", seeded, "python src/train.py --folds {fold}", AcceleratorT4, nil, "idle",
			[]string{`--extra-job other "python src/other.py --name other --folds {fold}" --job-folds other=0`}},
		{"the last fold over all cards", "import os\nrank = int(os.environ.get('LOCAL_RANK', 0))\n", "python src/train.py --name idea --folds {fold}", AcceleratorT4, nil, "idle",
			[]string{"--launcher torchrun --wide-folds 2", `--extra-job other "python src/other.py --name other --folds {fold}" --job-folds other=0`}},
		{"through accelerate", "from accelerate import Accelerator\n", "python src/train.py --name idea --folds {fold}", AcceleratorT4, nil, "idle",
			[]string{"--launcher accelerate --wide-folds 2", `--extra-job other "python src/other.py --name other --folds {fold}" --job-folds other=0`}},
		{"no launcher on a TPU", "rank = 'LOCAL_RANK'\n", "python src/train.py --name idea --folds {fold}", AcceleratorTPU, nil, "idle",
			[]string{`--extra-job other "python src/other.py --name other --folds {fold}" --job-folds other=0,1,2`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			if tt.train != "" {
				files["src/train.py"] = tt.train
			}
			spec := project(t, files)
			spec.Command, spec.Accelerator, spec.Folds = tt.cmd, tt.accelerator, tt.folds
			b := pack(t, spec)
			if !matches(b.Warnings, tt.warning) {
				t.Errorf("warnings %q", b.Warnings)
			}
			var got []string
			for _, o := range b.Fill {
				got = append(got, o.Flag)
				if o.Text == "" || !strings.HasSuffix(o.Text, ".") {
					t.Errorf("%q is no sentence", o.Text)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestFillIsTaken: a build that follows the offers has nothing idle left.
func TestFillIsTaken(t *testing.T) {
	spec := project(t, nil)
	spec.ExtraJobs = []Job{{Name: "idea-seed1", Command: "python src/train.py --name idea-seed1 --folds {fold} --seed 1", Folds: []int{0}}}
	if b := pack(t, spec); b.Fill != nil || matches(b.Warnings, "idle") {
		t.Errorf("%+v %q", b.Fill, b.Warnings)
	}
	spec = project(t, nil)
	spec.Launcher, spec.WideFolds = "torchrun", []int{2}
	b := pack(t, spec)
	if b.Fill != nil || matches(b.Warnings, "idle") {
		t.Errorf("%+v %q", b.Fill, b.Warnings)
	}
	c, _ := script(t, b)
	if j := c.Jobs[0]; j.Launcher != "torchrun" || !slices.Equal(j.Wide, []int{2}) || !slices.Equal(j.Folds, []int{0, 1, 2}) || j.Assemble == nil {
		t.Errorf("the session is told %+v", j)
	}
}

func TestWideFolds(t *testing.T) {
	for _, tt := range []struct {
		launcher, cmd, accelerator string
		wide                       []int
		field                      string
	}{
		{"", "python src/train.py --folds {fold}", AcceleratorT4, []int{2}, "wide-folds"},
		{"torchrun", "python src/train.py --folds {fold}", AcceleratorT4, []int{7}, "wide-folds"},
		{"torchrun", "python src/train.py", AcceleratorT4, []int{1}, "cmd"},
		{"torchrun", "python src/train.py --folds {fold}", AcceleratorTPU, []int{2}, "launcher"},
		{"torchrun", "bash run.sh {fold}", AcceleratorT4, []int{2}, "launcher"},
	} {
		spec := project(t, nil)
		spec.Launcher, spec.Command, spec.Accelerator, spec.WideFolds = tt.launcher, tt.cmd, tt.accelerator, tt.wide
		var wrong *SpecError
		if _, err := Pack(t.Context(), spec); !errors.As(err, &wrong) || wrong.Field != tt.field {
			t.Errorf("%s %s: %v", tt.launcher, tt.cmd, err)
		}
	}
}

// TestExtraJobLauncher: a further job has a launcher of its own.
func TestExtraJobLauncher(t *testing.T) {
	spec := project(t, nil)
	spec.ExtraJobs = []Job{{Name: "big", Command: "python src/train.py --name big", Launcher: "accelerate"}}
	c, _ := script(t, pack(t, spec))
	if c.Jobs[0].Launcher != "" || c.Jobs[1].Launcher != "accelerate" {
		t.Errorf("%+v", c.Jobs)
	}
	spec.ExtraJobs[0].Command = "python src/train.py --folds {fold}"
	var wrong *SpecError
	if _, err := Pack(t.Context(), spec); !errors.As(err, &wrong) || wrong.Field != "launcher" {
		t.Error(err)
	}
}

// TestStallAndSeedNoise: both reach the session's config, and neither is in it unless asked for.
func TestStallAndSeedNoise(t *testing.T) {
	spec := project(t, nil)
	if c, _ := script(t, pack(t, spec)); c.StallSeconds != nil {
		t.Errorf("stall_s %v", *c.StallSeconds)
	}
	for minutes, want := range map[float64]float64{7.5: 450, -1: 0, 100: 6000} {
		spec.StallMinutes = minutes
		if c, _ := script(t, pack(t, spec)); c.StallSeconds == nil || *c.StallSeconds != want {
			t.Errorf("%g minutes: %v", minutes, c.StallSeconds)
		}
	}
	var wrong *SpecError
	spec.StallMinutes = 121 // the cap is two hours
	if _, err := Pack(t.Context(), spec); !errors.As(err, &wrong) || wrong.Field != "stall" {
		t.Error(err)
	}
	spec = project(t, map[string]string{"artifacts/base/curve_fold0.json": `{"fold":0,"epochs":1,"greater_is_better":true,"points":[{"epoch":0,"score":0.5,"seconds":1}]}`})
	spec.Baseline = &Prune{Reference: "artifacts/base", Margin: 0.03, FoldMargins: map[int]float64{0: 0.01, 1: 0.02}}
	c, _ := script(t, pack(t, spec))
	if c.Prune == nil || c.Prune.Margin != 0.03 || c.Prune.MinFrac != DefaultMinFrac || len(c.Prune.FoldMargins) != 2 || c.Prune.FoldMargins[1] != 0.02 {
		t.Errorf("%+v", c.Prune)
	}
	spec.Baseline.FoldMargins[1] = -1
	if _, err := Pack(t.Context(), spec); !errors.As(err, &wrong) || wrong.Field != "prune-seeds" {
		t.Error(err)
	}
}
