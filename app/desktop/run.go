//go:build !headless

package desktop

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// Main opens the desktop and returns the exit status when the person has quit. hidden is a start at login: the window stays in
// the tray until it is asked for, where something draws one.
func Main(version string, icon []byte, hidden bool) int {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		fmt.Fprintln(os.Stderr, "error: there is no display to open a window on")
		fmt.Fprintln(os.Stderr, "hint: everything works in a terminal too: sandglass --help")
		return 2
	}
	ctx := context.Background()
	if home, err := app.HomeFolder("", os.Getenv); err == nil {
		only, err := claim(ctx, home)
		if err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			fmt.Fprintln(os.Stderr, "hint: end its process and start again")
			return 1
		}
		if only == nil {
			return 0 // the window that is there comes up
		}
		defer only.close()
		return open(ctx, version, icon, only, hidden)
	}
	return open(ctx, version, icon, &instance{}, hidden) // opening the core says what is wrong with the folder
}

// open is the window's life, from here to its end.
func open(ctx context.Context, version string, icon []byte, only *instance, hidden bool) int {
	log, closeLog := openLog()
	defer closeLog()
	a := fyneapp.NewWithID(appID)
	res := fyne.NewStaticResource("Icon.png", icon)
	a.SetIcon(res)
	win := a.NewWindow("Sandglass")
	win.SetMaster()
	win.SetPadded(false)
	win.SetIcon(res)

	core, err := app.Open(ctx, app.Options{Log: log, Version: version})
	if err != nil {
		chooseLanguage("", log)
		return onlyError(a, win, err)
	}
	chooseLanguage(core.Setting(ctx, settingLanguage), log)
	setLook(a, core.Setting(ctx, settingTheme), textScale(core.Setting(ctx, settingScale)))
	win.Resize(savedSize(core.Setting(ctx, settingSize)))
	s := newShell(core, win, log, fyne.Do, os.Getenv("SANDGLASS_UI_STATE"))
	s.quit = a.Quit
	// Before Run, since Fyne starts no tray after it; and only where one is drawn, since it costs a hidden window.
	asked := make(chan struct{}) // somebody started Sandglass again: they want to see it
	askedOnce := sync.OnceFunc(func() { close(asked) })
	go only.serve(func() {
		askedOnce()
		s.raise(0)
	})
	host := trayHost()
	if !host && hidden {
		wait, cancel := context.WithTimeout(ctx, trayWait)
		host = awaitTrayHost(wait, asked)
		cancel()
	}
	if host {
		s.tray = newTray(a, res, func() { s.raise(0) }, s.togglePause, s.quit)
	}
	core.KeepAutostart()
	a.Lifecycle().SetOnEnteredForeground(func() {
		inForeground.Store(true)
		s.look()
		core.Nudge() // the laptop may have slept
	})
	a.Lifecycle().SetOnExitedForeground(func() {
		inForeground.Store(false)
		s.look()
	})
	win.SetCloseIntercept(s.closeWindow)
	a.Lifecycle().SetOnStarted(func() {
		s.start()
		s.spawn(func(ctx context.Context) {
			// After the first frame, since a bus may be slow, and before the watcher, so that no notice comes too early.
			s.notify.Store(newNotifier(a.SendNotification, s.raise, log))
			if err := core.StartWatcher(ctx); err != nil && ctx.Err() == nil {
				s.do(func() { s.Fail(err) })
			}
		})
		if s.state.path != "" {
			s.spawn(s.followState)
		}
	})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		fyne.Do(a.Quit)
	}()
	if s.tray == nil || !hidden {
		win.Show()
	}
	a.Run()

	size := win.Canvas().Size()
	if size.Width >= 900 && size.Height >= 600 {
		_ = core.SetSetting(ctx, settingSize, fmt.Sprintf("%.0fx%.0f", size.Width, size.Height)) // a lost size is no loss
	}
	s.stop()
	if err := core.Close(); err != nil {
		log.Warn("closing", "err", err)
	}
	return 0
}

// followState keeps the state file fresh for a driving script: a control can move without an event.
func (s *shell) followState(ctx context.Context) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.do(s.writeState)
		}
	}
}

// onlyError is the window of a Sandglass that cannot open its own folder: it says why and what to do.
func onlyError(a fyne.App, win fyne.Window, err error) int {
	ex := app.Explain(err)
	fmt.Fprintln(os.Stderr, "error:", ex.Sentence)
	if ex.Action != "" {
		fmt.Fprintln(os.Stderr, "hint:", ex.Action)
	}
	ex = explain(err)
	a.Settings().SetTheme(widgets.NewTheme(widgets.ModeSystem, 1))
	quit := widgets.NewPrimary(lang.L("Quit"), nil, a.Quit)
	win.SetContent(centred(widgets.AtLeast(520, 0, widgets.NewCard(ex.Title, nil, widgets.VBox(widgets.Gap12,
		widgets.Body(ex.Sentence).Wrapped(), widgets.Muted(ex.Action).Wrapped(), quit)))))
	win.Resize(fyne.NewSize(900, 600))
	win.ShowAndRun()
	if ex.Exit == 0 {
		return 1
	}
	return ex.Exit
}

// savedSize reads the window's last size; the first time it is 1180 x 760.
func savedSize(text string) fyne.Size {
	var w, h float32
	if n, _ := fmt.Sscanf(text, "%fx%f", &w, &h); n == 2 && w >= 900 && h >= 600 && w < 10000 && h < 10000 {
		return fyne.NewSize(w, h)
	}
	return fyne.NewSize(1180, 760)
}

// openLog writes the program's own log beside its data: one file, and the one before it.
func openLog() (*slog.Logger, func()) {
	level := slog.LevelInfo
	if os.Getenv("SANDGLASS_DEBUG") != "" {
		level = slog.LevelDebug
	}
	stderr := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	home, err := app.HomeFolder("", os.Getenv)
	if err != nil {
		return stderr, func() {}
	}
	path := filepath.Join(home, "sandglass.log")
	if st, err := os.Stat(path); err == nil && st.Size() > 4<<20 {
		_ = os.Rename(path, path+".1")
	}
	if os.MkdirAll(home, 0o700) != nil {
		return stderr, func() {}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return stderr, func() {}
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level})), func() { _ = f.Close() }
}
