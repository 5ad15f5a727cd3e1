package sandbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed notebook_run.py
var notebookRunner []byte

//go:embed nvidia_smi.py
var fakeSMI string

// errKernelName is Kaggle's own sentence for a notebook without metadata.kernelspec (reported).
var errKernelName = failure("No kernel name found in notebook")

// failure is an error whose words are Kaggle's and therefore not ours to style.
type failure string

func (f failure) Error() string { return string(f) }

// pythonExecutor runs sessions as Python processes of this machine.
type pythonExecutor struct {
	path string // "" = find
	log  *slog.Logger

	mu    sync.Mutex
	found string
}

// python finds the interpreter once it is needed, and looks again as long as there is none.
func (e *pythonExecutor) python(ctx context.Context) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.found != "" {
		return e.found, nil
	}
	var path, version string
	var err error
	if e.path != "" {
		if path, version, err = probePython(ctx, []string{e.path}); err != nil {
			err = fmt.Errorf("the chosen Python %s cannot be used: %w", e.path, err)
		}
	} else {
		path, version, err = FindPython(ctx)
	}
	if err != nil {
		return "", err
	}
	e.found = path
	e.log.Info("sandbox uses python", "path", path, "version", version)
	return path, nil
}

// Run executes one session and leaves its files in job.Working.
func (e *pythonExecutor) Run(ctx context.Context, job Job) Result {
	say := func(format string, args ...any) { job.Log("stderr", "sandbox: "+fmt.Sprintf(format, args...)+"\n") }
	fail := func(err error) Result {
		say("%v", err)
		return Result{Status: StatusError, Message: err.Error(), ExitCode: -1}
	}
	if job.Language != "python" {
		return fail(fmt.Errorf("the sandbox runs Python only, this kernel's language is %q", job.Language))
	}
	python, err := e.python(ctx)
	if err != nil {
		return fail(err)
	}
	for _, d := range []string{"src", "home", "tmp", "bin", "pip", "input", "working"} {
		if err := os.MkdirAll(filepath.Join(job.Dir, d), 0o755); err != nil {
			return fail(fmt.Errorf("prepare the session's folder: %w", err))
		}
	}
	notices, err := mountInputs(job)
	for _, n := range notices {
		say("%s", n)
	}
	if err != nil {
		return fail(err)
	}
	argv, err := writeSource(job)
	if err != nil {
		return fail(err)
	}
	if err := writeFakeSMI(job, python); err != nil {
		return fail(err)
	}
	return runProcess(ctx, job, python, argv, say)
}

// writeSource puts the kernel's source where it is run from and returns the arguments for Python.
func writeSource(job Job) ([]string, error) {
	src := filepath.Join(job.Dir, "src")
	if job.KernelType != "notebook" {
		file := filepath.Join(src, "script.py")
		return []string{file}, os.WriteFile(file, []byte(job.Source), 0o644)
	}
	var nb struct {
		Metadata struct {
			Kernelspec struct {
				Name string `json:"name"`
			} `json:"kernelspec"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(job.Source), &nb); err != nil {
		return nil, fmt.Errorf("the notebook is not JSON: %w", err)
	}
	if nb.Metadata.Kernelspec.Name == "" {
		return nil, errKernelName
	}
	run, book := filepath.Join(src, "notebook_run.py"), filepath.Join(src, "notebook.ipynb")
	return []string{run, book}, errors.Join(os.WriteFile(run, notebookRunner, 0o644), os.WriteFile(book, []byte(job.Source), 0o644))
}

// fakeGPU is what a shape's machine has, as nvidia-smi names it.
type fakeGPU struct {
	count      int
	name       string
	memoryMiB  int
	capability string
}

// gpuOf knows the accelerators a push may name. Plain "Gpu", which is what a misspelt one becomes, gets what Kaggle
// gives today by default: the T4 machine.
func gpuOf(shape string) fakeGPU {
	switch strings.ToLower(shape) {
	case "nvidial4":
		return fakeGPU{4, "NVIDIA L4", 23034, "8.9"}
	case "nvidial4x1":
		return fakeGPU{1, "NVIDIA L4", 23034, "8.9"}
	case "nvidiateslaa100":
		return fakeGPU{1, "NVIDIA A100-SXM4-40GB", 40960, "8.0"}
	case "nvidiah100":
		return fakeGPU{1, "NVIDIA H100 80GB HBM3", 81559, "9.0"}
	case "nvidiartxpro6000":
		return fakeGPU{1, "NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, "12.0"}
	}
	return fakeGPU{2, "Tesla T4", 15360, "7.5"}
}

// writeFakeSMI puts an nvidia-smi first in the session's PATH when it pretends to have GPUs.
func writeFakeSMI(job Job, python string) error {
	if job.FakeGPUs < 1 {
		return nil
	}
	g := gpuOf(job.Shape)
	text := strings.NewReplacer("@@PYTHON@@", python, "@@COUNT@@", strconv.Itoa(job.FakeGPUs), "@@NAME@@", g.name,
		"@@MEMORY@@", strconv.Itoa(g.memoryMiB), "@@CAPABILITY@@", g.capability).Replace(fakeSMI)
	bin := filepath.Join(job.Dir, "bin")
	if runtime.GOOS == "windows" {
		bat := "@\"" + python + "\" \"%~dp0nvidia_smi.py\" %*\r\n"
		return errors.Join(os.WriteFile(filepath.Join(bin, "nvidia_smi.py"), []byte(text), 0o644),
			os.WriteFile(filepath.Join(bin, "nvidia-smi.bat"), []byte(bat), 0o644))
	}
	if strings.ContainsAny(python, " \t") || len(python) > 100 {
		// A #! line can hold neither.
		sh := "#!/bin/sh\nexec '" + strings.ReplaceAll(python, "'", `'\''`) + `' "$0.py" "$@"` + "\n"
		return errors.Join(os.WriteFile(filepath.Join(bin, "nvidia-smi.py"), []byte(text), 0o644),
			os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(sh), 0o755))
	}
	return os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(text), 0o755)
}

// environment is what the session's process sees: nothing of ours but what it needs.
func environment(job Job, python string) []string {
	dir := func(name string) string { return filepath.Join(job.Dir, name) }
	path := dir("bin") + string(os.PathListSeparator) + filepath.Dir(python) + string(os.PathListSeparator) + os.Getenv("PATH")
	env := []string{
		"PATH=" + path,
		"HOME=" + dir("home"),
		"TMPDIR=" + dir("tmp"),
		"KAGGLE_INPUT=" + job.Input,
		"KAGGLE_WORKING=" + job.Working,
		"KAGGLE_KERNEL_RUN_TYPE=Batch",
		"SANDGLASS_SESSION_MARK=" + job.Mark,
		"PYTHONUNBUFFERED=1",
		"PYTHONIOENCODING=utf-8",
		"PYTHONUTF8=1",
		"PYTHONDONTWRITEBYTECODE=1",
		// What a session installs stays in the session instead of changing this machine's Python.
		"PIP_TARGET=" + dir("pip"),
		"PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PYTHONPATH=" + dir("pip"),
	}
	if job.FakeGPUs > 0 {
		env = append(env, "SANDGLASS_FAKE_GPUS="+strconv.Itoa(job.FakeGPUs))
	}
	if job.FakeTPUChips > 0 {
		env = append(env, "SANDGLASS_FAKE_TPU_CHIPS="+strconv.Itoa(job.FakeTPUChips))
	}
	if runtime.GOOS == "windows" {
		for _, k := range []string{"SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"} {
			if v, ok := os.LookupEnv(k); ok {
				env = append(env, k+"="+v)
			}
		}
		return append(env, "USERPROFILE="+dir("home"), "APPDATA="+dir("home"), "LOCALAPPDATA="+dir("home"), "TEMP="+dir("tmp"), "TMP="+dir("tmp"))
	}
	env = append(env, "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
	for _, k := range []string{"TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"} {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	if job.Internet {
		for _, k := range []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_CERT"} {
			if v, ok := os.LookupEnv(k); ok && !strings.Contains(v, "@") { // a proxy with a password in it is not the kernel's business
				env = append(env, k+"="+v)
			}
		}
	}
	return env
}

// runProcess starts Python, pumps its output and sees to it that nothing outlives the session.
func runProcess(ctx context.Context, job Job, python string, argv []string, say func(string, ...any)) Result {
	cmd := exec.Command(python, argv...)
	cmd.Dir = job.Working
	cmd.Env = environment(job, python)
	tree, err := startTree(cmd, job, say)
	if err != nil {
		err = fmt.Errorf("start %s: %w", python, err)
		say("%v", err)
		return Result{Status: StatusError, Message: err.Error(), ExitCode: -1}
	}
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(killed); tree.kill() })
	err = tree.wait()
	if !stop() {
		<-killed
	}
	tree.kill() // what the session started and left behind
	tree.drain(2 * time.Second)
	if ctx.Err() != nil {
		return Result{Status: StatusCancelled, Message: context.Cause(ctx).Error(), ExitCode: -1}
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Result{Status: StatusComplete}
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return Result{Status: StatusError, Message: fmt.Sprintf("the process ended with exit code %d", exit.ExitCode()), ExitCode: exit.ExitCode()}
	}
	return Result{Status: StatusError, Message: "the process ended: " + err.Error(), ExitCode: -1}
}
