package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/app"
)

func (p *program) quotaCmd() *cobra.Command {
	var cached bool
	cmd := &cobra.Command{
		Use: "quota", Short: "Show what is left of this week's GPU and TPU hours",
		Long: `Reads the weekly quota from Kaggle and takes off what the runs in flight hold. Left is what a new push can count on.
When Kaggle gives no figures, the last ones are shown with their age and why, and the exit code is 4 when it could not be
reached and 1 when it refused, say because the key is no longer valid. With --cached the exit code is 0.

JSON: gpu and tpu {known, used_h, reserved_h, held_h, total_h, left_h (null when not reported), holders}, refresh_at, live,
fetched_at, why, rebased, started_since (runs that went out after the reading; held counts them).`,
		Example: "  sandglass quota\n  sandglass quota --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[\"gpu\"][\"left_h\"])'",
		Args:    args(0, 0, "no argument"),
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			q, err := a.Quota(ctx, !cached)
			if err != nil {
				return err
			}
			if err := p.result(quotaOf(q), func(w io.Writer) { p.quotaText(w, q) }); err != nil || q.Failed == nil {
				return err
			}
			// The document is out: what went wrong is said beside it, and in the exit code.
			e := app.Explain(q.Failed)
			p.progress.line("error: " + oneLine(e.Sentence) + " The figures are from earlier.")
			if e.Action != "" {
				p.progress.line("hint: " + oneLine(e.Action))
			}
			return exitError(e.Exit)
		}),
	}
	cmd.Flags().BoolVar(&cached, "cached", false, "do not ask Kaggle; show the last figure read")
	return cmd
}

func (p *program) quotaText(w io.Writer, q app.QuotaView) {
	for _, x := range []struct {
		name string
		pool app.PoolView
	}{{"GPU", q.GPU}, {"TPU", q.TPU}} {
		v := x.pool
		if !v.Known {
			fmt.Fprintf(w, "%s  not reported by Kaggle\n", x.name)
			continue
		}
		fmt.Fprintf(w, "%s  %s left of %s (%s used", x.name, hours(v.Left), hours(v.Total), hours(v.Used))
		if in := v.Reserved + v.Held; in > 0 {
			fmt.Fprintf(w, ", %s held by what is in flight", hours(in))
			if len(v.Holders) > 0 {
				fmt.Fprintf(w, ": %s", strings.Join(v.Holders, ", "))
			}
		}
		fmt.Fprintln(w, ")")
	}
	now := p.now()
	if !q.RefreshAt.IsZero() {
		fmt.Fprintf(w, "resets %s, in %s; what is unused then is gone\n", moment(q.RefreshAt), span(q.RefreshAt.Sub(now)))
	}
	switch {
	case q.Live:
		fmt.Fprintln(w, "read from Kaggle just now")
	case q.FetchedAt.IsZero():
		fmt.Fprintf(w, "NOT LIVE and never read before: %s\n", q.Why)
	default:
		fmt.Fprintf(w, "NOT LIVE, read %s ago", span(now.Sub(q.FetchedAt)))
		if q.Why != "" {
			fmt.Fprintf(w, ": %s", q.Why)
		}
		fmt.Fprintln(w)
		if len(q.StartedSince) > 0 {
			fmt.Fprintf(w, "started since, and counted as held: %s\n", strings.Join(q.StartedSince, ", "))
		}
		if q.Rebased {
			fmt.Fprintln(w, "a reset has passed since then, so the new week is taken as unused")
		}
	}
}

func (p *program) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the program's version",
		Long:    "JSON: version, go, os, arch, revision.",
		Example: "  sandglass version",
		Args:    args(0, 0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				OS       string `json:"os"`
				Arch     string `json:"arch"`
				Revision string `json:"revision"`
			}{Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, revision()}
			return p.result(v, func(w io.Writer) {
				fmt.Fprintf(w, "sandglass %s (%s, %s/%s", v.Version, v.Go, v.OS, v.Arch)
				if v.Revision != "" {
					fmt.Fprintf(w, ", %.12s", v.Revision)
				}
				fmt.Fprintln(w, ")")
			})
		},
	}
}

func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
