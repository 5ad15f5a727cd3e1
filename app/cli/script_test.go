package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/script run the real program, each call a process of its own, against a sandbox that is another.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sandglass": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) },
	})
}

func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts speak to a POSIX shell's programs")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SANDGLASS_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "person"))
			env.Setenv("BIN", filepath.SplitList(env.Getenv("PATH"))[0])
			env.Setenv("TZ", "UTC")
			for _, name := range []string{"KAGGLE_API_TOKEN", "KAGGLE_USERNAME", "KAGGLE_KEY", "KAGGLE_CONFIG_DIR", "SANDGLASS_ENDPOINT", "DBUS_SESSION_BUS_ADDRESS"} {
				env.Setenv(name, "")
			}
			return os.MkdirAll(env.Getenv("HOME"), 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"sandbox": sandboxCommand, "exits": exitsCommand, "json": jsonCommand, "setjson": setJSONCommand, "kernel": kernelCommand, "chmod-read-only": readOnlyCommand, "sandglass-line": lineCommand, "train": trainCommand,
		},
	})
}

// sandbox [FLAG…] starts "sandglass sandbox serve" as a process of its own on a free port, with a home of its own, and points
// the rest of the script to it.
func sandboxCommand(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(filepath.Join(ts.Getenv("BIN"), "sandglass"), append([]string{"sandbox", "serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"), "HOME="+ts.Getenv("HOME"), "SANDGLASS_HOME="+ts.MkAbs("sandbox-home"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	ts.Defer(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			ts.Logf("the sandbox did not end within ten seconds of an interrupt")
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() { ended <- cmd.Wait() }()
	if err != nil {
		ts.Fatalf("the sandbox said nothing: %v\n%s", err, stderr.String())
	}
	var said servedJSON
	if err := json.Unmarshal([]byte(line), &said); err != nil || said.URL == "" || said.Username == "" || said.Key == "" {
		ts.Fatalf("the sandbox's line %q: %v", line, err)
	}
	ts.Setenv("SANDGLASS_ENDPOINT", said.URL)
	ts.Setenv("KAGGLE_USERNAME", said.Username)
	ts.Setenv("KAGGLE_KEY", said.Key)
	ts.Setenv("SANDBOX_ADDR", strings.TrimPrefix(said.URL, "http://"))
}

// exits CODE COMMAND… runs a command that has to end with that exit code.
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// json PATH VALUE looks into the JSON document on the last standard output. PATH is gpu.left_h, tasks.0.state, or tasks.len for
// a list's length; VALUE is what is there, "*" for anything but null.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	got, ok := lookUp(ts, args[0])
	same := ok && (got == args[1] || (args[1] == "*" && got != "null"))
	if same == neg {
		ts.Fatalf("%s is %s, want %s (not: %v)", args[0], got, args[1], neg)
	}
}

// setjson NAME PATH puts a value of the last standard output into an environment variable.
func setJSONCommand(ts *testscript.TestScript, neg bool, args []string) {
	got, ok := lookUp(ts, args[1])
	if !ok {
		ts.Fatalf("there is no %s", args[1])
	}
	ts.Setenv(args[0], got)
}

func lookUp(ts *testscript.TestScript, path string) (string, bool) {
	raw := ts.ReadFile("stdout")
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		ts.Fatalf("standard output is not JSON: %v\n%s", err, raw)
	}
	for _, key := range strings.Split(path, ".") {
		switch at := doc.(type) {
		case map[string]any:
			v, ok := at[key]
			if !ok {
				return "absent", false
			}
			doc = v
		case []any:
			n, err := strconv.Atoi(key)
			switch {
			case key == "len":
				doc = len(at)
			case err != nil || n < 0 || n >= len(at):
				return "absent", false
			default:
				doc = at[n]
			}
		default:
			return "absent", false
		}
	}
	if s, ok := doc.(string); ok {
		return s, true
	}
	out, err := json.Marshal(doc)
	ts.Check(err)
	return string(out), true
}

// sandglass-line runs the shell line of the last JSON document's "line", with further arguments.
func lineCommand(ts *testscript.TestScript, neg bool, args []string) {
	line, ok := lookUp(ts, "line")
	if !ok {
		ts.Fatalf("no line was printed")
	}
	ts.Check(ts.Exec("sh", "-c", line+` "$@"`, "sh", args[0]))
}

// kernel DIR SLUG writes kernel-metadata.json for the script s.py of that folder; further arguments are "field": value.
func kernelCommand(ts *testscript.TestScript, neg bool, args []string) {
	meta := fmt.Sprintf(`{"id": "%s/%s", "title": "%s", "code_file": "s.py", "language": "python", "kernel_type": "script", "is_private": true`,
		ts.Getenv("KAGGLE_USERNAME"), args[1], args[1])
	for _, more := range args[2:] {
		meta += ", " + more
	}
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "kernel-metadata.json"), []byte(meta+"}\n"), 0o644))
}

func readOnlyCommand(ts *testscript.TestScript, neg bool, args []string) {
	if os.Geteuid() == 0 {
		ts.Logf("root may write everywhere")
	}
	ts.Check(os.Chmod(ts.MkAbs(args[0]), 0o500))
	ts.Defer(func() { _ = os.Chmod(ts.MkAbs(args[0]), 0o700) })
}
