package runnerpack

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A script with another cap is the very script that a build with that cap gives.
func TestWithHours(t *testing.T) {
	spec := project(t, nil)
	spec.Hours, spec.StallMinutes, spec.Durations = 6, 30, map[string]float64{"idea/0": 1234.5}
	spec.ExtraJobs = []Job{{Name: "its", Command: `python src/model.py --say "it's ä \ '''" Runs on NvidiaTeslaT4 for at most 6 hours`}}
	long := pack(t, spec)
	text := string(readTestFile(t, filepath.Join(long.Dir, long.Script)))
	for _, hours := range []float64{2.97, 0.5, 6, 12} {
		spec.Hours = hours
		b := pack(t, spec)
		got, err := WithHours(text, hours)
		if want := string(readTestFile(t, filepath.Join(b.Dir, b.Script))); err != nil || got != want {
			t.Errorf("%v hours: %v, another script", hours, err)
		}
		if !strings.Contains(got, b.BuildID) || hours != 6 && b.BuildID == long.BuildID {
			t.Errorf("%v hours: the build is %s", hours, b.BuildID)
		}
	}
	var bad *SpecError
	for _, hours := range []float64{0, -1, 12.1, 0.4} { // the last: less than it may stall
		if _, err := WithHours(text, hours); !errors.As(err, &bad) {
			t.Errorf("%v hours: %v", hours, err)
		}
	}
	for name, other := range map[string]string{
		"empty":                        "",
		"a script of one's own":        "print('hello')\n",
		"changed code":                 strings.Replace(text, "def open_payload", "def open_it", 1),
		"changed settings":             strings.Replace(text, `"retry": 0`, `"retry": 1`, 1),
		"a setting of another program": strings.Replace(text, `"retry": 0`, `"new": 1, "retry": 0`, 1),
		"changed payload":              strings.Replace(text, `PAYLOAD_SHA256 = "`, `PAYLOAD_SHA256 = "0`, 1),
		"cut short":                    text[:len(text)/2],
	} {
		if other == text {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := WithHours(other, 2); !errors.Is(err, ErrNotOurs) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
