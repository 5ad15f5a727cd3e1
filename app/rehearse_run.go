package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/kaggle/sandbox"
	"sandglass/planner"
	"sandglass/runnerpack"
)

//go:embed rehearse/kernel.py
var rehearseKernel []byte

//go:embed rehearse/watch.py
var rehearseWatch []byte

// accountWait bounds the question who is signed in, which may go over the network: a rehearsal needs no answer.
const accountWait = 5 * time.Second

// findPython chooses the interpreter: the person's word, the project's virtual environment, the PATH.
func (r *rehearsing) findPython(ctx context.Context) (err error) {
	r.progress(Progress{Stage: "Looking for Python"})
	if r.opt.Python != "" {
		if r.python, r.version, err = sandbox.ProbePython(ctx, r.opt.Python); err != nil {
			return &CallError{Reason: fmt.Sprintf("the Python %s cannot be used: %v", r.opt.Python, err), Action: "name an interpreter of version 3.8 or later"}
		}
		return nil
	}
	for _, env := range []string{".venv", "venv"} {
		path := filepath.Join(r.spec.Project, env, "bin", "python")
		if runtime.GOOS == "windows" {
			path = filepath.Join(r.spec.Project, env, "Scripts", "python.exe")
		}
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if r.python, r.version, err = sandbox.ProbePython(ctx, path); err == nil {
			return nil
		}
	}
	if r.python, r.version, err = sandbox.FindPython(ctx); err != nil {
		return fmt.Errorf("rehearse %s: %w", r.spec.Name, err)
	}
	return nil
}

// projectKey is the folder of a project's rehearsals.
func (a *App) rehearsalsOf(project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(a.home, "rehearsals", runnerpack.Slugify(filepath.Base(project))+"-"+hex.EncodeToString(sum[:4]))
}

func (r *rehearsing) makeFolder(context.Context) error {
	r.dir = filepath.Join(r.a.rehearsalsOf(r.spec.Project), r.a.now().UTC().Format("20060102T150405")+"-"+strings.ToLower(rand.Text()[:6]))
	r.session = filepath.Join(r.dir, "session")
	for _, name := range []string{"pip", "stacks", "tmp", "run"} {
		if err := os.MkdirAll(filepath.Join(r.session, name), 0o755); err != nil {
			return fmt.Errorf("the rehearsal's folder cannot be made: %w", err)
		}
	}
	return nil
}

// close ends with nothing left of the session, and with nothing at all when there is no result to keep.
func (r *rehearsing) close() {
	if r.dir == "" {
		return
	}
	gone := r.session
	if !r.kept {
		gone = r.dir
	}
	if err := os.RemoveAll(gone); err != nil {
		r.a.log.Warn("a rehearsal's folder was left behind", "dir", gone, "err", err)
	}
}

// pack builds as Build does, beside the person's own build folder: that one may be on its way to Kaggle.
func (r *rehearsing) pack(ctx context.Context) error {
	ask, cancel := context.WithTimeout(ctx, accountWait)
	acc, err := r.a.Account(ask)
	cancel()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		acc = Account{Username: rehearsalOwner}
	}
	spec := r.spec
	spec.Out = filepath.Join(r.dir, "build")
	if r.build, err = r.a.buildFor(ctx, acc, spec, r.progress); err != nil {
		return err
	}
	f, err := runnerpack.ReadFolder(r.build.Dir)
	if err != nil {
		return fmt.Errorf("rehearse %s: %w", r.spec.Name, err)
	}
	if f.Record == nil {
		return fmt.Errorf("rehearse %s: the build left no record", r.spec.Name)
	}
	r.jobs, r.payload = f.Record.Jobs, payloadOf(f.Source)
	return nil
}

var payloadLine = regexp.MustCompile(`(?m)^PAYLOAD_SHA256 = "([0-9a-f]{64})"`)

func payloadOf(script string) string {
	if m := payloadLine.FindStringSubmatch(script); m != nil {
		return m[1]
	}
	return ""
}

// rehearsalSettings is rehearsal.json: what kernel.py tells the script.
type rehearsalSettings struct {
	Script  string         `json:"script"`
	Hours   float64        `json:"hours"`
	Scratch string         `json:"scratch"`
	Jobs    []rehearsalJob `json:"jobs"`
	Post    []string       `json:"post"`
	Watch   watchSettings  `json:"watch"`
}

type rehearsalJob struct {
	Command  string  `json:"cmd"`
	Assemble *string `json:"assemble"`
}

// watchSettings is watch.json, less what kernel.py adds.
type watchSettings struct {
	Notes   string   `json:"notes"`   // where it writes
	Stacks  string   `json:"stacks"`  // folder for where a task hangs
	Session string   `json:"session"` // may be written
	Scratch string   `json:"scratch"` // where the project is in it
	Temp    string   `json:"temp"`
	Inputs  []string `json:"inputs"`  // read-only
	Project string   `json:"project"` // not there at Kaggle, nor is the person's home
	Home    string   `json:"home"`
	TPU     bool     `json:"tpu"`
}

func (r *rehearsing) scratch() string { return filepath.Join(r.session, "run", "project") }
func (r *rehearsing) working() string { return filepath.Join(r.session, "working") }

// prepare writes what the session needs besides the build.
func (r *rehearsing) prepare(context.Context) error {
	s := rehearsalSettings{
		Script: filepath.Join(r.build.Dir, filepath.Base(r.build.Script)), Hours: r.cap.Hours(), Scratch: r.scratch(), Post: []string{},
		Watch: watchSettings{Notes: filepath.Join(r.session, "seen.jsonl"), Stacks: filepath.Join(r.session, "stacks"), Session: r.session,
			Scratch: r.scratch(), Temp: os.TempDir(), Inputs: []string{}, Project: r.spec.Project, TPU: r.pool() == PoolTPU},
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.Dir(home) != home {
		s.Watch.Home = home
	}
	for _, in := range r.inputs {
		if in.Dir != "" {
			s.Watch.Inputs = append(s.Watch.Inputs, in.Dir)
		}
	}
	for _, j := range r.jobs {
		job := rehearsalJob{Command: r.withSmoke(j.Command), Assemble: j.Assemble}
		if j.Assemble != nil {
			text := r.withSmoke(*j.Assemble)
			job.Assemble = &text
		}
		s.Jobs = append(s.Jobs, job)
	}
	for _, post := range r.spec.Post {
		s.Post = append(s.Post, r.withSmoke(post))
	}
	r.before = r.marks()
	return errors.Join(writeJSON(filepath.Join(r.session, "rehearsal.json"), s),
		writeFile(filepath.Join(r.session, "pip", "sitecustomize.py"), rehearseWatch))
}

func (r *rehearsing) pool() string { return string(planner.PoolOf(r.build.Accelerator)) }

// run executes the session to its end.
func (r *rehearsing) run(ctx context.Context) error {
	gpus, chips := sandbox.FakeDevices(r.build.Accelerator)
	job := sandbox.Job{
		Owner: rehearsalOwner, Slug: "rehearsal", Version: 1, Source: string(rehearseKernel), Language: "python", KernelType: "script",
		Shape: r.build.Accelerator, Pool: r.pool(), Internet: !r.spec.NoInternet, Limit: r.cap, Dir: r.session, Working: r.working(),
		Input: filepath.Join(r.session, "input"), FakeGPUs: gpus, FakeTPUChips: chips, Mark: "rehearsal-" + rand.Text(), Log: r.log.add,
	}
	for _, in := range r.inputs {
		if in.Dir != "" {
			job.Inputs = append(job.Inputs, sandbox.Input{Kind: in.Kind, Ref: in.Ref, Target: sandbox.MountTarget(sandbox.LayoutNew, in.Kind, in.Ref), Dir: in.Dir})
		}
	}
	began := time.Now() // of the process; the App's clock may be a test's
	r.log.start(r.opt.Log, r.progress, r.cap)
	// The session ends itself before its cap. This is for one that does not.
	limited, cancel := context.WithTimeoutCause(ctx, r.cap+20*time.Second, errors.New("the rehearsal ran over its cap and was ended"))
	r.result = sandbox.Local(r.python, r.a.log).Run(limited, job)
	cancel()
	r.seconds = time.Since(began).Seconds()
	r.log.end()
	return ctx.Err()
}

// withSmoke adds --smoke to a command whose script knows it.
func (r *rehearsing) withSmoke(command string) string {
	if r.opt.NoSmoke || !knowsFlag(r.spec.Project, command, "--smoke") {
		return command
	}
	out := insertFlag(command, "--smoke")
	if out != command && !slices.Contains(r.smoke, command) {
		r.smoke = append(r.smoke, command)
	}
	return out
}

var moduleCommand = regexp.MustCompile(`(?:^|\s)(?:\S*/)?python[\d.]*\s+(?:-[uBEsS]+\s+)*-m\s+([\w.]+)`)

// scriptsOf are the files of the project behind a command: its script, and the modules beside it that it imports.
func scriptsOf(project, command string) []string {
	script := scriptOf(command)
	if m := moduleCommand.FindStringSubmatch(command); script == "" && m != nil {
		script = strings.ReplaceAll(m[1], ".", "/") + ".py"
		if !isFile(filepath.Join(project, filepath.FromSlash(script))) {
			script = strings.TrimSuffix(script, ".py") + "/__main__.py"
		}
	}
	path := filepath.Join(project, filepath.FromSlash(script))
	if script == "" || !strings.HasSuffix(script, ".py") || !isFile(path) {
		return nil
	}
	out := []string{path}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for _, m := range importLine.FindAllStringSubmatch(string(raw), -1) {
		for _, dir := range []string{filepath.Dir(path), project} {
			if file := filepath.Join(dir, m[1]+".py"); isFile(file) && !slices.Contains(out, file) {
				out = append(out, file)
			}
		}
	}
	return out
}

var importLine = regexp.MustCompile(`(?m)^\s*(?:from|import)\s+\.?(\w+)`)

// knowsFlag says whether a command's script, or a module of the project that it imports, names the flag in its code.
func knowsFlag(project, command, flag string) bool {
	named := regexp.MustCompile(`(?m)^[^#\n]*["']` + regexp.QuoteMeta(flag) + `["']`)
	for _, file := range scriptsOf(project, command) {
		if raw, err := os.ReadFile(file); err == nil && named.Match(raw) {
			return true
		}
	}
	return false
}

// insertFlag puts a flag at the end of the line's first simple command, unless it has it.
func insertFlag(command, flag string) string {
	if slices.Contains(shellWords(command), flag) {
		return command
	}
	end, quote := len(command), rune(0)
	for i, c := range command {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.ContainsRune(";&|<>#", c):
			end = i
		}
		if end < len(command) {
			break
		}
	}
	head := command[:end]
	if end < len(command) && strings.ContainsRune("<>", rune(command[end])) {
		if cut := strings.TrimRight(head, "0123456789"); strings.HasSuffix(cut, " ") {
			head = cut // 2>log: the number goes with the arrow
		}
	}
	tail := command[len(head):]
	head = strings.TrimRight(head, " \t")
	if tail != "" {
		tail = " " + tail
	}
	return head + " " + flag + tail
}

// rehearsalLog takes the session's log apart into lines.
type rehearsalLog struct {
	mu     sync.Mutex
	tell   func(LogLine)
	show   func(Progress)
	rest   map[string]string // begun lines, by stream
	lines  []string          // without telemetry; the sandbox's own words are in it
	whole  strings.Builder
	n      int
	done   int
	of     int
	phase  string
	began  time.Time
	cap    time.Duration
	closed chan struct{}
	ticks  sync.WaitGroup
}

// maxRehearsalLog bounds what is kept of a script that prints without end, in bytes.
const maxRehearsalLog = 32 << 20

func (l *rehearsalLog) start(tell func(LogLine), show func(Progress), limit time.Duration) {
	l.tell, l.show, l.rest, l.began, l.cap = tell, show, map[string]string{}, time.Now(), limit
	l.phase, l.closed = "starting", make(chan struct{})
	l.ticks.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-l.closed:
				return
			case <-tick.C:
				l.report()
			}
		}
	})
}

func (l *rehearsalLog) report() {
	l.mu.Lock()
	p := Progress{Stage: "Rehearsing", Item: l.phase, Done: int64(time.Since(l.began).Seconds()), Total: int64(l.cap.Seconds())}
	l.mu.Unlock()
	p.Done = min(p.Done, p.Total)
	l.show(p)
}

func (l *rehearsalLog) end() {
	close(l.closed)
	l.ticks.Wait()
	for stream, text := range l.rest {
		if text != "" {
			l.line(stream, text)
		}
	}
}

// add is the executor's log.
func (l *rehearsalLog) add(stream, data string) {
	l.mu.Lock()
	text := l.rest[stream] + data
	var lines []string
	for {
		line, after, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		lines, text = append(lines, line), after
	}
	l.rest[stream] = text
	l.mu.Unlock()
	for _, line := range lines {
		l.line(stream, line)
	}
}

func (l *rehearsalLog) line(stream, text string) {
	text = strings.TrimRight(text, "\r")
	if i := strings.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:] // a progress bar: its last state
	}
	l.mu.Lock()
	if l.whole.Len() < maxRehearsalLog {
		l.whole.WriteString(text + "\n")
	}
	if t, ok := runnerpack.ParseTelemetry(text); ok {
		l.follow(t)
		l.mu.Unlock()
		return
	}
	l.lines = append(l.lines, text)
	if len(l.lines) > 20_000 {
		l.lines = slices.Clone(l.lines[10_000:])
	}
	n := l.n
	l.n++
	l.mu.Unlock()
	if l.tell != nil {
		l.tell(LogLine{N: n, Text: text, Stream: stream})
	}
}

// follow turns the session's own words into a few of ours.
func (l *rehearsalLog) follow(t runnerpack.Telemetry) {
	switch {
	case t.Session != nil:
		l.phase = t.Session.Phase
		if l.phase == "tasks" {
			l.of = t.Session.Tasks
			l.phase = fmt.Sprintf("%d of %d tasks ended", l.done, l.of)
		}
	case t.Task != nil && t.Task.State != "running":
		l.done++
		l.phase = fmt.Sprintf("%d of %d tasks ended", l.done, l.of)
	}
}
