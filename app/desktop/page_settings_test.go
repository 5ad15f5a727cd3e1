package desktop

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/kaggle"
	"sandglass/widgets"
)

func someSettings(change func(*settingsFacts, map[string]string)) settingsView {
	stored := map[string]string{}
	f := settingsFacts{account: app.Account{Username: "mara", Kind: "kaggle", AuthKind: "token", Store: "keychain"}, home: "/home/mara/.config/sandglass", tray: true,
		found: []app.Found{{Username: "mara", Kind: "kaggle.json", Where: "~/.kaggle/kaggle.json"}}, choices: app.NoticeChoices{Silent: map[string]bool{}}}
	if change != nil {
		change(&f, stored)
	}
	f.stored = func(key string) string { return stored[key] }
	return newSettingsView(f, testNow)
}

func TestWhatTheSettingsSay(t *testing.T) {
	v := someSettings(nil)
	if !v.SignedIn || v.Theme != "system" || v.Percent != 100 || v.Close != "ask" || v.CloseWhy != "" || !v.Collect || v.Paused || len(v.Notices) != len(app.NoticeKinds()) || !v.Notices[0].On {
		t.Errorf("fresh settings: %+v", v)
	}
	v = someSettings(func(f *settingsFacts, s map[string]string) {
		s[settingTheme], s[settingScale], s[settingOnClose], s[settingCollect] = "dark", "130", "hide", "off"
		f.choices = app.NoticeChoices{Silent: map[string]bool{"failed": true}, PausedUntil: testNow.Add(4 * time.Hour)}
	})
	if v.Theme != "dark" || v.Percent != 130 || v.Close != "hide" || v.Collect || !v.Paused || !strings.Contains(v.PauseText, "until") || v.Notices[1].On {
		t.Errorf("chosen settings: %+v", v)
	}
	v = someSettings(func(f *settingsFacts, s map[string]string) {
		f.tray, f.noAccount = false, app.ErrNoAccount
		f.loginErr = errors.New("HOME is not set")
	})
	if v.SignedIn || v.Close != "" || v.CloseWhy == "" || v.LoginWhy == "" {
		t.Errorf("without an account, a tray and a home: %+v", v)
	}
}

func TestTextSizesAreKeptInBounds(t *testing.T) {
	for text, want := range map[string]int{"": 100, "x": 100, "80": 80, "160": 160, "20": 80, "999": 160, "-5": 80} {
		if got := textScale(text); got != want {
			t.Errorf("%q: %d %%, want %d", text, got, want)
		}
	}
}

// The account is what the log says, whatever Kaggle answers just now.
func TestTheVerdictOnASignIn(t *testing.T) {
	for _, c := range []struct {
		id    app.Identity
		err   error
		words string
		color fyne.ThemeColorName
	}{
		{app.Identity{Verified: true}, nil, "accepts", widgets.ColorGood},
		{app.Identity{Verified: true, Kind: "sandbox"}, nil, "answers", widgets.ColorGood},
		{app.Identity{Note: "not verified: a proxy answered"}, nil, "proxy", widgets.ColorWarning},
		{app.Identity{}, fmt.Errorf("check the sign-in of mara: %w", kaggle.ErrOffline), "reached", widgets.ColorBad},
	} {
		if got := newVerdict(c.id, c.err); !strings.Contains(got.Words, c.words) || got.Color != c.color {
			t.Errorf("%+v, %v: %+v", c.id, c.err, got)
		}
	}
}

func TestHowTheWindowCloses(t *testing.T) {
	for _, c := range []struct {
		tray     bool
		chosen   string
		underWay int
		want     closing
	}{
		{true, "", 0, closeAsk},
		{true, "", 2, closeAsk},
		{true, "hide", 2, closeHide},
		{true, "quit", 2, closeQuit},
		{false, "", 0, closeQuit},
		{false, "", 1, closeAskQuit},
		{false, "hide", 1, closeAskQuit}, // the tray is gone: a hidden window would be lost
		{false, "hide", 0, closeQuit},
		{false, "quit", 1, closeQuit},
	} {
		if got := howToClose(c.tray, c.chosen, c.underWay); got != c.want {
			t.Errorf("tray %v, chosen %q, %d under way: %d, want %d", c.tray, c.chosen, c.underWay, got, c.want)
		}
	}
	run := app.RunView{RunRow: app.RunRow{Name: "idea"}}
	for _, c := range []struct {
		week app.WeekView
		want string
	}{
		{app.WeekView{}, ""},
		{app.WeekView{InFlight: []app.RunView{run}}, "idea is in flight."},
		{app.WeekView{InFlight: []app.RunView{run, run}, Waiting: []app.RunRow{run.RunRow}}, "2 runs are in flight. idea waits for a free slot."},
		{app.WeekView{Waiting: []app.RunRow{run.RunRow, run.RunRow}}, "2 runs wait for a free slot."},
	} {
		if got := underWay(c.week); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What is chosen on the page holds at once and is there after the next start.
func TestTheSettingsPageKeepsWhatIsChosen(t *testing.T) {
	home := t.TempDir()
	s, ui, _ := openShell(t, home)
	s.Go("settings")
	p := s.currentPage().(*settingsPage)
	ui.until("the settings", func() bool { return p.shown })
	stored := func(key, want string) func() bool {
		return func() bool { return s.core.Setting(t.Context(), key) == want }
	}
	test.Tap(p.larger)
	test.Tap(p.larger)
	ui.until("the text size", stored(settingScale, "120"))
	if got := fyne.CurrentApp().Settings().Theme().Size(widgets.SizeBody); got < 16.7 || got > 16.9 {
		t.Errorf("body text is %v units, want 14 x 1.2", got)
	}
	for range 12 {
		test.Tap(p.larger)
	}
	ui.until("the largest text", stored(settingScale, "160"))
	if !p.larger.Disabled() || p.smaller.Disabled() {
		t.Error("there is a largest text")
	}
	test.Tap(p.normal)
	ui.until("the normal text", stored(settingScale, "100"))
	p.themes.Select("dark")
	ui.until("the theme", stored(settingTheme, "dark"))
	test.Tap(p.notices["failed"])
	silenced := func(want bool) func() bool {
		return func() bool {
			c, err := s.core.NoticeChoices(t.Context())
			return err == nil && c.Silent["failed"] == want
		}
	}
	ui.until("silence", silenced(true))
	p.notices["failed"].TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	ui.until("its end, by keyboard", silenced(false))
	test.Tap(p.pause)
	ui.until("the pause", func() bool { return p.view.Paused })
	if s.paused(t.Context()) != true || p.pause.Text != "Resume notifications" {
		t.Errorf("paused, and the button says %q", p.pause.Text)
	}
	test.Tap(p.pause)
	ui.until("the end of the pause", func() bool { return !p.view.Paused })
	test.Tap(p.collect)
	ui.until("no collecting", stored(settingCollect, "off"))
}

// Every control of the page is reached with Tab and brought into sight.
func TestTheSettingsAreReachedByKeyboard(t *testing.T) {
	s, ui, _ := openShell(t, t.TempDir())
	s.win.Resize(fyne.NewSize(900, 600))
	s.Go("settings")
	p := s.currentPage().(*settingsPage)
	ui.until("the settings", func() bool { return p.shown })
	want := map[fyne.Focusable]string{p.sign: "sign in", p.pause: "pause", p.larger: "larger text", p.collect: "collect", p.notices["slot-freed"]: "a slot freed"}
	c := s.win.Canvas()
	for range 60 {
		c.FocusNext()
		f := c.Focused()
		if f == nil {
			continue
		}
		delete(want, f)
		o := f.(fyne.CanvasObject)
		d := fyne.CurrentApp().Driver()
		if y := d.AbsolutePositionForObject(o).Y; y < 0 || y+o.Size().Height > 600 {
			t.Errorf("%T has the keyboard out of sight, at %v", f, y)
		}
	}
	if len(want) > 0 {
		t.Errorf("Tab never reaches %v", want)
	}
}

func TestTheSettingsInEveryStateAndSize(t *testing.T) {
	defer widgets.DrawInline()()
	for _, mode := range []widgets.Mode{widgets.ModeLight, widgets.ModeDark} {
		for _, percent := range []int{80, 100, 160} {
			a := test.NewTempApp(t)
			a.Settings().SetTheme(widgets.NewTheme(mode, float32(percent)/100))
			for _, size := range []fyne.Size{{Width: 700, Height: 600}, {Width: 1400, Height: 1000}} {
				tag := fmt.Sprintf("%d-%d-%.0f", mode, percent, size.Width)
				p := newSettingsPage(&stage{})
				p.show(someSettings(func(f *settingsFacts, s map[string]string) { s[settingScale] = fmt.Sprint(percent) }))
				p.judge(verdict{"Kaggle accepts it.", widgets.ColorGood})
				capture(t, "settings-top-"+tag, p.Object(), mode, size, 1)
				if percent == 100 {
					capture(t, "settings-2x-"+tag, p.Object(), mode, size, 2)
				}
				p.scroll.ScrollToBottom()
				capture(t, "settings-end-"+tag, p.Object(), mode, size, 1)
				bare := newSettingsPage(&stage{})
				bare.show(someSettings(func(f *settingsFacts, s map[string]string) {
					f.noAccount, f.tray, f.found = app.ErrNoAccount, false, nil
					f.choices.PausedUntil = testNow.Add(4 * time.Hour)
				}))
				bare.judge(newVerdict(app.Identity{}, fmt.Errorf("check the sign-in of mara: %w", kaggle.ErrOffline)))
				capture(t, "settings-bare-"+tag, bare.Object(), mode, size, 1)
			}
		}
	}
}

// Every page at the smallest and the largest text. In a window of 900 x 600 nothing may push another thing out.
func TestPagesAtEveryTextSize(t *testing.T) {
	defer widgets.DrawInline()()
	for _, mode := range []widgets.Mode{widgets.ModeLight, widgets.ModeDark} {
		for _, percent := range []int{scaleLeast, scaleMost} {
			a := test.NewTempApp(t)
			a.Settings().SetTheme(widgets.NewTheme(mode, float32(percent)/100))
			for _, size := range []fyne.Size{{Width: 700, Height: 600}, {Width: 1400, Height: 1000}} {
				tag := fmt.Sprintf("%d-%d-%.0f", mode, percent, size.Width)
				h := &stage{}
				capture(t, "text-first-"+tag, newFirstPage(h).Object(), mode, size.AddWidthHeight(200, 0), 1) // it has the window for itself
				week := newWeekPage(h)
				week.Update(sampleWeek(), testNow)
				capture(t, "text-week-"+tag, week.Object(), mode, size, 1)
				run := newRunPage(h, 7)
				run.Update(sampleRun(), testNow)
				capture(t, "text-run-"+tag, run.Object(), mode, size, 1)
				runs := newRunsPage(h)
				capture(t, "text-runs-"+tag, runs.Object(), mode, size, 1)
				for at := range stepCount {
					capture(t, fmt.Sprintf("text-new-%s-%s", at.key(), tag), wizardAt(h, answered(aWizard()), at).Object(), mode, size, 1)
				}
				for name, o := range map[string]fyne.CanvasObject{"week": week.Object(), "run": run.Object()} {
					if min := o.MinSize(); min.Width > 720 || min.Height > 600 { // at 160 % the window is a hand wider than 900 at least
						t.Errorf("%s at %d %% needs %v, more than is left of 900 x 600", name, percent, min)
					}
				}
			}
		}
	}
}
