package desktop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/widgets"
)

// openPlan opens the window on its Plan page.
func openPlan(t *testing.T, home string) (*shell, *uiLoop, *planPage) {
	t.Helper()
	s, ui, _ := openShell(t, home)
	s.keys()[fyne.Key3]()
	p, ok := s.currentPage().(*planPage)
	if !ok {
		t.Fatalf("Ctrl+3 leads to %s", s.visible.Load().at.page)
	}
	ui.until("the plan", func() bool { return p.have })
	return s, ui, p
}

// signedIn is a home with a sandbox account.
func signedIn(t *testing.T, then func(core *app.App)) string {
	t.Helper()
	home := t.TempDir()
	core, err := app.Open(context.Background(), app.Options{Home: home, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	if _, err := core.UseSandbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	if then != nil {
		then(core)
	}
	return home
}

func tapMark(t *testing.T, s *shell, name string) {
	t.Helper()
	o, ok := s.state.marks[name].(fyne.Tappable)
	if !ok {
		t.Fatalf("there is no %s to tap", name)
	}
	test.Tap(o)
}

func key(f fyne.Focusable, k fyne.KeyName) { f.TypedKey(&fyne.KeyEvent{Name: k}) }

func TestThePlanWithoutAnAccountSaysSo(t *testing.T) {
	s, ui, _ := openShell(t, t.TempDir())
	s.Go("plan")
	p := s.currentPage().(*planPage)
	ui.until("why there is no plan", func() bool { return p.status() == "failed" })
	if p.ready.Visible() || p.wait.Action.Text == "" || p.wait.Text.Text == "" {
		t.Errorf("it says %q %q and offers %q", p.wait.Title.Text, p.wait.Text.Text, p.wait.Action.Text)
	}
	p.Update(samplePlan(t, 30, 8), testNow)
	if min := s.frame.MinSize(); min.Width > 900 || min.Height > 600 {
		t.Errorf("the page does not fit into 900 x 600: its smallest size is %v", min)
	}
}

func TestTheDeadlineIsTypedReadAndKept(t *testing.T) {
	s, ui, p := openPlan(t, signedIn(t, nil))
	if p.status() != "empty" || !p.none.Visible() || p.planned.Visible() || p.until.Visible() {
		t.Fatalf("without a deadline the page is %s", p.status())
	}
	tapMark(t, s, "plan.first")
	box, keep := s.state.marks["deadline.text"].(*entry), s.state.marks["deadline.keep"].(*widgets.Button)
	if s.dialogs != 1 || s.win.Canvas().Focused() != fyne.Focusable(box) || !keep.Disabled() {
		t.Fatal("the deadline is not asked for")
	}
	for _, bad := range []string{"soon", "2001-01-01", "2026-13-40"} {
		box.SetText(bad)
		if !keep.Disabled() {
			t.Errorf("%q can be kept", bad)
		}
		box.OnSubmitted("")
	}
	if s.dialogs != 1 {
		t.Fatal("Enter kept what cannot be read")
	}
	until := time.Now().Add(20 * 24 * time.Hour).UTC().Truncate(time.Minute)
	box.SetText(until.Format("2006-01-02 15:04"))
	box.OnSubmitted("")
	ui.until("the plan to it", func() bool { return p.status() == "ready" })
	if got, err := s.core.Deadline(t.Context()); err != nil || !got.Equal(until) {
		t.Errorf("kept %v, %v, want %v", got, err, until)
	}
	if !strings.Contains(p.head.Note.Text, until.Format("15:04")+" UTC") || p.none.Visible() || !p.until.Visible() {
		t.Errorf("the title says %q", p.head.Note.Text)
	}
	tapMark(t, s, "plan.deadline")
	if got := s.state.marks["deadline.text"].(*entry).Text; got != until.Format("2006-01-02 15:04 UTC") {
		t.Errorf("asked again with %q", got)
	}
	tapMark(t, s, "deadline.forget")
	ui.until("the empty page", func() bool { return p.status() == "empty" })
}

func TestTheBacklogIsKeptByKeyboard(t *testing.T) {
	s, ui, p := openPlan(t, signedIn(t, nil))
	add := func(name, hours string) {
		t.Helper()
		tapMark(t, s, "plan.add")
		s.state.marks["idea.name"].(*entry).SetText(name)
		box := s.state.marks["idea.hours"].(*entry)
		box.SetText(hours)
		box.OnSubmitted("")
	}
	add("seed2", "five")
	if s.dialogs != 1 {
		t.Fatal("hours that are no number were taken")
	}
	box := s.state.marks["idea.hours"].(*entry)
	box.SetText("5,5 h")
	box.OnSubmitted("")
	ui.until("the first idea", func() bool { return p.backlog.n == 1 && s.dialogs == 0 })
	add("wide", "")
	ui.until("the second idea", func() bool { return p.backlog.n == 2 && s.dialogs == 0 })
	first, second := p.backlog.rows[0], p.backlog.rows[1]
	if first.hours.Text != "5.5 h" || second.hours.Text != unknown || first.badge.Status.Word != "not validated" {
		t.Errorf("rows %q %q %q", first.hours.Text, second.hours.Text, first.badge.Status.Word)
	}
	s.win.Canvas().Focus(first.row)
	key(first.row, fyne.KeySpace)
	ui.until("the idea to be validated", func() bool { return first.badge.Status.Word == "validated" })
	key(first.row, fyne.KeyDown)
	if s.win.Canvas().Focused() != fyne.Focusable(second.row) {
		t.Fatal("Down does not lead to the next row")
	}
	key(second.row, fyne.KeyReturn)
	name := s.state.marks["idea.name"].(*entry)
	if s.dialogs != 1 || name.Text != "wide" {
		t.Fatalf("Enter opens %d dialogs, with %q", s.dialogs, name.Text)
	}
	name.SetText("seed2")
	name.OnSubmitted("")
	ui.until("that the name is taken", func() bool { return !s.state.marks["idea.keep"].(*widgets.Button).Disabled() })
	if s.dialogs != 1 {
		t.Fatal("two ideas have one name")
	}
	name.SetText("wider")
	name.OnSubmitted("")
	ui.until("the new name", func() bool { return s.dialogs == 0 && second.name.Text == "wider" })
	s.win.Canvas().Focus(second.row)
	key(second.row, fyne.KeyDelete)
	ui.until("the idea to go", func() bool { return p.backlog.n == 1 })
	if s.win.Canvas().Focused() != fyne.Focusable(p.backlog.undo.button) {
		t.Error("the keyboard is lost with the row")
	}
	first.row.TypedShortcut(&fyne.ShortcutUndo{})
	ui.until("the idea to come back", func() bool { return p.backlog.n == 2 })
	if p.backlog.undo.box.Visible() {
		t.Error("it can be brought back twice")
	}
	key(first.row, fyne.KeyReturn)
	tapMark(t, s, "idea.done")
	ui.until("the idea to be done", func() bool { return p.backlog.n == 1 && s.dialogs == 0 })
}

// queuedRuns is a home where one TPU run is at the sandbox, which has one TPU, and two more wait in the launch queue.
func queuedRuns(t *testing.T) string {
	t.Helper()
	return signedIn(t, func(core *app.App) {
		for _, name := range []string{"at-kaggle", "first-one", "second-one"} {
			pushBuilt(t, core, buildOf(t, core, name, "TpuV5E8"))
		}
		if q, err := core.Queue(t.Context()); err != nil || len(q) != 2 {
			t.Fatalf("queue %+v, %v", q, err)
		}
	})
}

func buildOf(t *testing.T, core *app.App, name, shape string) string {
	t.Helper()
	b, err := core.Build(t.Context(), app.BuildSpec{Project: leaf(t), Name: name, Command: "python src/train.py", Hours: 0.5, Accelerator: shape}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.Dir
}

func leaf(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "leaf")
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "src", "train.py"), []byte("print('trained')\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func pushBuilt(t *testing.T, core *app.App, dir string) {
	t.Helper()
	plan, err := core.PlanPush(t.Context(), dir, app.PushOptions{QueueIfFull: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := core.Push(t.Context(), plan, app.Consent{By: "test"}); err != nil {
		t.Fatal(err)
	}
}

func TestTheLaunchQueueIsOrderedPausedAndEmptied(t *testing.T) {
	s, ui, p := openPlan(t, queuedRuns(t))
	q := p.queue
	if len(q.view.Rows) != 2 || q.rows[0].name.Text != "first-one" || q.rows[0].why.Text == "" || !q.warn.Visible() || !strings.Contains(q.warns.Text, "one TPU slot") {
		t.Fatalf("queue %+v, warned %q", q.view, q.warns.Text)
	}
	if !strings.Contains(p.waitWord.Text, "still waiting") {
		t.Errorf("the waits say %q", p.waitWord.Text)
	}
	row := q.rows[0].row
	s.win.Canvas().Focus(row)
	row.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyDown, Modifier: fyne.KeyModifierAlt})
	ui.until("the other order", func() bool { return q.rows[0].name.Text == "second-one" })
	if s.win.Canvas().Focused() != fyne.Focusable(q.rows[1].row) || q.rows[1].name.Text != "first-one" {
		t.Error("the keyboard did not go with the run")
	}
	if q.rows[0].up.Visible() || !q.rows[0].down.Visible() || q.rows[1].down.Visible() {
		t.Error("the first cannot go up, nor the last down")
	}
	tapMark(t, s, "plan.pause")
	ui.until("the pause", func() bool { return q.view.Paused })
	if q.pause.Text == "Pause" || !q.note.Visible() || !strings.Contains(q.rows[0].why.Text, "paused") {
		t.Errorf("paused: button %q, note %q, reason %q", q.pause.Text, q.note.Text, q.rows[0].why.Text)
	}
	s.Go("week")
	w := s.currentPage().(*weekPage)
	ui.until("the queue on Week", func() bool { return len(w.queue.Rows) == 2 && w.queued.on })
	tapMark(t, s, "week.pause")
	ui.until("the queue to go on", func() bool { return !w.queued.on && w.have && !w.queue.Paused })
	tapMark(t, s, "week.plan")
	if s.currentPage() != page(p) {
		t.Fatal("Week does not lead to Plan")
	}
	ui.until("the plan to follow", func() bool { return !q.view.Paused })
	s.win.Canvas().Focus(q.rows[1].row)
	key(q.rows[1].row, fyne.KeyDelete)
	ui.until("the run to be taken out", func() bool { return len(q.view.Rows) == 1 })
	if !q.undo.box.Visible() || !strings.Contains(q.undo.words.Text, "first-one") {
		t.Fatalf("no way back: %q", q.undo.words.Text)
	}
	tapMark(t, s, "plan.queue.undo")
	ui.until("the run to come back", func() bool { return len(q.view.Rows) == 2 })
	if q.rows[1].name.Text != "first-one" {
		t.Errorf("it came back before %s", q.rows[1].name.Text)
	}
	key(q.rows[1].row, fyne.KeyReturn)
	if s.visible.Load().at.page != "run" {
		t.Error("Enter does not open the run")
	}
}

func TestASuggestionIsQueuedAfterOneQuestion(t *testing.T) {
	project := ""
	home := signedIn(t, func(core *app.App) {
		if _, err := core.Quota(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if err := core.SetDeadline(t.Context(), time.Now().Add(20*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		project = leaf(t)
		for _, it := range []app.BacklogItem{{Name: "built", Hours: .5, Validated: true, Dir: buildOf(t, core, "built-one", "NvidiaTeslaT4")},
			{Name: "not built", Hours: .5, Validated: true, Project: project, Command: "python src/train.py --wide"}, {Name: "raw", Hours: 1}} {
			if _, err := core.AddBacklog(t.Context(), it); err != nil {
				t.Fatal(err)
			}
		}
	})
	s, ui, p := openPlan(t, home)
	rows := map[string]*startLine{}
	for _, l := range p.start.rows {
		rows[l.name.Text] = l
	}
	if len(rows) != 2 || rows["built"] == nil || !rows["built"].object.Visible() || rows["built"].button.Text != "Queue…" || rows["not built"].button.Text != "Open in New run" {
		t.Fatalf("suggested %+v", rows)
	}
	if !p.start.leave.Visible() || p.calendar.Data().Empty() || p.gpu.number.Text == "" {
		t.Error("nothing is left alone, or the calendar is empty")
	}
	test.Tap(rows["built"].button)
	ui.until("the question", func() bool { return s.dialogs == 1 })
	push := s.state.marks["planpush.go"].(*deliberate)
	if !strings.Contains(push.Text, "up to 0.5 GPU-hours") {
		t.Errorf("the button says %q", push.Text)
	}
	key(push, fyne.KeyReturn)
	if s.dialogs != 1 {
		t.Fatal("Enter spent")
	}
	test.Tap(push)
	ui.until("the push", func() bool { return s.said != "" && s.dialogs == 0 && p.backlog.n == 2 })
	if runs, err := s.core.Runs(t.Context(), app.RunFilter{}); err != nil || len(runs) != 1 || runs[0].Name != "built-one" {
		t.Errorf("runs %+v, %v", runs, err)
	}
	for _, l := range p.start.rows {
		if l.object.Visible() && l.name.Text == "not built" {
			test.Tap(l.button)
		}
	}
	ui.until("the wizard", func() bool { return s.visible.Load().at.page == "new" })
	f := s.currentPage().(*newPage).w.form
	if f.Project != project || f.Name != "not-built" || f.Command != "python src/train.py --wide" || f.Shape != shapeT4 {
		t.Errorf("the wizard begins with %+v", f)
	}
}

func TestThePlanSaysTheZoneAndTheReasons(t *testing.T) {
	was := time.Local
	time.Local = time.FixedZone("CET", 3600)
	defer func() { time.Local = was }()
	p := samplePlan(t, 6, 8)
	v := newPlanView(p, app.PoolGPU, testNow)
	if want := "until Tue 22 Dec 23:59 UTC (Wed 00:59 here), in 20 d 4 h · 3 resets"; v.Note != want {
		t.Errorf("the title says %q, want %q", v.Note, want)
	}
	if v.GPU.Number != "107.4" || v.GPU.Explore == "" || v.GPU.End == "" || v.GPU.Lost != "0.0 h" || !strings.Contains(v.GPU.Note, "slack for the end 6.0 h") {
		t.Errorf("the headline is %+v", v.GPU)
	}
	leave := map[string]string{}
	for _, l := range v.Leave {
		leave[l.Name] = l.Why
	}
	if len(v.Start) != 3 || !strings.Contains(leave["effv2-s"], "rehearse") || !strings.Contains(leave["mixup 0.4"], "no gain") {
		t.Errorf("start %+v, leave %v", v.Start, leave)
	}
	q := v.Queue
	if q.Waiting != 7 || !q.Rows[0].First || !q.Rows[6].Last || q.Rows[7].Place != "" || !strings.HasSuffix(q.Rows[7].Why, "Push it again to send what is there now.") || q.Warning == "" {
		t.Errorf("queue %+v", q)
	}
	if q.Rows[1].What != "T4 ×2 · up to 7.0 h, from 3.0 h on · for 5 h" || q.Rows[1].Short != "T4 ×2 · up to 7.0 h" {
		t.Errorf("the second row says %q, or %q", q.Rows[1].What, q.Rows[1].Short)
	}
	if b := v.Backlog[5]; b.Gain != "−0.001" || b.What != leave["mixup 0.4"] || v.Backlog[4].Hours != unknown {
		t.Errorf("backlog %+v", v.Backlog)
	}
	p.Season, p.Deadline, p.Passed = nil, testNow.Add(-time.Hour), true
	if e := newPlanView(p, app.PoolGPU, testNow).Empty; e == nil || !strings.Contains(e.Text, "Wed 2 Dec 18:47 UTC (19:47 here)") || e.Action == "" {
		t.Errorf("after the deadline %+v", e)
	}
}

func TestThePlanKeepsItsSnapshotWhenTheNextOneFails(t *testing.T) {
	defer widgets.DrawInline()()
	test.NewTempApp(t)
	p := newPlanPage(&stage{})
	p.failed(app.Explained{Title: "No", Sentence: "It failed.", Action: "Retry."})
	if p.ready.Visible() || p.wait.Title.Text != "No" {
		t.Error("a first failure must be the page")
	}
	p.Update(samplePlan(t, 4, 2), testNow)
	p.failed(app.Explained{Title: "No", Sentence: "It failed.", Action: "Retry."})
	if !p.ready.Visible() || !p.banner.Visible() || p.banner.Strong.Text != "No" {
		t.Error("a later failure must stand above the snapshot")
	}
	p.pools.Select(app.PoolTPU)
	if p.legend.Items[0].Color != widgets.ColorTPU || p.costs.card.Title.Text != "What a TPU run costs here" {
		t.Error("the calendar still shows the GPU")
	}
	full := samplePlan(t, 30, 8)
	p.Update(full, testNow)
	if p.backlog.n != 30 || len(p.queue.view.Rows) != 8 || p.queue.view.Waiting != 7 {
		t.Errorf("%d ideas, queue %+v", p.backlog.n, p.queue.view)
	}
	fyne.CurrentApp().Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1.6))
	if wide := p.scroll.Content.MinSize().Width; wide > 640 {
		t.Errorf("at 160 %% of the text the page wants a width of %.0f", wide)
	}
	n := len(p.start.leave.Objects)
	p.start.all = true
	p.render(testNow)
	if len(p.start.leave.Objects) <= n {
		t.Error("the other reasons are not shown")
	}
}

// Whatever a mouse can do on the page the keyboard reaches, and what has the keyboard is in sight.
func TestTheTabKeyWalksTheWholePlan(t *testing.T) {
	defer widgets.DrawInline()()
	s, _, p := openPlan(t, signedIn(t, nil))
	v := samplePlan(t, 30, 8)
	for i := range v.Waits.Waits {
		v.Waits.Waits[i].Name = "vit"
	}
	p.Update(v, testNow)
	s.win.Resize(fyne.NewSize(900, 600))
	c := s.win.Canvas()
	d := fyne.CurrentApp().Driver()
	walk, ok := c.(interface{ FocusNext() })
	if !ok {
		t.Fatal("the canvas has no Tab key")
	}
	seen := map[fyne.Focusable]bool{}
	for range 200 {
		walk.FocusNext()
		f := c.Focused()
		if f == nil || seen[f] {
			break
		}
		seen[f] = true
		o := f.(fyne.CanvasObject)
		top := d.AbsolutePositionForObject(o).Y
		if top < 0 || top+fyne.Min(o.Size().Height, 100) > 600 {
			t.Errorf("%T at %.0f with a height of %.0f has the keyboard out of sight", f, top, o.Size().Height)
		}
	}
	want := map[string]fyne.Focusable{"deadline": p.until, "calendar": p.calendar, "waits": p.waits, "pause": p.queue.pause, "add": p.backlog.add,
		"a suggestion": p.start.rows[0].button, "the first in the queue": p.queue.rows[0].row, "the last in the queue": p.queue.rows[7].row,
		"the first idea": p.backlog.rows[0].row, "the last idea": p.backlog.rows[29].row}
	for name, f := range want {
		if !seen[f] {
			t.Errorf("the Tab key does not reach %s", name)
		}
	}
	if _, ok := s.state.marks["plan.more"].(fyne.Focusable); !ok || !seen[s.state.marks["plan.more"].(fyne.Focusable)] {
		t.Error("the Tab key does not reach the other reasons")
	}
}

func TestAClickedRowHasTheKeyboard(t *testing.T) {
	s, ui, p := openPlan(t, signedIn(t, func(core *app.App) {
		if _, err := core.AddBacklog(t.Context(), app.BacklogItem{Name: "seed2"}); err != nil {
			t.Fatal(err)
		}
	}))
	row := p.backlog.rows[0].row
	test.Tap(row)
	s.escape()
	if s.dialogs != 0 || s.win.Canvas().Focused() != fyne.Focusable(row) {
		t.Fatalf("after the dialog the keyboard is on %T", s.win.Canvas().Focused())
	}
	for range 3 { // a key that repeats is about this one row
		key(row, fyne.KeyDelete)
	}
	ui.until("the idea to go", func() bool { return p.backlog.n == 0 && !p.doing })
	if s.dialogs != 0 {
		t.Error("the second press was an error")
	}
	s.Go("week")
	s.Go("plan")
	if p.backlog.undo.box.Visible() {
		t.Error("the way back is offered on another visit")
	}
}
