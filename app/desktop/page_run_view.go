package desktop

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

// runView is what a run's page says, in strings and numbers.
type runView struct {
	Title, Note string
	Status      widgets.Status
	Banner      *notice
	Collect     string // words of the collect button; "" = nothing to collect
	ChartTitle  string
	ChartAside  string
	Curves      charts.LearningCurves
	CurvesEmpty string
	Jobs        []string // more than one: the curves can be switched
	Tasks       []taskRow
	TasksAside  string
	Findings    []finding
	Stats       []ticketLine
	Util        charts.Utilisation
	UtilEmpty   string
	UtilNote    string
	Files       [][]widgets.Cell
	FileViews   []app.FileView
	FilesNote   string
	FilesEmpty  string
	Shipped     []ticketLine
	Parts       [][]widgets.Cell
	Inputs      []string
	LogEmpty    string
}

// taskRow is one (job, fold).
type taskRow struct {
	Name, Words, Value string
	Share              float64 // done, 0 to 1
	Color              fyne.ThemeColorName
}

// finding is a diagnosis.
type finding struct {
	Icon              widgets.Icon
	Color             fyne.ThemeColorName
	Text, Detail, Fix string
}

func newRunView(r app.RunView, axis charts.XAxis, job string, now time.Time) runView {
	word, t := statusOf(r.RunRow)
	v := runView{Title: r.Name, Status: t.status(word), Note: runNote(r, now), Banner: runNotice(r, now)}
	if r.Ended && !r.Collected && r.State != app.StateRefused && r.State != app.StateNoRun && r.State != app.StateMissing && r.Origin != "recorded" {
		v.Collect = lang.L("Collect files")
	}
	v.curves(r, axis, job)
	v.tasks(r)
	for _, f := range r.Findings {
		v.Findings = append(v.Findings, newFinding(f))
	}
	v.stats(r, now)
	v.util(r)
	v.files(r)
	v.shipped(r)
	v.LogEmpty = whileWords(r, lang.L("The session has not written anything yet."), lang.L("This run left no log here. Collect files fetches it from Kaggle."))
	return v
}

// whileWords picks what an empty part says: what will fill it, or that nothing came.
func whileWords(r app.RunView, running, ended string) string {
	switch {
	case r.Ended:
		return ended
	case r.State == app.StateRunning || r.State == app.StateStopping:
		return running
	default:
		return lang.L("This fills once the session has started.")
	}
}

func runNote(r app.RunView, now time.Time) string {
	parts := []string{poolLabel(r.Pool)}
	if r.Version > 0 {
		parts = append(parts, fmt.Sprintf(lang.L("version %d"), r.Version))
	}
	switch {
	case r.Ended && !r.EndedAt.IsZero():
		parts = append(parts, fmt.Sprintf(lang.L("%s of %s"), hours(r.Hours), hours(r.CapHours)), lang.L("ended ")+when(r.EndedAt, now))
	case r.State == app.StateRunning || r.State == app.StateStopping:
		parts = append(parts, fmt.Sprintf(lang.L("%s of %s"), span(now.Sub(r.StartedAt)), hours(r.CapHours)))
		if !r.EndsBy.IsZero() {
			parts = append(parts, lang.L("ends by ")+clock(r.EndsBy, now))
		}
	case r.State == app.StateQueued:
		parts = append(parts, lang.L("waiting ")+span(r.QueuedFor))
	default:
		parts = append(parts, lang.L("up to ")+hours(r.CapHours))
	}
	return strings.Join(parts, " · ")
}

func runNotice(r app.RunView, now time.Time) *notice {
	switch {
	case !r.UnreachableAt.IsZero() && !r.Ended:
		return &notice{widgets.ColorWarning, lang.L("No news from Kaggle."),
			fmt.Sprintf(lang.L("It has not answered for %s; the session goes on without this computer. Shown is what was known then."), span(now.Sub(r.UnreachableAt))), lang.L("Try again")}
	case r.Failure != "":
		return &notice{widgets.ColorBad, lang.L("The run failed."), said(r.Failure), ""}
	case r.State == app.StateUnclear:
		return &notice{widgets.ColorWarning, lang.L("The push got no clear answer."), lang.L("Kaggle is being asked whether it took the run. Nothing is pushed twice."), ""}
	case r.State == app.StateWaiting:
		return &notice{widgets.ColorTPU, lang.L("Kept until a slot frees."), lang.L("It is then pushed by itself, under the consent you gave."), ""}
	case r.State == app.StateMissing:
		return &notice{widgets.ColorBad, lang.L("Kaggle no longer knows this run."), lang.L("What was fetched before is kept here."), ""}
	}
	return nil
}

func (v *runView) curves(r app.RunView, axis charts.XAxis, job string) {
	for _, c := range r.Curves {
		if !slices.Contains(v.Jobs, c.Job) {
			v.Jobs = append(v.Jobs, c.Job)
		}
	}
	if !slices.Contains(v.Jobs, job) && len(v.Jobs) > 0 {
		job = v.Jobs[0]
		if len(r.Jobs) > 0 && slices.Contains(v.Jobs, r.Jobs[0]) {
			job = r.Jobs[0]
		}
	}
	metric := metricName(r.Metric)
	if metric == "" {
		metric = lang.L("Score")
	}
	v.ChartTitle = metric
	if len(r.Baseline) > 0 {
		v.ChartTitle = fmt.Sprintf(lang.L("%s against the baseline"), metric)
	}
	switch {
	case r.State == app.StateRunning:
		v.ChartAside = lang.L("live")
	case r.Origin == "recorded":
		v.ChartAside = lang.L("recorded")
	}
	v.Curves = charts.LearningCurves{Metric: metricName(r.Metric), X: axis, Ink: poolInk(r.Pool), Name: r.Name, BaselineName: r.BaselineName,
		Greater: r.Greater, PruneMargin: r.PruneMargin, PruneMinFrac: r.PruneMinFrac}
	for _, c := range r.Curves {
		if c.Job == job {
			v.Curves.Curves = append(v.Curves.Curves, chartCurve(c, r.Ended || taskEnded(r.Tasks, c)))
		}
	}
	for _, c := range r.Baseline {
		v.Curves.Baseline = append(v.Curves.Baseline, chartCurve(c, true))
	}
	v.CurvesEmpty = whileWords(r, lang.L("The first evaluation of a fold starts its curve."),
		lang.L("The script reported no evaluations. TrainBudget in sandglass.budget reports one at each end_epoch(epoch, score)."))
}

// metricName writes a metric as people do: a short name of a known measure in capitals, anything else as the script called it.
func metricName(m string) string {
	switch strings.ToLower(m) {
	case "auc", "mae", "mse", "rmse", "rmsle", "map", "mrr", "f1", "r2", "iou", "qwk", "ap", "mcc", "wer", "cer", "bleu", "ndcg":
		return strings.ToUpper(m)
	}
	return m
}

func chartCurve(c app.CurveView, done bool) charts.Curve {
	out := charts.Curve{Name: fmt.Sprintf(lang.L("fold %d"), c.Fold), Done: done}
	for _, p := range c.Points {
		out.Points = append(out.Points, charts.CurvePoint{Epoch: float64(p.Epoch), Frac: p.Frac, Hours: p.Seconds / 3600, Score: p.Score})
	}
	return out
}

func taskEnded(tasks []app.TaskView, c app.CurveView) bool {
	for _, t := range tasks {
		if t.Job == c.Job && t.Fold != nil && *t.Fold == c.Fold {
			return t.State != "running"
		}
	}
	return false
}

func (v *runView) tasks(r app.RunView) {
	if r.Metric != "" {
		v.TasksAside = lang.L("best ") + metricName(r.Metric)
	}
	for _, t := range r.Tasks {
		v.Tasks = append(v.Tasks, newTaskRow(withProgress(t, r), len(r.Jobs) > 1))
	}
}

// progressSteps is how finely a curve's place in the schedule is taken over.
const progressSteps = 1000

// withProgress takes how far a running task is from its curve, which arrives more often than word of the task itself.
func withProgress(t app.TaskView, r app.RunView) app.TaskView {
	if t.State != "running" || t.Fold == nil {
		return t
	}
	for _, c := range r.Curves {
		if c.Job != t.Job || c.Fold != *t.Fold || len(c.Points) == 0 {
			continue
		}
		last := c.Points[len(c.Points)-1]
		if of := max(t.Of, 1); last.Frac > float64(t.Epochs)/float64(of) {
			t.Epochs, t.Of = int(last.Frac*progressSteps), progressSteps
			if !math.IsNaN(last.Seconds) {
				t.Seconds = math.Max(t.Seconds, last.Seconds)
			}
		}
		for _, p := range c.Points {
			if better := t.Best == nil || r.Greater && p.Score > *t.Best || !r.Greater && p.Score < *t.Best; better && !math.IsNaN(p.Score) {
				t.Best = ptrTo(p.Score)
			}
		}
	}
	return t
}

func ptrTo(v float64) *float64 { return &v }

func newTaskRow(t app.TaskView, withJob bool) taskRow {
	row := taskRow{Name: taskName(t, withJob), Value: score(t.Best), Color: widgets.ColorGPU}
	took := span(time.Duration(t.Seconds * float64(time.Second)))
	switch t.State {
	case "running":
		row.Words = lang.L("running")
		if t.Of > 0 {
			row.Share = math.Min(1, float64(t.Epochs)/float64(t.Of))
			row.Words = fmt.Sprintf("%.0f %%", row.Share*100)
			if left := t.Seconds * (1 - row.Share) / math.Max(row.Share, 1e-9); row.Share > 0.02 && left >= 1 {
				row.Words += ", " + span(time.Duration(left*float64(time.Second))) + lang.L(" left")
			}
		}
	case "done":
		row.Share, row.Color, row.Words = 1, widgets.ColorGood, lang.L("done in ")+took
	case "pruned":
		row.Share, row.Color, row.Words = share(t), widgets.ColorMuted, lang.L("pruned after ")+took
	case "timeout":
		row.Share, row.Color, row.Words = share(t), widgets.ColorWarning, lang.L("out of time after ")+took
	case "killed":
		row.Share, row.Color, row.Words = share(t), widgets.ColorWarning, lang.L("killed after ")+took
	case "failed":
		row.Share, row.Color, row.Words = share(t), widgets.ColorBad, lang.L("failed after ")+took
		if t.Error != "" {
			row.Words = lang.L("failed: ") + lastLines(t.Error, 1)
		}
	case "skipped":
		row.Color, row.Words = widgets.ColorMuted, lang.L("finished by an earlier run")
	case "not-started", "":
		row.Color, row.Words = widgets.ColorMuted, lang.L("not started")
	default:
		row.Words = t.State
	}
	return row
}

func share(t app.TaskView) float64 {
	if t.Of <= 0 {
		return 1
	}
	return math.Min(1, float64(t.Epochs)/float64(t.Of))
}

func newFinding(f app.FindingView) finding {
	out := finding{Icon: widgets.IconInfo, Color: widgets.ColorMuted, Text: said(f.Text), Detail: said(lastLines(f.Detail, 3)), Fix: said(f.Fix)}
	switch f.Level {
	case "good":
		out.Icon, out.Color = widgets.IconCheck, widgets.ColorGood
	case "warn":
		out.Icon, out.Color = widgets.IconWarning, widgets.ColorWarning
	case "bad":
		out.Icon, out.Color = widgets.IconCross, widgets.ColorBad
	}
	return out
}

// lastLines is the end of a traceback, which is where it says what went wrong; the whole is in the log.
func lastLines(s string, n int) string {
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		if l = strings.TrimSpace(l); strings.Trim(l, "^~ ") != "" { // not the marks below a line of code
			lines = append(lines, l)
		}
	}
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}
	if n == 1 {
		return lines[len(lines)-1]
	}
	return "…\n" + strings.Join(lines[len(lines)-n:], "\n")
}

func (v *runView) stats(r app.RunView, now time.Time) {
	add := func(label, value string) { v.Stats = append(v.Stats, ticketLine{label, value}) }
	if r.Score != nil {
		add(strings.TrimSpace(metricName(r.Metric)+lang.L(" of this run")), score(r.Score))
	}
	if r.BaselineScore != nil {
		name := r.BaselineName
		if name == "" {
			name = lang.L("baseline")
		}
		add(name, score(r.BaselineScore))
		if r.Score != nil {
			add(lang.L("gain"), fmt.Sprintf("%+.4f", *r.Score-*r.BaselineScore))
		}
	}
	burned := lang.L("burned")
	if !r.Ended {
		burned = lang.L("burned so far")
	}
	add(burned, hours(r.Hours))
	add(lang.L("cap"), hours(r.CapHours))
	if r.QueuedFor > 0 {
		add(lang.L("waited in the queue"), span(r.QueuedFor))
	}
	if !r.PushedAt.IsZero() {
		add(lang.L("pushed"), when(r.PushedAt, now))
	}
}

func (v *runView) util(r app.RunView) {
	v.Util = charts.Utilisation{Ink: poolInk(r.Pool)}
	lanes := map[string]int{}
	mem := map[string]float64{}
	for _, p := range r.Util {
		i, ok := lanes[p.Device]
		if !ok {
			i = len(v.Util.Lanes)
			lanes[p.Device] = i
			v.Util.Lanes = append(v.Util.Lanes, charts.Lane{Name: deviceName(p.Device)})
		}
		v.Util.Lanes[i].Points = append(v.Util.Lanes[i].Points, charts.Point{X: p.T, Y: p.Util})
		mem[p.Device] = math.Max(mem[p.Device], p.Mem)
	}
	slices.SortFunc(v.Util.Lanes, func(a, b charts.Lane) int { return strings.Compare(a.Name, b.Name) })
	var notes []string
	for _, l := range v.Util.Lanes {
		if idle := charts.Idle(l.Points); len(idle) > 0 {
			long := 0.0
			for _, s := range idle {
				long = math.Max(long, s[1]-s[0])
			}
			notes = append(notes, fmt.Sprintf(lang.L("%s idle for up to %s"), l.Name, span(time.Duration(long*float64(time.Second)))))
		}
	}
	devices := make([]string, 0, len(mem))
	for d := range mem {
		devices = append(devices, d)
	}
	slices.Sort(devices)
	for _, d := range devices {
		if mem[d] > 0 {
			notes = append(notes, fmt.Sprintf(lang.L("%s used %.1f GiB at most"), deviceName(d), mem[d]/1024))
		}
	}
	v.UtilNote = strings.Join(notes, " · ")
	v.UtilEmpty = whileWords(r, lang.L("The first samples arrive within a minute of the session's start."), lang.L("The session sent no utilisation samples."))
	if r.Pool == app.PoolCPU {
		v.UtilEmpty = lang.L("A CPU session has no accelerator to sample.")
	}
}

var fileColumns = []widgets.Column{{Title: "File", Width: 200, Weight: 1}, {Title: "Size", Width: 90, Right: true}, {Title: "State", Width: 150}}

func (v *runView) files(r app.RunView) {
	v.FileViews = r.Files
	var total int64
	here := 0
	for _, f := range r.Files {
		st := widgets.Status{Word: lang.L("here"), Shape: widgets.ShapeCheck, Color: widgets.ColorGood}
		switch f.State {
		case "here":
			here++
		case "remote":
			st = widgets.Status{Word: lang.L("at Kaggle"), Shape: widgets.ShapeRing, Color: widgets.ColorMuted}
		case "missing":
			st = widgets.Status{Word: lang.L("missing"), Shape: widgets.ShapeBang, Color: widgets.ColorWarning}
		case "damaged":
			st = widgets.Status{Word: lang.L("damaged"), Shape: widgets.ShapeCross, Color: widgets.ColorBad}
		default:
			st = widgets.Status{Word: f.State}
		}
		total += f.Size
		v.Files = append(v.Files, []widgets.Cell{{Text: f.Path}, {Text: bytesText(f.Size), Muted: true}, {Status: &st}})
	}
	if len(r.Files) > 0 {
		v.FilesNote = fmt.Sprintf(lang.L("%d of %d files here · %s"), here, len(r.Files), bytesText(total))
	}
	v.FilesEmpty = whileWords(r, lang.L("Files are listed when the session has ended."), lang.L("Nothing was collected yet. Collect files fetches what the session saved."))
}

var partColumns = []widgets.Column{{Title: "Part of the kernel script", Width: 160, Weight: 1}, {Title: "Size", Width: 90, Right: true}, {Title: "Of 1 MB", Width: 80, Right: true}}

func (v *runView) shipped(r app.RunView) {
	add := func(label, value string) {
		if value != "" {
			v.Shipped = append(v.Shipped, ticketLine{label, value})
		}
	}
	add(lang.L("kernel"), r.Kernel)
	add(lang.L("accelerator"), poolLabel(r.Pool))
	add(lang.L("jobs"), strings.Join(r.Jobs, ", "))
	if len(r.Folds) > 0 {
		add(lang.L("folds"), strings.Trim(strings.Join(strings.Fields(fmt.Sprint(r.Folds)), ", "), "[]"))
	}
	add(lang.L("project"), r.Project)
	add(lang.L("kernel folder"), r.BuildDir)
	add(lang.L("files go to"), r.ArtifactsDir)
	sum := 0
	for _, p := range r.Parts {
		sum += p.Bytes
		v.Parts = append(v.Parts, []widgets.Cell{{Text: p.Name}, {Text: bytesText(int64(p.Bytes))}, {Text: percentOfLimit(p.Bytes), Muted: true}})
	}
	if sum > 0 {
		v.Parts = append(v.Parts, []widgets.Cell{{Text: lang.L("together"), Strong: true}, {Text: bytesText(int64(sum)), Strong: true}, {Text: percentOfLimit(sum), Muted: true}})
	}
	v.Inputs = r.Inputs
}

// percentOfLimit is a size against Kaggle's limit of a megabyte for the script.
func percentOfLimit(n int) string { return fmt.Sprintf("%.1f %%", float64(n)/1e6*100) }
