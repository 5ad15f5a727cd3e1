package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/app"
)

func (p *program) planCmd() *cobra.Command {
	var ask app.SeasonAsk
	var deadline, now, refresh string
	var gpuLeft, tpuLeft, gpuTotal, tpuTotal float64
	var cached bool
	cmd := &cobra.Command{
		Use: "plan", Short: "Plan the hours until a deadline",
		Long: `Counts the resets until the deadline and the hours that can really be burnt, keeps the last week's for final training and
inference, tells what the rest buys in screens and promotions, and what to start now so that nothing expires: from the
backlog (sandglass backlog) and from runs with work left. A date alone is the end of that day in UTC; a time without a zone
is UTC. With --gpu-left or --tpu-left it works without an account.

JSON: resets, gpu and tpu {now_h, total_h, usable_h, reserve_h, slack_h, explore_h, expiring_h, free_h (null when not known),
latest_start, budget {screens, promotions, screen_h, promotion_h, waves, runs}}, windows, suggestions {do (start, resume,
leave), name, pool, hours, partial, gain, why, backlog, run, kernel}, advice, assumed, live, fetched_at, why.`,
		Example: "  sandglass plan --deadline 2026-12-22\n  sandglass plan --deadline 2026-12-22T18:00+01:00 --gpu-left 17.5 --json",
		Args:    args(0, 0, "no argument"),
	}
	f := cmd.Flags()
	f.StringVar(&deadline, "deadline", "", "date or time of the deadline")
	f.StringVar(&now, "now", "", "plan as of this time instead of now")
	f.StringVar(&refresh, "refresh", "", "any one weekly reset; default: as Kaggle says, else Saturday 00:00 UTC")
	f.Float64Var(&gpuLeft, "gpu-left", 0, "GPU-hours left of this week; default: as Kaggle says")
	f.Float64Var(&tpuLeft, "tpu-left", 0, "TPU-hours left of this week; default: as Kaggle says")
	f.Float64Var(&gpuTotal, "gpu-week", 0, "GPU-hours of a week; default: as Kaggle says, else 30")
	f.Float64Var(&tpuTotal, "tpu-week", 0, "TPU-hours of a week; default: as Kaggle says, else 20")
	f.BoolVar(&cached, "cached", false, "do not ask Kaggle; plan with the last figure read")
	cmd.RunE = p.verb(func(ctx context.Context, a core, _ []string) error {
		if deadline == "" {
			return &usageError{Text: "plan needs a deadline", Hint: "give --deadline 2026-12-22, or a time such as --deadline 2026-12-22T18:00Z"}
		}
		var err error
		if ask.Deadline, err = app.ParseTime(deadline, true); err != nil {
			return err
		}
		ask.Zoneless = !app.NamesZone(deadline)
		if now != "" {
			if ask.Now, err = app.ParseTime(now, false); err != nil {
				return err
			}
		}
		if refresh != "" {
			if ask.RefreshAt, err = app.ParseTime(refresh, false); err != nil {
				return err
			}
		}
		for _, x := range []struct {
			flag string
			from float64
			to   **float64
		}{{"gpu-left", gpuLeft, &ask.GPULeft}, {"tpu-left", tpuLeft, &ask.TPULeft}, {"gpu-week", gpuTotal, &ask.GPUTotal}, {"tpu-week", tpuTotal, &ask.TPUTotal}} {
			if !f.Changed(x.flag) {
				continue
			}
			if !(x.from >= 0 && x.from < 1e4) {
				return &usageError{Text: fmt.Sprintf("--%s %v is no number of hours", x.flag, x.from)}
			}
			*x.to = &x.from
		}
		ask.Live = !cached && (ask.GPULeft == nil || ask.TPULeft == nil)
		v, err := a.Season(ctx, ask)
		if err != nil {
			return err
		}
		return p.result(seasonOf(v), func(w io.Writer) { seasonText(w, v) })
	})
	return cmd
}

// seasonJSON is `plan --json`: the fields of app.SeasonView, and how old the reading is.
type seasonJSON struct {
	app.SeasonView
	Live      bool   `json:"live"`
	FetchedAt any    `json:"fetched_at"`
	Why       string `json:"why"`
}

func seasonOf(v app.SeasonView) seasonJSON {
	v.Resets, v.Windows, v.Suggestions, v.Advice, v.Assumed = list(v.Resets), list(v.Windows), list(v.Suggestions), list(v.Advice), list(v.Assumed)
	return seasonJSON{v, v.Quota.Live, when(v.Quota.FetchedAt), v.Quota.Why}
}

// costText writes what one run costs, in hours; of one that takes minutes, in those.
func costText(h float64) string {
	if h < .05 {
		return span(time.Duration(h * float64(time.Hour)))
	}
	return hours(h)
}

// textWindows is how many weeks are listed on a terminal: a competition is over by then.
const textWindows = 16

func seasonText(w io.Writer, v app.SeasonView) {
	fmt.Fprintf(w, "deadline %s, in %s; %s\n", moment(v.Deadline), span(v.Deadline.Sub(v.Now)), count(len(v.Resets), "reset"))
	for _, x := range []struct {
		name string
		pool app.SeasonPool
	}{{"GPU", v.GPU}, {"TPU", v.TPU}} {
		s := x.pool
		if !s.Known {
			fmt.Fprintf(w, "%s  not known\n", x.name)
			continue
		}
		usable := "all usable"
		if *s.TotalH-*s.UsableH >= 0.05 {
			usable = hours(*s.UsableH) + " of them usable"
		}
		fmt.Fprintf(w, "%s  %s now, %s in all, %s; %s kept for the end (%s slack), %s to explore\n", x.name, hours(*s.NowH), hours(*s.TotalH), usable, hours(*s.ReserveH), hours(*s.SlackH), hours(*s.ExploreH))
		if b := s.Budget; b != nil {
			fmt.Fprintf(w, "     that buys %s of %s and %s of %s (%s), by %s\n", count(b.Screens, "screen"), costText(b.ScreenH), count(b.Promotions, "promotion"), costText(b.PromotionH), count(b.Waves, "wave"), count(b.Runs, "measured run"))
		}
	}
	fmt.Fprintln(w)
	for i, win := range v.Windows {
		if i == textWindows && len(v.Windows) > textWindows+1 {
			fmt.Fprintf(w, "and %s until %s\n", count(len(v.Windows)-i, "further week"), dated(v.Deadline.UTC(), "Mon 2 Jan"))
			break
		}
		fmt.Fprintf(w, "%s to %s", dated(win.From.UTC(), "Mon 2 Jan")+win.From.UTC().Format(" 15:04"), dated(win.To.UTC(), "Mon 2 Jan")+win.To.UTC().Format(" 15:04 MST"))
		for _, x := range []struct {
			name  string
			share app.SeasonShare
			known bool
		}{{"GPU", win.GPU, v.GPU.Known}, {"TPU", win.TPU, v.TPU.Known}} {
			if !x.known {
				continue
			}
			var parts []string
			for _, b := range x.share.Blocks {
				parts = append(parts, b.Label+" "+hours(b.Hours))
			}
			if x.share.LostH >= 0.05 {
				parts = append(parts, "lost "+hours(x.share.LostH))
			}
			fmt.Fprintf(w, "\n  %s  %s", x.name, strings.Join(parts, ", "))
		}
		fmt.Fprintln(w)
	}
	if len(v.Suggestions) == 0 {
		fmt.Fprintln(w, "\nThere is nothing to start: the backlog has no open item, and no run has work left. Add one: sandglass backlog add NAME --hours H")
	}
	head := ""
	for _, s := range v.Suggestions {
		title := "start now, so that nothing expires:"
		if s.Do == "leave" {
			title = "leave alone:"
		}
		if title != head {
			fmt.Fprintf(w, "\n%s\n", title)
			head = title
		}
		need := ""
		if s.Hours != nil {
			need = hours(*s.Hours)
		}
		fmt.Fprintf(w, "  %-24s %-4s %8s  %s\n", s.Name, strings.ToUpper(s.Pool), need, s.Why)
	}
	fmt.Fprintln(w)
	for _, text := range v.Advice {
		fmt.Fprintln(w, text)
	}
	for _, text := range v.Assumed {
		fmt.Fprintf(w, "Assumed: %s.\n", text)
	}
	if q := v.Quota; !q.Live && !q.FetchedAt.IsZero() {
		fmt.Fprintf(w, "NOT LIVE, read %s: %s\n", moment(q.FetchedAt), q.Why)
	}
}
