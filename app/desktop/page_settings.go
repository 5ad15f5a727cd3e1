package desktop

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// Settings the window keeps in the run log.
const (
	settingTheme   = "window.theme"  // system, light, dark
	settingOnClose = "window.close"  // "", "hide", "quit"
	settingPaused  = "notify.paused" // "yes": no native notifications
	settingSize    = "window.size"   // "1180x760"
)

var themeModes = []struct {
	label, value string
	mode         widgets.Mode
}{
	{"As the system", "system", widgets.ModeSystem},
	{"Light", "light", widgets.ModeLight},
	{"Dark", "dark", widgets.ModeDark},
}

// settingsView is what the Settings page says.
type settingsView struct {
	Account  []ticketLine
	SignedIn bool
	Sandbox  bool
	Theme    string
	Paused   bool
	Home     string
}

func newSettingsView(id app.Identity, err error, home, theme, paused string) settingsView {
	v := settingsView{Home: home, Theme: theme, Paused: paused == "yes"}
	if theme == "" {
		v.Theme = themeModes[0].value
	}
	if err != nil {
		v.Account = []ticketLine{{lang.L("account"), lang.L("not signed in")}}
		return v
	}
	v.SignedIn, v.Sandbox = true, id.Kind == "sandbox"
	where := id.Endpoint
	if where == "" {
		where = "kaggle.com"
	}
	v.Account = []ticketLine{{lang.L("signed in as"), id.Username}, {lang.L("at"), where}, {lang.L("by"), authWords(id.AuthKind)}, {lang.L("secret kept in"), storeWords(id.Store)}}
	if id.Note != "" {
		v.Account = append(v.Account, ticketLine{lang.L("note"), id.Note})
	}
	return v
}

func authWords(kind string) string {
	switch kind {
	case "key":
		return lang.L("legacy API key")
	case "token":
		return lang.L("API token")
	case "oauth":
		return lang.L("the browser")
	case "environment":
		return lang.L("environment variables")
	case "sandbox":
		return lang.L("the sandbox's own key")
	}
	return kind
}

func storeWords(store string) string {
	switch store {
	case "keychain":
		return lang.L("the system keychain")
	case "file":
		return lang.L("a file only you can read")
	case "memory":
		return lang.L("memory, until Sandglass quits")
	case "environment":
		return lang.L("the environment; Sandglass keeps no copy")
	case "sandbox":
		return lang.L("the sandbox's folder")
	}
	return store
}

type settingsPage struct {
	h       host
	root    *fyne.Container
	account *fyne.Container
	themes  *widgets.FilterChips
	pause   *widgets.Button
	home    *widgets.Text
	view    settingsView
}

func newSettingsPage(h host) *settingsPage {
	p := &settingsPage{h: h, account: widgets.VBox(widgets.Gap8)}
	var chips []widgets.Chip
	for _, m := range themeModes {
		chips = append(chips, widgets.Chip{Key: m.value, Text: lang.L(m.label)})
	}
	p.themes = widgets.NewFilterChips(chips...)
	for _, m := range themeModes {
		h.Mark("settings.theme."+m.value, p.themes.Chip(m.value))
	}
	p.pause = widgets.NewButton("", nil, p.togglePause)
	h.Mark("settings.pause", p.pause)
	p.home = wrapped(h.Core().Home())
	open := widgets.NewButton(lang.L("Open the folder"), widgets.IconFolder.Resource(), func() { h.OpenURL("file://" + h.Core().Home()) })
	column := widgets.VBox(widgets.Gap12,
		widgets.NewCard(lang.L("Account"), nil, p.account),
		widgets.NewCard(lang.L("Appearance"), nil, p.themes),
		widgets.NewCard(lang.L("Notifications"), nil, widgets.VBox(widgets.Gap8,
			widgets.Muted(lang.L("Told natively: a TPU run left the queue, a run finished, failed or was stopped by its cap.")).Wrapped(),
			container.NewHBox(p.pause))),
		widgets.NewCard(lang.L("Data"), nil, widgets.VBox(widgets.Gap8,
			widgets.Muted(lang.L("Run log, logs of runs and the sandbox. Deleting this folder loses no training result.")).Wrapped(), p.home, container.NewHBox(open))),
	)
	p.root = pageFrame(widgets.NewPageHeader(lang.L("Settings")), container.NewVScroll(widgets.AtMostWide(640, column)))
	return p
}

func (p *settingsPage) Object() fyne.CanvasObject { return p.root }

func (p *settingsPage) Wants(ev app.Event) bool { return ev.Kind == app.EventAccount }

func (p *settingsPage) Load(ctx context.Context) func() {
	core := p.h.Core()
	id, err := core.Whoami(ctx)
	v := newSettingsView(id, err, core.Home(), core.Setting(ctx, settingTheme), core.Setting(ctx, settingPaused))
	return func() { p.show(v) }
}

func (p *settingsPage) Shown() {}

func (p *settingsPage) Hidden() {}

func (p *settingsPage) show(v settingsView) {
	p.view = v
	p.account.RemoveAll()
	for _, l := range v.Account {
		p.account.Add(widgets.NewStatRow(l.Label, l.Value))
	}
	sign := widgets.NewButton(lang.L("Sign in…"), nil, func() { showSignIn(p.h, p.h.Reload) })
	p.h.Mark("settings.signin", sign)
	buttons := container.NewHBox(sign)
	if !v.Sandbox {
		box := widgets.NewButton(lang.L("Use the sandbox"), nil, p.useSandbox)
		p.h.Mark("settings.sandbox", box)
		buttons.Add(box)
	}
	if v.SignedIn {
		out := widgets.NewButton(lang.L("Sign out"), nil, p.signOut)
		p.h.Mark("settings.signout", out)
		buttons.Add(out)
	}
	p.account.Add(buttons)
	p.themes.OnSelected = nil
	p.themes.Select(v.Theme)
	p.themes.OnSelected = p.setTheme
	if v.Paused {
		p.pause.SetText(lang.L("Resume notifications"))
	} else {
		p.pause.SetText(lang.L("Pause notifications"))
	}
}

func (p *settingsPage) setTheme(value string) {
	fyne.CurrentApp().Settings().SetTheme(widgets.NewTheme(themeMode(value), 1))
	p.save(settingTheme, value)
}

func themeMode(value string) widgets.Mode {
	for _, m := range themeModes {
		if m.value == value {
			return m.mode
		}
	}
	return widgets.ModeSystem
}

func (p *settingsPage) togglePause() {
	value := "yes"
	if p.view.Paused {
		value = ""
	}
	p.save(settingPaused, value)
}

func (p *settingsPage) save(key, value string) {
	p.h.Background(func(ctx context.Context) {
		if err := p.h.Core().SetSetting(ctx, key, value); err != nil {
			p.h.Do(func() { p.h.Fail(err) })
			return
		}
		p.h.Reload()
	})
}

func (p *settingsPage) useSandbox() {
	p.h.Background(func(ctx context.Context) {
		acc, err := p.h.Core().UseSandbox(ctx)
		p.h.Do(func() {
			if err != nil {
				p.h.Fail(err)
				return
			}
			p.h.Toast(fmt.Sprintf(lang.L("The sandbox is running; you are %s there."), acc.Username))
			p.h.Reload()
		})
	})
}

// signOut forgets the secret. The run log stays, so nothing is lost by it; it still asks, since the token has to be pasted again.
func (p *settingsPage) signOut() {
	s := p.h.(*shell)
	var m *modal
	yes := widgets.NewButton(lang.L("Sign out"), nil, func() {
		m.Hide()
		p.h.Background(func(ctx context.Context) {
			err := p.h.Core().SignOut(ctx)
			p.h.Do(func() {
				if err != nil {
					p.h.Fail(err)
					return
				}
				p.h.Toast(lang.L("Signed out. The run log was kept."))
				p.h.Go("first")
			})
		})
	})
	no := widgets.NewPrimary(lang.L("Stay"), nil, func() { m.Hide() })
	s.Mark("signout.yes", yes)
	m = s.showModal(lang.L("Sign out?"), widgets.Body(lang.L("The sign-in is removed from the keychain. Runs that are going at Kaggle go on; the run log and your files are kept.")).Wrapped(), 480, nil, yes, no)
	s.win.Canvas().Focus(no)
}
