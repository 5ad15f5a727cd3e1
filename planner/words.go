package planner

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// knownErrors says what to do about errors that come up again and again. The first match wins.
var knownErrors = []struct{ word, fix string }{
	{"outofmemoryerror", oomFix},
	{"cuda out of memory", oomFix},
	{"resource_exhausted", oomFix},
	{"no kernel image is available", "The card is too old for the image's PyTorch. Use --accelerator NvidiaTeslaT4."},
	{"modulenotfounderror", "Add the package with --pip, or attach a dataset of wheels with --wheels when the session has no internet."},
	{"importerror", "Check the import on Kaggle's image; pin the package's version with --pip."},
	{"no space left on device", "The working folder holds some 20 GB. Write scratch files to /kaggle/temp and keep fewer checkpoints."},
	{"memoryerror", "The machine's memory is used up. Load less at a time, or use fewer workers."},
	{"dataloader worker", "A loading process died, mostly for want of memory. Use fewer workers."},
	{"syntaxerror", "The script does not parse on the session's Python (3.8 or later is promised). Run it once here."},
	{"permission denied", "Inputs are read-only. Write to the working folder."},
	{"temporary failure in name resolution", "The session has no internet. Leave out --no-internet, or attach what is fetched as a dataset."},
}

const oomFix = "Halve the batch and accumulate gradients over two steps, or use mixed precision; a T4 has 15 GB."

// runnerFix says what to do about what a session finds out about itself, by its code.
var runnerFix = map[string]string{
	"wrong-device":     "Kaggle handed out another machine than asked for. Push again, or build with --allow-any-device.",
	"no-device":        "Kaggle started the session without its accelerator. Push again; if it happens twice, check that the account is verified.",
	"missing-input":    "Check the owner and name, that this account may see it, and that a kernel's output existed at the push.",
	"input-missing":    "Check the owner and name, that this account may see it, and that a kernel's output existed at the push.",
	"input-clash":      "Give one of them a folder of its own (owner/slug=folder), or use --input-layout nested.",
	"pip-failed":       "Check the package's name and version; without internet attach its wheels with --wheels.",
	"early-failure":    "Every first task died of the same error, so the rest was not started. Fix it and push again.",
	"assemble-failed":  "The folds are there; run the assemble step here on the collected files.",
	"post-failed":      "The folds are there; run the command here on the collected files.",
	"resume-missing":   "The kernel to resume from brought nothing. Check its name and that its run was complete at the push.",
	"splits-differ":    "Build again: data/folds.csv changed while the kernel was packed.",
	"too-many-files":   "Folds were packed into one archive each; they are unpacked by collecting.",
	"devices-silent":   "The devices' use could not be read; nothing else is affected.",
	"deadline-reached": "Resume it with --resume-from, or raise --hours.",
}

// sameAs maps the session's codes to those of our own rules that say the same.
func sameAs(code string) string {
	switch code {
	case "deadline", "deadline-hit", "deadline-reached":
		return "deadline-hit"
	case "missing-input", "input-missing":
		return "inputs-missing"
	case "input-clash", "clash":
		return "inputs-clash"
	case "task-failed", "fold-failed":
		return "fold-failed"
	}
	return code
}

var missingPath = regexp.MustCompile(`(?i)no such file or directory: *['"]([^'"\n]+)['"]`)

// notFoundFix says where the inputs are, when a script looked for a file elsewhere: mostly it looked in a folder of its own and
// the files are straight in data/.
func notFoundFix(text string, f RunFacts) string {
	const head = "A file is not where the script looks for it. "
	places := f.Inputs.Places
	switch {
	case f.OwnKernel:
		return head + "Name what it needs in kernel-metadata.json (dataset_sources, competition_sources, kernel_sources); it is mounted under /kaggle/input."
	case len(places) == 0:
		return head + "Nothing was attached: attach the data with --dataset owner/slug=folder, or let a small file travel with --include."
	}
	var where []string
	for _, p := range places {
		where = append(where, fmt.Sprintf("those of %s in %s/", p.Ref, p.Folder))
	}
	fix := head + "In the session the files of inputs are linked into the project: " + strings.Join(where, ", ") + "."
	m := missingPath.FindStringSubmatch(text)
	if m == nil || path.IsAbs(m[1]) {
		return fix + " Read them from there, or give an input another folder (owner/slug=folder)."
	}
	dir := path.Dir(path.Clean(m[1]))
	for _, p := range places {
		if dir != "." && dir != p.Folder {
			return fix + fmt.Sprintf(" The script looks for %s: read it from %s/, or attach %s=%s.", m[1], p.Folder, p.Ref, dir)
		}
	}
	return fix + fmt.Sprintf(" None of them has %s; if it is a file of the project, let it travel with --include.", m[1])
}

// fix finds advice for an error of this run.
func (f RunFacts) fix(text, otherwise string) string {
	if strings.Contains(strings.ToLower(text), "filenotfounderror") {
		otherwise = notFoundFix(text, f)
	}
	return fixFor(text, otherwise)
}

// fixFor finds advice for an error text.
func fixFor(text, otherwise string) string {
	low := strings.ToLower(text)
	for _, k := range knownErrors {
		if strings.Contains(low, k.word) {
			return k.fix
		}
	}
	return otherwise
}

// taskNames names tasks for a sentence: "Fold 2 of train", "Folds 0, 1 and 3 of train", "The job prep".
func taskNames(tasks []TaskFacts) string {
	var jobs []string
	folds := map[string][]int{}
	for _, t := range tasks {
		if !slices.Contains(jobs, t.Job) {
			jobs = append(jobs, t.Job)
		}
		if t.Fold != nil {
			folds[t.Job] = append(folds[t.Job], *t.Fold)
		}
	}
	var parts []string
	for _, j := range jobs {
		switch f := folds[j]; len(f) {
		case 0:
			parts = append(parts, "the job "+j)
		case 1:
			parts = append(parts, fmt.Sprintf("fold %d of %s", f[0], j))
		default:
			parts = append(parts, "folds "+numbers(f)+" of "+j)
		}
	}
	s := strings.Join(parts, ", ")
	return strings.ToUpper(s[:1]) + s[1:]
}

func numbers(n []int) string {
	slices.Sort(n)
	s := make([]string, len(n))
	for i, x := range n {
		s[i] = fmt.Sprint(x)
	}
	last := len(s) - 1
	return strings.Join(s[:last], ", ") + " and " + s[last]
}

func names(d []DeviceFacts) string {
	s := make([]string, len(d))
	for i, x := range d {
		s[i] = x.Name
	}
	return strings.Join(s, " and ")
}

func medians(d []DeviceFacts) string {
	s := make([]string, len(d))
	for i, x := range d {
		s[i] = fmt.Sprintf("%s: median %.0f %% of %d samples", x.Name, x.Median, x.Samples)
	}
	return strings.Join(s, "; ")
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n\r \t"), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// sentence ends a text with a full stop unless it has an end already.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// minutes writes a short duration: "0.3 s", "40 s", "12 min".
func minutes(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	if d < 2*time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}

// short writes a duration in the unit that suits it.
func short(d time.Duration) string {
	if d >= 2*time.Hour {
		return Hours(d)
	}
	return minutes(d)
}
