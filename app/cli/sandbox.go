package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/app"
)

func (p *program) sandboxCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sandbox", Short: "A Kaggle on this computer: same protocol, own quota and queue, and it really runs what is pushed",
		Long: `The sandbox speaks Kaggle's protocol on a loopback address, with its own accounts, weekly quota, slots and TPU queue, and runs
what is pushed to it with this computer's Python.`,
		Example: "  sandglass sandbox serve --addr 127.0.0.1:8899",
		Args:    args(0, 0, "serve or faults"),
		RunE: func(*cobra.Command, []string) error {
			return &usageError{Text: "sandbox needs to be told what to do: serve or faults", Hint: "see: sandglass sandbox --help"}
		},
	}
	cmd.AddCommand(p.serveCmd(), p.faultsCmd())
	return cmd
}

// servedJSON is the line of `sandbox serve`.
type servedJSON struct {
	URL      string `json:"url"`
	Username string `json:"username"`
	Key      string `json:"key"`
}

func (p *program) serveCmd() *cobra.Command {
	var s app.SandboxServe
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve a sandbox until interrupted",
		Long: `Prints one JSON line with url, username and key as soon as it answers, then serves until it is interrupted. Point other calls
to it with SANDGLASS_ENDPOINT, KAGGLE_USERNAME and KAGGLE_KEY.

--speed makes the sandbox's clock run faster for queue and quota; the processes it runs keep their own time. --tpu-queue and
--start-delay are in sandbox time: with --speed 60 a queue of two hours takes two minutes.`,
		Example: "  sandglass sandbox serve --addr 127.0.0.1:8899 --speed 120 --tpu-queue 2h\n  sandglass sandbox serve --dataset sam-roe/leaf-scans=./scans",
		Args:    args(0, 0, "no argument"),
		PreRunE: func(*cobra.Command, []string) error { return checkServe(s) },
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			s.Ready = func(url, username, key string) {
				raw, err := json.Marshal(servedJSON{url, username, key})
				if err == nil {
					fmt.Fprintln(p.stdout, string(raw))
				}
				p.progress.line("the sandbox answers at " + url + "; ctrl-C ends it")
			}
			err := a.ServeSandbox(ctx, s)
			if ctx.Err() != nil {
				return nil
			}
			return err
		}),
	}
	f := cmd.Flags()
	f.StringVar(&s.Addr, "addr", "127.0.0.1:0", "loopback address; port 0 = a free one")
	f.StringVar(&s.Home, "home", "", "folder of its state (default: inside Sandglass's own)")
	f.Float64Var(&s.Speed, "speed", 1, "how much faster than the wall its clock runs for queue and quota")
	f.DurationVar(&s.TPUQueue, "tpu-queue", 2*time.Hour, "how long a TPU run waits, in sandbox time")
	f.DurationVar(&s.StartDelay, "start-delay", 0, "how long a session takes to start, in sandbox time")
	f.StringVar(&s.Layout, "layout", "new", "where inputs are mounted: new or old")
	f.StringVar(&s.Username, "username", "", "name of its account (default: made up)")
	f.StringArrayVar(&s.Datasets, "dataset", nil, "a local folder as a dataset, owner/slug=FOLDER (repeat for more)")
	f.StringArrayVar(&s.Competitions, "competition", nil, "a local folder as a competition's data, slug=FOLDER (repeat for more)")
	return cmd
}

// sandboxName is what the sandbox takes for its account's name.
var sandboxName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// checkServe refuses what can be seen to be wrong before a sandbox is made.
func checkServe(s app.SandboxServe) error {
	host, _, err := net.SplitHostPort(s.Addr)
	switch {
	case math.IsNaN(s.Speed) || math.IsInf(s.Speed, 0) || s.Speed < 0:
		return &usageError{Text: fmt.Sprintf("--speed %g is no speed", s.Speed), Hint: "1 is the wall clock's, 60 makes a minute of an hour"}
	case s.TPUQueue < 0 || s.StartDelay < 0:
		return &usageError{Text: "--tpu-queue and --start-delay cannot be negative"}
	case s.Layout != "new" && s.Layout != "old":
		return &usageError{Text: "there is no mount layout " + s.Layout, Hint: "new or old"}
	case s.Addr != "" && (err != nil || !loopback(host)):
		return &usageError{Text: "--addr " + s.Addr + " is no loopback address: the sandbox runs what is pushed to it, so nobody else may reach it", Hint: "write --addr 127.0.0.1:8899, or leave it out for a free port"}
	case s.Username != "" && !sandboxName.MatchString(s.Username):
		return &usageError{Text: fmt.Sprintf("--username %q is no account name", s.Username), Hint: "lower-case letters, digits and single hyphens"}
	}
	for _, in := range s.Datasets {
		ref, dir, _ := strings.Cut(in, "=")
		if owner, slug, _ := strings.Cut(ref, "/"); owner == "" || slug == "" || strings.Contains(slug, "/") || dir == "" {
			return &usageError{Text: fmt.Sprintf("--dataset %s is not owner/slug=FOLDER", in), Hint: "write: --dataset sam-roe/leaf-scans=./scans"}
		}
	}
	for _, in := range s.Competitions {
		if slug, dir, _ := strings.Cut(in, "="); slug == "" || strings.Contains(slug, "/") || dir == "" {
			return &usageError{Text: fmt.Sprintf("--competition %s is not slug=FOLDER", in), Hint: "write: --competition leaf-disease=./leaves"}
		}
	}
	return nil
}

const faultsLong = `Makes calls to a running sandbox fail, to see what Sandglass or another client makes of it.

  sandglass sandbox faults                                   lists the rules
  sandglass sandbox faults --add 429 --match SaveKernel      the next push is answered with "too many requests"
  sandglass sandbox faults --clear                           drops every rule

Kinds: 401, 403, 404, 409, 429, 500, 502html, 503, empty, html200, cut-before, cut-after, slow, stale-status, replay-log,
cut-stream. The sandbox is the one of SANDGLASS_ENDPOINT unless --url names another; KAGGLE_USERNAME and KAGGLE_KEY are its own.

JSON: the sandbox's own list of rules.`

func (p *program) faultsCmd() *cobra.Command {
	rule := map[string]any{}
	var url, kind, match, retryAfter, wait, message string
	var times, after int
	var empty bool
	cmd := &cobra.Command{
		Use: "faults", Short: "Make calls to a running sandbox fail", Long: faultsLong,
		Example: "  sandglass sandbox faults --add cut-after --match SaveKernel",
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if url == "" {
				url = p.getenv("SANDGLASS_ENDPOINT")
			}
			if url == "" {
				return &usageError{Text: "no sandbox is named", Hint: "give --url or SANDGLASS_ENDPOINT, as printed by: sandglass sandbox serve"}
			}
			method, body := http.MethodGet, any(nil)
			switch {
			case empty:
				method = http.MethodDelete
			case kind != "":
				method = http.MethodPost
				rule["kind"], rule["match"] = kind, match
				for name, v := range map[string]string{"retry_after": retryAfter, "wait": wait, "message": message} {
					if v != "" {
						rule[name] = v
					}
				}
				if times != 0 {
					rule["times"] = times
				}
				if after != 0 {
					rule["after"] = after
				}
				body = rule
			}
			return p.faults(cmd.Context(), method, strings.TrimRight(url, "/")+"/sandbox/faults", body)
		},
	}
	f := cmd.Flags()
	f.StringVar(&url, "url", "", "the sandbox's address")
	f.StringVar(&kind, "add", "", "kind of fault to add")
	f.StringVar(&match, "match", "*", "method (SaveKernel) or path with * that fails")
	f.IntVar(&times, "times", 0, "how many calls fail (default 1, negative: until cleared)")
	f.IntVar(&after, "after", 0, "let so many calls through first")
	f.StringVar(&retryAfter, "retry-after", "", "Retry-After header of 429 and 503")
	f.StringVar(&wait, "wait", "", "with slow: how long, e.g. 5s")
	f.StringVar(&message, "message", "", "words instead of the kind's own")
	f.BoolVar(&empty, "clear", false, "drop every rule")
	return cmd
}

// faults speaks to the sandbox's own door, which is no part of Kaggle's protocol. The credential is the sandbox's, from the
// environment, and goes to this computer only.
func (p *program) faults(ctx context.Context, method, url string, body any) error {
	var r io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, r)
	if err != nil || !loopback(req.URL.Hostname()) {
		return &usageError{Text: "that is not a sandbox's address: " + url, Hint: "a sandbox is on this computer: http://127.0.0.1:PORT"}
	}
	req.SetBasicAuth(p.getenv("KAGGLE_USERNAME"), p.getenv("KAGGLE_KEY"))
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		fmt.Fprintf(p.stderr, "error: no sandbox answers at %s\nhint: start one: sandglass sandbox serve\n", url)
		return exitError(exitOffline)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("the sandbox's answer broke off: %w", err)
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return &usageError{Text: "the sandbox does not know this credential", Hint: "set KAGGLE_USERNAME and KAGGLE_KEY to what \"sandglass sandbox serve\" printed"}
	case resp.StatusCode >= 300:
		var said struct{ Message string }
		_ = json.Unmarshal(raw, &said)
		if said.Message == "" {
			said.Message = fmt.Sprintf("%s has no faults to set (%s); it is not a sandbox", url, resp.Status)
		}
		return &usageError{Text: said.Message, Hint: "see: sandglass sandbox faults --help"}
	}
	_, err = p.stdout.Write(append(bytes.TrimRight(raw, "\n"), '\n'))
	return err
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
