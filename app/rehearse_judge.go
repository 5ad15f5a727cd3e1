package app

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sandglass/kaggle/sandbox"
	"sandglass/planner"
	"sandglass/runnerpack"
)

// judgement collects what is said of a rehearsal.
type judgement struct {
	r      *rehearsing
	ev     evidence
	checks []RehearsalCheck
	not    []string // what was not rehearsed
	failed []failedTask
}

// failedTask is a task that did not end well, and what is known of why.
type failedTask struct {
	runnerpack.RunTask
	last    string // the line that names the error
	excuse  string // why it says nothing of Kaggle; "" = it does
	covered bool   // another check says it
}

func (f failedTask) name() string {
	if f.Fold == nil {
		return f.Job
	}
	return fmt.Sprintf("%s fold %d", f.Job, *f.Fold)
}

func (j *judgement) say(code, state, text, detail, fix string) {
	j.checks = append(j.checks, RehearsalCheck{Code: code, State: state, Text: text, Detail: detail, Fix: fix})
}

func (j *judgement) notRehearsed(format string, args ...any) {
	if text := strings.TrimSuffix(fmt.Sprintf(format, args...), "."); !slices.Contains(j.not, text) {
		j.not = append(j.not, text)
	}
}

// judge turns the evidence into a verdict.
func (r *rehearsing) judge(ev evidence) Rehearsal {
	j := &judgement{r: r, ev: ev}
	j.findFailures()
	for _, check := range []func(){
		j.checkBuild, j.checkMachine, j.checkInputs, j.checkImports, j.checkPaths, j.checkWrites, j.checkTasks, j.checkOutputs,
		j.checkAssembly, j.checkDeadline,
	} {
		check()
	}
	res := Rehearsal{Seconds: r.seconds, CapSeconds: r.cap.Seconds(), Smoke: len(r.smoke) > 0, Dir: r.dir, At: r.a.now(), Kernel: r.build.Kernel,
		BuildID: r.build.BuildID, Payload: r.payload, ScriptBytes: r.build.ScriptBytes, Accelerator: r.build.Accelerator, Python: r.version, Spec: r.spec,
		Tasks: j.tasks(), Log: strings.Split(r.shorten(strings.Join(tail(r.log.lines, 60), "\n")), "\n")}
	j.checkSize(&res)
	j.measure(&res)
	res.Checks, res.NotRehearsed = j.checks, append([]string{}, j.not...)
	res.OK = !slices.ContainsFunc(j.checks, func(c RehearsalCheck) bool { return c.State == CheckBad })
	res.Verdict = j.verdict(res)
	return res
}

func (j *judgement) verdict(res Rehearsal) string {
	warns := 0
	for _, c := range j.checks {
		switch c.State {
		case CheckBad:
			return "Failed: " + c.Text
		case CheckWarn:
			warns++
		}
	}
	done := 0
	for _, t := range res.Tasks {
		if t.State == "done" {
			done++
		}
	}
	text := fmt.Sprintf("Passed: %d of %s ended well in %.0f s", done, plural(len(res.Tasks), "task"), res.Seconds)
	if done < len(res.Tasks) {
		text = fmt.Sprintf("Passed as far as this computer can tell: %d of %s ended well in %.0f s", done, plural(len(res.Tasks), "task"), res.Seconds)
	}
	if warns > 0 {
		text += fmt.Sprintf(", %s", plural(warns, "warning"))
	}
	return text + "."
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func tail(lines []string, n int) []string {
	return append([]string{}, lines[max(0, len(lines)-n):]...)
}

// someOf names a few of many.
func someOf(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

func (j *judgement) tasks() []TaskView {
	out := []TaskView{}
	if j.ev.out.Run == nil {
		return out
	}
	for _, t := range j.ev.out.Run.Tasks {
		v := TaskView{Job: t.Job, Fold: t.Fold, State: t.State, Seconds: t.Seconds, Device: t.Device, Best: t.Best, Epochs: t.Epochs, Error: j.r.shorten(t.Error)}
		for _, c := range j.ev.out.Curves {
			if c.Job == t.Job && t.Fold != nil && c.Fold == *t.Fold {
				v.Of = c.Epochs
			}
		}
		out = append(out, v)
	}
	return out
}

// Words by which an error is known to come from what is not on this computer.
var (
	noModule = regexp.MustCompile(`(?:ModuleNotFoundError|ImportError): No module named ['"]?([\w.]+)`)
	noDevice = regexp.MustCompile(`(?i)found no NVIDIA driver|Torch not compiled with CUDA|No CUDA GPUs are available|CUDA driver (version|initialization)|no CUDA-capable device|` +
		`libcuda\.so|Unable to initialize backend '(tpu|cuda)'|Failed to get global TPU topology|No (TPU|CUDA) (devices|runtime)|TPU platform|Could not find.*cuda drivers.*Error|` +
		`Attempting to deserialize object on a CUDA device|CUDA error|Expected all tensors.*cuda`)
	noNetwork = regexp.MustCompile(`(?i)Temporary failure in name resolution|Name or service not known|nodename nor servname|getaddrinfo failed|Max retries exceeded|` +
		`Network is unreachable|urlopen error|ConnectionError|LocalEntryNotFoundError|offline mode`)
	noFile    = regexp.MustCompile(`(?:FileNotFoundError|NotADirectoryError).*?: '([^']+)'|FileNotFoundError.*?: "([^"]+)"|can't open file '([^']+)'`)
	errorLine = regexp.MustCompile(`^\s*(\[\w+\]:)?[\w.]*(Error|Exception|Interrupt|Exit|Killed)\b`)
)

// findFailures looks at every task that did not end well.
func (j *judgement) findFailures() {
	if j.ev.out.Run == nil {
		return
	}
	for _, t := range j.ev.out.Run.Tasks {
		if t.State != "failed" && t.State != "killed" {
			continue
		}
		t.Error = j.r.shorten(t.Error)
		f := failedTask{RunTask: t, last: lastError(t.Error)}
		switch {
		case noDevice.MatchString(t.Error) && j.r.pool() != PoolCPU:
			f.excuse = fmt.Sprintf("there is no %s here", map[string]string{PoolGPU: "GPU", PoolTPU: "TPU"}[j.r.pool()])
		case noNetwork.MatchString(t.Error) && !j.r.spec.NoInternet:
			f.excuse = "the network was not reached from here"
		}
		j.failed = append(j.failed, f)
	}
}

// shorten takes the session's own folder out of a text: its paths begin at the project.
func (r *rehearsing) shorten(text string) string {
	return strings.ReplaceAll(text, r.scratch()+string(filepath.Separator), "")
}

// lastError is the line of an error's tail that names it.
func lastError(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if errorLine.MatchString(lines[i]) {
			return strings.TrimSpace(lines[i])
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

func (j *judgement) checkBuild() {
	b := j.r.build
	kb := func(n int) string { return fmt.Sprintf("%d kB", (n+999)/1000) }
	switch {
	case b.ScriptBytes >= runnerpack.WarnScriptBytes:
		var parts []string
		for _, p := range b.Parts {
			parts = append(parts, fmt.Sprintf("%s %s", p.Name, kb(p.Bytes)))
		}
		j.say("size", CheckWarn, fmt.Sprintf("The script has %s, and Kaggle refuses %s and more.", kb(b.ScriptBytes), kb(runnerpack.MaxScriptBytes)),
			someOf(parts, 4), "Move data into a dataset, or keep files back with .sandglassignore.")
	default:
		j.say("size", CheckOK, fmt.Sprintf("The script has %s of the %s that Kaggle takes.", kb(b.ScriptBytes), kb(runnerpack.MaxScriptBytes)), "", "")
	}
	for _, w := range b.Warnings {
		j.say("build", CheckWarn, capital(w), "", "")
	}
}

func capital(s string) string {
	if s == "" {
		return s
	}
	if first, _, _ := strings.Cut(s, " "); !strings.ContainsAny(first, "/.") { // a file keeps its name
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// kagglePython is the version on Kaggle's images in 2026 (github.com/Kaggle/docker-python: the Colab base image, tpu/Dockerfile).
const kagglePython = "3.12"

func (j *judgement) checkMachine() {
	r := j.r
	j.say("python", CheckOK, fmt.Sprintf("Ran with Python %s.", r.version), r.python, "")
	if !strings.HasPrefix(r.version, kagglePython+".") {
		j.notRehearsed("Kaggle's image has Python %s and its own versions of every package; here it was Python %s.", kagglePython, r.version)
	} else {
		j.notRehearsed("Kaggle's image has its own versions of every package.")
	}
	gpus, chips := sandbox.FakeDevices(r.build.Accelerator)
	switch {
	case chips > 0:
		j.say("devices", CheckOK, fmt.Sprintf("The session saw %d made-up TPU chips, as planned.", chips), "", "")
		j.notRehearsed("The TPU: compiling, memory, bf16 and speed; the code ran with PJRT_DEVICE=CPU.")
		j.notRehearsed("Kaggle's TPU image, whose packages are fewer than those of the GPU image.")
	case gpus > 0:
		j.say("devices", CheckOK, fmt.Sprintf("The session saw %s made up, as planned.", plural(gpus, "GPU")), "", "")
		j.notRehearsed("The GPU: memory, mixed precision and speed; what ran, ran on this computer's CPU unless it has a card of its own.")
	}
	if len(r.spec.Pip) > 0 {
		j.notRehearsed("pip install %s was left out, so that nothing is fetched.", strings.Join(r.spec.Pip, " "))
	}
	if r.spec.NoInternet && j.ev.netOpen {
		j.notRehearsed("The session's internet is off at Kaggle; this system does not let it be cut off here.")
	}
}

func (j *judgement) checkInputs() {
	var here, away []string
	for _, in := range j.r.inputs {
		if in.Dir == "" {
			away = append(away, in.Ref)
			continue
		}
		here = append(here, fmt.Sprintf("%s from %s (%s)", in.Ref, in.Dir, in.From))
	}
	clashes := j.findings("input-clash")
	switch {
	case len(j.r.inputs) == 0:
		return
	case len(away) > 0 && !j.r.spec.AllowMissing && j.missedInput():
		j.say("inputs", CheckBad, fmt.Sprintf("%s is not on this computer, and the run stopped without it.", strings.Join(away, ", ")), strings.Join(here, "\n"),
			fmt.Sprintf("Say where its files are: --input %s=FOLDER. A few of its files, under the same names, are enough.", away[0]))
	case len(away) > 0:
		j.say("inputs", CheckWarn, fmt.Sprintf("%s is not on this computer; the run went without it.", strings.Join(away, ", ")), strings.Join(here, "\n"),
			fmt.Sprintf("Say where its files are: --input %s=FOLDER.", away[0]))
	case len(clashes) > 0:
		j.say("inputs", CheckWarn, "Files of two inputs have one name, and one of them was left out.", strings.Join(clashes, "\n"), "Give one of them a folder of its own: owner/slug=data/FOLDER.")
	default:
		j.say("inputs", CheckOK, fmt.Sprintf("%s linked from this computer.", capitalPlural(len(here), "input")), strings.Join(here, "\n"), "")
	}
	for _, ref := range away {
		j.notRehearsed("The input %s was not here.", ref)
	}
	j.notRehearsed("Whether Kaggle has the inputs ready and lets this account use them was not asked.")
}

func capitalPlural(n int, thing string) string {
	return capital(plural(n, thing))[:len(plural(n, thing))]
}

// missedInput says whether something failed in a way that a missing input explains.
func (j *judgement) missedInput() bool {
	missed := false
	for i := range j.failed {
		f := &j.failed[i]
		if file := missingFile(f.Error); file != "" && !path.IsAbs(file) && !j.inProject(file) || file == "" && f.excuse == "" && strings.Contains(f.Error, "data/") && !noModule.MatchString(f.Error) {
			f.covered, missed = true, true
		}
	}
	return missed
}

// missingFile is the file that an error's text says is not there, as the code spelled it; "" when it names none.
func missingFile(text string) string {
	m := noFile.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(m[1]+m[2]+m[3], `\\`, `\`) // Python's repr
}

// inProject says whether a relative path is a file of the project that stays behind.
func (j *judgement) inProject(file string) bool {
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return false
	}
	_, err := os.Stat(filepath.Join(j.r.spec.Project, filepath.FromSlash(file)))
	return err == nil
}

// findings are the texts of the session's own findings of a code.
func (j *judgement) findings(codes ...string) []string {
	var out []string
	if j.ev.out.Run != nil {
		for _, f := range j.ev.out.Run.Findings {
			if slices.Contains(codes, f.Code) {
				out = append(out, f.Text)
			}
		}
	}
	return out
}

// checkImports says of every module that is missing here what is known of it at Kaggle.
func (j *judgement) checkImports() {
	fatal := map[string]string{} // module: where
	for i := range j.failed {
		f := &j.failed[i]
		name := ""
		if m := noModule.FindStringSubmatch(f.Error); m != nil {
			name, _, _ = strings.Cut(m[1], ".")
		} else {
			for _, s := range j.ev.seen { // caught by the script and said in its own words
				if s.Kind == "import" && strings.Contains(f.last, s.What) {
					name = s.What
				}
			}
		}
		if name == "" {
			continue
		}
		if fatal[name] == "" {
			fatal[name] = j.importer(name)
		}
		f.covered = true
		switch {
		case pipInstalls(j.r.spec.Pip, name):
			f.excuse = name + " is installed by --pip at Kaggle"
		case onImage(j.r.pool(), name) == packageThere && j.ownModule(name) == "":
			f.excuse = name + " is missing here and present on Kaggle"
		}
	}
	names := make([]string, 0, len(fatal))
	for name := range fatal {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		j.sayMissing(name, fatal[name])
	}
	soft := j.softImports(fatal)
	if len(names) == 0 && !soft && j.ev.out.Run != nil {
		j.say("imports", CheckOK, "Every module that the code imported was found.", "", "")
	}
}

// importer is the line that imports a module.
func (j *judgement) importer(module string) string {
	for _, list := range [][]seenLine{j.ev.seen, j.ev.look.Imports} {
		for _, s := range list {
			if s.What == module && (s.Kind == "import" || s.Kind == "") {
				return s.By
			}
		}
	}
	return ""
}

func (j *judgement) sayMissing(name, by string) {
	pip := pipName(name)
	image := map[string]string{PoolTPU: "Kaggle's TPU image"}[j.r.pool()]
	if image == "" {
		image = "Kaggle's image"
	}
	switch own := j.ownModule(name); {
	case own != "" && j.ev.shipped[own]:
		j.say("imports", CheckBad, fmt.Sprintf("%s travels as %s and is not found from where it is imported.", name, own), by,
			fmt.Sprintf("Start the command from the project's folder with %s on its path, or import it as a package.", path.Dir(own)))
	case own != "":
		j.say("imports", CheckBad, fmt.Sprintf("%s is the project's own %s, and it does not travel.", name, own), by, "Add it: --include src --include "+own+".")
	case pipInstalls(j.r.spec.Pip, name):
		j.say("imports", CheckWarn, fmt.Sprintf("%s is missing here; at Kaggle the session installs it (--pip).", name), by, "To rehearse the rest: pip install "+pip+".")
		j.notRehearsed("What comes after the import of %s.", name)
	case onImage(j.r.pool(), name) == packageThere:
		j.say("imports", CheckWarn, fmt.Sprintf("%s is missing here and is on %s.", name, image), by, "To rehearse the rest: pip install "+pip+".")
		j.notRehearsed("What comes after the import of %s, which is missing here and present on Kaggle.", name)
	case onImage(j.r.pool(), name) == packageAbsent:
		j.say("imports", CheckBad, fmt.Sprintf("%s is missing here, and it is not on %s either.", name, image), by, "Install it in the session: --pip "+pip+".")
	default:
		j.say("imports", CheckBad, fmt.Sprintf("%s is missing here, and it is not known whether %s has it.", name, image), by,
			fmt.Sprintf("Correct the import, or install it in the session: --pip %s. If Kaggle has it: pip install %s here and rehearse again.", pip, pip))
	}
}

// softImports tells of modules that the code did without here, and does not at Kaggle.
func (j *judgement) softImports(fatal map[string]string) bool {
	told := map[string]bool{}
	for _, s := range j.ev.seen {
		if _, hard := fatal[s.What]; s.Kind != "import" || hard || told[s.What] || onImage(j.r.pool(), s.What) != packageThere {
			continue
		}
		told[s.What] = true
		j.say("imports", CheckWarn, fmt.Sprintf("The code went on without %s, which is missing here and is on Kaggle's image: there it takes another way.", s.What), s.By,
			"To rehearse that way: pip install "+pipName(s.What)+".")
		j.notRehearsed("What the code does with %s, which is missing here and present on Kaggle.", s.What)
	}
	for _, s := range j.ev.look.Imports {
		if _, hard := fatal[s.What]; hard || told[s.What] || j.ownModule(s.What) != "" {
			continue
		}
		told[s.What] = true
		switch onImage(j.r.pool(), s.What) {
		case packageThere:
			j.notRehearsed("%s imports %s, which is missing here and present on Kaggle.", s.By, s.What)
		default:
			if !pipInstalls(j.r.spec.Pip, s.What) && s.What != "torch_xla" {
				j.notRehearsed("%s imports %s, which is missing here; whether Kaggle's image has it is not known.", s.By, s.What)
			}
		}
	}
	return len(told) > 0
}

// ownModule is the project's own file or package of a module's name, slash-separated; "" when there is none.
func (j *judgement) ownModule(name string) string {
	for _, dir := range []string{"src", ".", "lib", "scripts", "src/lib", "code"} {
		for _, file := range []string{name + ".py", name + "/__init__.py"} {
			if p := path.Join(dir, file); isFile(filepath.Join(j.r.spec.Project, filepath.FromSlash(p))) {
				return p
			}
		}
	}
	return ""
}

var windowsPath = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

func (j *judgement) checkPaths() {
	bad := 0
	say := func(state, text, detail, fix string) {
		j.say("paths", state, text, detail, fix)
		bad++
	}
	told := map[string]bool{}
	for _, s := range j.ev.seen {
		if s.Kind != "read-outside" || told[s.What] {
			continue
		}
		told[s.What] = true
		if len(told) <= 5 {
			say(CheckBad, fmt.Sprintf("%s is opened by its place on this computer; at Kaggle there is no such file.", s.What), s.By, j.pathFix(s.What))
		}
	}
	for i := range j.failed {
		f := &j.failed[i]
		file := missingFile(f.Error)
		if file == "" || f.excuse != "" {
			continue
		}
		if told[file] {
			f.covered = true
			continue
		}
		if f.covered {
			continue
		}
		f.covered, told[file] = true, true
		switch {
		case strings.HasPrefix(file, "/kaggle/"):
			say(CheckBad, fmt.Sprintf("%s is opened by Kaggle's absolute path, which cannot be rehearsed here.", file), f.Error,
				`Use paths relative to the project (inputs are linked into data/), or os.environ.get("KAGGLE_INPUT", "/kaggle/input").`)
		case strings.HasPrefix(file, j.r.session):
			say(CheckBad, fmt.Sprintf("There is no %s in the session.", filepath.Base(file)), f.Error, "Put the file into the project and --include it, or attach it as an input.")
		case path.IsAbs(file) || windowsPath.MatchString(file):
			say(CheckBad, fmt.Sprintf("%s is an absolute path of a computer; at Kaggle there is no such file.", file), f.Error, j.pathFix(file))
		case j.inProject(file):
			say(CheckBad, fmt.Sprintf("%s is in the project and does not travel.", file), f.Error,
				fmt.Sprintf("Add it: --include src --include %s. If it is large, put it into a dataset and attach that.", file))
		default:
			say(CheckBad, fmt.Sprintf("There is no %s in the session.", file), f.Error, "Correct the path, --include the file, or attach what brings it.")
		}
	}
	for _, s := range j.ev.look.Places {
		if !told[s.What] && bad < 5 {
			told[s.What] = true
			say(CheckWarn, fmt.Sprintf("The code names %s, a place on a computer; it was not opened in the rehearsal.", s.What), s.By, j.pathFix(s.What))
		}
	}
	if bad == 0 && j.ev.out.Run != nil {
		j.say("paths", CheckOK, "No file was asked for that Kaggle would not have, and no folder of this computer by its place.", "", "")
	}
}

// pathFix says what to write instead of a place on this computer.
func (j *judgement) pathFix(file string) string {
	if rel, err := filepath.Rel(j.r.spec.Project, filepath.FromSlash(file)); err == nil && filepath.IsLocal(rel) {
		rel = filepath.ToSlash(rel)
		if j.ev.shipped[rel] {
			return "Write " + rel + " instead: commands run in the project's folder."
		}
		return fmt.Sprintf("Write %s instead, and let it travel (--include %s) or come from an input.", rel, rel)
	}
	return "Put the file into the project, or into a dataset that is attached, and open it by a relative path such as data/" + path.Base(strings.ReplaceAll(file, `\`, "/")) + "."
}

func (j *judgement) checkWrites() {
	state, n := CheckOK, 0
	say := func(as, text, detail, fix string) {
		j.say("writes", as, text, detail, fix)
		state = as
	}
	told := map[string]bool{}
	for _, s := range j.ev.seen {
		if !strings.HasPrefix(s.Kind, "write-") || told[s.What] {
			continue
		}
		told[s.What] = true
		if n++; n > 5 {
			continue
		}
		switch s.Kind {
		case "write-input":
			say(CheckBad, fmt.Sprintf("%s was to be written in an input's folder, which is read-only at Kaggle.", s.What), s.By, "Write to artifacts/NAME/ or to the temporary folder.")
		case "write-project":
			say(CheckBad, fmt.Sprintf("%s was to be written by its place on this computer; it was refused.", s.What), s.By, "Write relative to the project: artifacts/NAME/, subs/ or reports/.")
		default:
			say(CheckBad, fmt.Sprintf("%s was to be written outside the session's folders; at Kaggle it is lost, or the folder is not there.", s.What), s.By,
				"Write relative to the project: artifacts/NAME/, subs/ or reports/.")
		}
	}
	for i := range j.failed {
		f := &j.failed[i]
		if strings.Contains(f.Error, "Read-only file system") || strings.Contains(f.Error, "Permission denied") {
			f.covered = f.covered || state == CheckBad
		}
	}
	if len(j.ev.changed) > 0 {
		say(CheckWarn, fmt.Sprintf("Changed while the rehearsal ran: %s.", someOf(j.ev.changed, 3)), "", "If it was not you, the code writes there; at Kaggle that is lost or refused.")
	}
	if len(j.ev.lost) > 0 {
		say(CheckWarn, fmt.Sprintf("Written beside the results, so the session will not keep it: %s.", someOf(j.ev.lost, 5)), "", "Write what is to be kept to artifacts/NAME/, subs/ or reports/.")
	}
	if state == CheckOK && j.ev.out.Run != nil {
		j.say("writes", CheckOK, "Nothing was written outside the session's folders.", "What Python opens was watched; the project and the inputs were compared before and after.", "")
	}
	if !j.ev.whole {
		j.notRehearsed("Not every file of the project and the inputs was compared before and after (more than %d, or unreadable).", maxMarks)
	}
}

// checkTasks says how the tasks ended.
func (j *judgement) checkTasks() {
	run := j.ev.out.Run
	if run == nil || len(run.Tasks) == 0 && len(run.Jobs) == 0 {
		text := "The session ended before it had begun: " + j.r.result.Message
		if run != nil && len(run.Findings) > 0 {
			text = run.Findings[len(run.Findings)-1].Text
		}
		j.say("tasks", CheckBad, capital(text), strings.Join(tail(j.r.log.lines, 15), "\n"), "Read the log: "+filepath.Join(j.r.dir, "log.txt"))
		return
	}
	for _, text := range j.findings("runner-error", "close-failed", "splits-differ", "bad-launcher", "bad-path", "wrong-device", "no-device") {
		j.say("tasks", CheckBad, capital(strings.SplitN(text, "\n", 2)[0]), text, "")
	}
	for _, text := range j.findings("survivor") {
		j.say("tasks", CheckWarn, text, "", "Let the script end the processes that it starts.")
	}
	count := map[string]int{}
	for _, t := range run.Tasks {
		count[t.State]++
	}
	j.sayFailures()
	of := plural(len(run.Tasks), "task")
	switch left := count["waiting"] + count["not-started"] + count["running"]; {
	case len(j.failed) > 0 && left > 0:
		j.notRehearsed("%s not started after the first failures.", strings.Replace(plural(left, "task was"), "task wass", "tasks were", 1))
	case left > 0:
		j.say("tasks", CheckWarn, fmt.Sprintf("%d of %s were not started within %.1f min.", left, of, j.r.cap.Minutes()), "", "Give it more time: --minutes.")
	case len(j.failed) == 0:
		j.say("tasks", CheckOK, fmt.Sprintf("%s ended well%s.", capitalPlural(len(run.Tasks), "task"), map[bool]string{true: " with --smoke"}[len(j.r.smoke) > 0]), "", "")
	}
	if len(j.r.smoke) == 0 {
		j.notRehearsed("The command was run as it is: %s.", map[bool]string{true: "--smoke was kept back", false: "its script knows no --smoke"}[j.r.opt.NoSmoke])
	}
}

// sayFailures tells each kind of failure once.
func (j *judgement) sayFailures() {
	told := map[string]bool{}
	for _, f := range j.failed {
		key := f.last + f.excuse
		if f.Fold != nil {
			key = strings.ReplaceAll(key, fmt.Sprint(*f.Fold), "#")
		}
		if told[key] {
			continue
		}
		told[key] = true
		switch {
		case f.excuse != "":
			j.say("tasks", CheckSkipped, fmt.Sprintf("%s could not be rehearsed to its end: %s.", capital(f.name())[:len(f.name())], f.excuse), f.Error, "")
			j.notRehearsed("%s stopped because %s.", f.name(), f.excuse)
		case f.covered && j.said(CheckBad, "imports", "paths", "writes", "inputs"):
			j.say("tasks", CheckBad, fmt.Sprintf("%s failed of it: %s", f.name(), f.last), f.Error, "")
		case f.State == "killed":
			j.sayKilled(f)
		default:
			j.say("tasks", CheckBad, fmt.Sprintf("%s failed: %s", f.name(), f.last), f.Error, "")
		}
	}
}

func (j *judgement) said(state string, codes ...string) bool {
	return slices.ContainsFunc(j.checks, func(c RehearsalCheck) bool { return c.State == state && slices.Contains(codes, c.Code) })
}

// waitsBelow is the share of one core under which a task that reached the cap was waiting and not computing.
const waitsBelow = 0.03

// sayKilled tells of a task that was still going at the cap: hung, or too much for this computer.
func (j *judgement) sayKilled(f failedTask) {
	key := f.Job + "/"
	if f.Fold != nil {
		key += fmt.Sprint(*f.Fold)
	}
	share, known := j.ev.busy[key]
	waits := known && share < waitsBelow
	where := strings.Join(j.ev.stack[:min(6, len(j.ev.stack))], "\n")
	at := ""
	for _, s := range j.ev.stack {
		if !strings.HasPrefix(s, "/") && !windowsPath.MatchString(s) {
			at = " at " + strings.Split(s, " in ")[0]
			break
		}
	}
	long := fmt.Sprintf("%.0f s", f.Seconds)
	switch {
	case waits:
		j.say("tasks", CheckBad, fmt.Sprintf("%s hangs%s: after %s it had not ended and computed nothing.", f.name(), at, long), where, "Look at what it waits for there: a lock, a queue, the network, a key.")
	case len(j.r.smoke) > 0:
		j.say("tasks", CheckBad, fmt.Sprintf("%s did not end within %s although it was given --smoke%s.", f.name(), long, at), where, "Let --smoke stop after two batches of one epoch; or give it more time: --minutes.")
	case f.Epochs > 0:
		j.say("tasks", CheckWarn, fmt.Sprintf("%s was still training after %s and did not stop at its deadline: what it had not saved would be lost at the cap.", f.name(), long), where,
			"Ask the deadline in the loop: sandglass.budget.TrainBudget, or sandglass.budget.Deadline.")
	default:
		j.say("tasks", CheckWarn, fmt.Sprintf("%s had no score after %s on this computer%s, and did not stop at its deadline.", f.name(), long, at), where,
			"Give it more time (--minutes), or let the script know --smoke: two batches of one epoch.")
		j.notRehearsed("%s beyond its first %s.", f.name(), long)
	}
}

var asksDeadline = regexp.MustCompile(`TrainBudget|\bDeadline\b|KG_DEADLINE|sandglass\.callbacks|kgkit`)

// checkDeadline: what the cap of a session does to a task.
func (j *judgement) checkDeadline() {
	run := j.ev.out.Run
	if run == nil || len(run.Tasks) == 0 {
		return
	}
	stopped, unsaved := 0, []string{}
	for _, t := range run.Tasks {
		if t.State != "timeout" || t.Fold == nil {
			continue
		}
		stopped++
		left, err := filepath.Glob(filepath.Join(j.r.working(), "artifacts", t.Job, fmt.Sprintf("fold*%d_resume*", *t.Fold)))
		if err != nil || len(left) == 0 {
			unsaved = append(unsaved, fmt.Sprintf("%s fold %d", t.Job, *t.Fold))
		}
	}
	switch {
	case len(unsaved) > 0:
		j.say("deadline", CheckWarn, fmt.Sprintf("%s stopped at the deadline and left no checkpoint: a follow-up begins again.", someOf(unsaved, 3)), "", "Save fold<k>_resume.* before the script returns.")
		return
	case stopped > 0:
		j.say("deadline", CheckOK, fmt.Sprintf("%s stopped at the deadline and left a checkpoint to go on from.", capitalPlural(stopped, "task")), "", "")
		return
	}
	for _, job := range j.r.jobs {
		files := scriptsOf(j.r.spec.Project, job.Command)
		if len(files) == 0 || !strings.Contains(job.Command, "{fold}") {
			continue
		}
		asks := slices.ContainsFunc(files, func(file string) bool {
			raw, err := os.ReadFile(file)
			return err == nil && asksDeadline.Match(raw)
		})
		if !asks {
			j.say("deadline", CheckWarn, fmt.Sprintf("Nothing in %s asks how much time is left: what is not finished at the cap is lost.", filepath.Base(files[0])), "",
				"Use sandglass.budget.TrainBudget (epochs) or sandglass.budget.Deadline (other loops).")
			return
		}
	}
	if len(j.failed) == 0 {
		j.notRehearsed("A stop at the deadline and going on from a checkpoint: every task ended before.")
	}
}

// measure puts the times into the result.
func (j *judgement) measure(res *Rehearsal) {
	res.BatchSeconds = j.r.bench()
	var seconds []float64
	epochs := 0
	for _, c := range j.ev.out.Curves {
		epochs = max(epochs, c.Epochs)
		for _, p := range c.Points {
			if p.Seconds > 0 {
				seconds = append(seconds, p.Seconds)
			}
		}
	}
	if len(seconds) > 0 {
		slices.Sort(seconds)
		res.EpochSeconds = &seconds[len(seconds)/2]
	}
	for _, t := range res.Tasks {
		if t.State == "done" && (res.TaskSeconds == nil || t.Seconds > *res.TaskSeconds) {
			res.TaskSeconds = &t.Seconds
		}
	}
	if len(j.r.smoke) == 0 && res.EpochSeconds != nil && epochs > 0 {
		h := *res.EpochSeconds * float64(epochs) / 3600
		res.PredictedTaskHours = &h
	}
	switch {
	case res.BatchSeconds != nil:
		j.say("speed", CheckOK, fmt.Sprintf("A training step takes %.3g s on this computer (the trainer's own bench).", *res.BatchSeconds), "", "")
	case res.PredictedTaskHours != nil:
		j.say("speed", CheckOK, fmt.Sprintf("An epoch takes %.3g s on this computer, a task of %d epochs %.2g h.", *res.EpochSeconds, epochs, *res.PredictedTaskHours), "", "")
	default:
		j.say("speed", CheckSkipped, "The trainer gave no time for a batch, so nothing is said about hours.", "", "Measure with sandglass.bench, or push a short run and let the next be sized from it.")
	}
	if planner.PoolOf(res.Accelerator) != planner.PoolOf("none") {
		j.notRehearsed("Hours: this computer's speed is not the accelerator's.")
	}
}
