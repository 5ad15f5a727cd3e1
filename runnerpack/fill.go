package runnerpack

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Offer is a way to use a device that the last round of tasks leaves idle: a sentence, the flags that add it to the build, and
// the same to apply without reading them. JobCommand is a further job to add, else Launcher trains the Folds of the first job
// wide; with neither only a person can fill it in.
type Offer struct {
	Text, Flag          string
	JobName, JobCommand string
	Folds               []int
	Launcher            string
}

// work is what a session's jobs put on its devices.
type work struct {
	tasks int // that run next to each other, a device each
	wide  int // that have the whole machine, one after another, and so leave nothing idle
	alone int // that have the whole machine and use what their command uses of it
}

func (p *plan) work() work {
	var w work
	for _, j := range p.jobs {
		w.tasks += len(j.Folds) - len(j.WideFolds)
		w.wide += len(j.WideFolds)
		if j.Folds == nil && j.Launcher == "" {
			w.alone++
		}
	}
	return w
}

// devices is the word for the session's devices.
func (p *plan) devices() string {
	return map[pool]string{poolGPU: "T4 cards", poolTPU: "TPU chips"}[p.shape.pool]
}

// fill says how the devices that the last round leaves idle could be used. Their
// hours are paid for in any case.
func (p *plan) fill(own []member) []Offer {
	w, n := p.work(), p.workers()
	idle := (n - w.tasks%n) % n
	if w.tasks == 0 || idle == 0 {
		return nil
	}
	var out []Offer
	if o, ok := p.secondSeed(own, idle); ok {
		out = append(out, o)
	}
	if o, ok := p.wideFold(own, w.tasks%n); ok {
		out = append(out, o)
	}
	return append(out, Offer{
		Text: fmt.Sprintf("Run %s of another job beside them.", plural(idle, "fold")),
		Flag: fmt.Sprintf("--extra-job other %s --job-folds other=%s", quote("python src/other.py --name other --folds {fold}"), joinCommas(p.firstFolds(idle))),
	})
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// firstFolds are the first n folds of the first job that has some.
func (p *plan) firstFolds(n int) []int {
	for _, j := range p.jobs {
		if len(j.Folds) > 0 {
			return j.Folds[:min(n, len(j.Folds))]
		}
	}
	return nil
}

var seedFlag = regexp.MustCompile(`(^|\s)--seed(?:=|\s+)(\d+)(\s|$)`)

// secondSeed offers the first job once more with another seed, when its script
// has a flag for it: as many folds as there are idle devices.
func (p *plan) secondSeed(own []member, idle int) (Offer, bool) {
	j := p.jobs[0]
	if len(j.Folds) == 0 || len(j.Folds) == len(j.WideFolds) {
		return Offer{}, false
	}
	seed, cmd := 1, j.Command
	if m := seedFlag.FindStringSubmatch(cmd); m != nil {
		old, err := strconv.Atoi(m[2])
		if err != nil {
			return Offer{}, false
		}
		seed = old + 1
		cmd = seedFlag.ReplaceAllString(cmd, fmt.Sprintf("${1}--seed %d$3", seed))
	} else if !p.scriptHas(own, cmd, `"--seed"`, `'--seed'`) {
		return Offer{}, false
	} else {
		cmd += fmt.Sprintf(" --seed %d", seed)
	}
	name := fmt.Sprintf("%s-seed%d", j.Name, seed)
	if m := nameFlag.FindStringSubmatch(cmd); m == nil || m[1]+m[2]+m[3] != j.Name {
		return Offer{}, false // both seeds would write to one folder
	}
	cmd = nameFlag.ReplaceAllStringFunc(cmd, func(s string) string { return strings.Replace(s, j.Name, name, 1) })
	folds := p.firstFolds(idle)
	return Offer{
		Text:    fmt.Sprintf("Train %s with a second seed: its noise is what a gain has to beat, and later runs can be stopped early by it.", foldsWord(folds)),
		Flag:    fmt.Sprintf("--extra-job %s %s --job-folds %s=%s", name, quote(cmd), name, joinCommas(folds)),
		JobName: name, JobCommand: cmd, Folds: folds,
	}, true
}

// wideFold offers to give each fold of a last round with a single task all
// cards, when its script is written for a launcher.
func (p *plan) wideFold(own []member, last int) (Offer, bool) {
	j := p.jobs[0]
	if p.shape.pool != poolGPU || last != 1 || len(j.Folds) == 0 || len(j.WideFolds) > 0 || !launchable.MatchString(j.Command) {
		return Offer{}, false
	}
	launcher := ""
	switch {
	case p.scriptHas(own, j.Command, "from accelerate", "import accelerate"):
		launcher = "accelerate"
	case p.scriptHas(own, j.Command, "torch.distributed", "LOCAL_RANK"):
		launcher = "torchrun"
	default:
		return Offer{}, false
	}
	k := j.Folds[len(j.Folds)-1]
	return Offer{
		Text: fmt.Sprintf("Train fold %d last and over all cards, which its script seems to be written for.", k),
		Flag: fmt.Sprintf("--launcher %s --wide-folds %d", launcher, k), Launcher: launcher, Folds: []int{k},
	}, true
}

// scriptHas: the Python that the command starts, or anything that travels when
// it cannot be told which that is, has one of these words in it.
func (p *plan) scriptHas(own []member, cmd string, words ...string) bool {
	started := scriptWord.FindAllString(cmd, -1)
	for _, m := range own {
		if !strings.HasSuffix(m.name, ".py") || len(started) > 0 && !slices.Contains(started, m.name) {
			continue
		}
		for _, word := range words {
			if bytes.Contains(m.data, []byte(word)) {
				return true
			}
		}
	}
	return false
}

func foldsWord(folds []int) string {
	if len(folds) == 1 {
		return fmt.Sprintf("fold %d", folds[0])
	}
	return "folds " + joinInts(folds)
}

func joinCommas(list []int) string { return strings.ReplaceAll(joinInts(list), ", ", ",") }

// quote writes a word for a POSIX shell; most are readable in double quotes.
func quote(s string) string {
	if strings.ContainsAny(s, "\"$`\\!") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return `"` + s + `"`
}
