package desktop

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// settingsPage is what a person may choose, in groups. Each choice is stored and holds at once; there is nothing to save.
type settingsPage struct {
	h      host
	root   *fyne.Container
	scroll *container.Scroll

	account         *fyne.Container
	verdict         *widgets.Text
	buttons         *fyne.Container
	sign, use, box  *focusButton
	out             *focusButton
	notices         map[string]*settingCheck
	pause           *focusButton
	pauseText       *widgets.Text
	themes          *widgets.FilterChips
	smaller, larger *focusButton
	normal          *focusButton
	percent         *widgets.Text
	closes          *widgets.FilterChips
	closeText       *widgets.Text
	login, collect  *settingCheck
	loginText       *widgets.Text
	home            *widgets.Text
	view            settingsView
	shown           bool
	asked           int          // questions to Kaggle; an answer to an older one is not shown
	begun, kept     atomic.Int64 // choices; what was read while one was being kept may be older than it
}

func newSettingsPage(h host) *settingsPage {
	p := &settingsPage{h: h, notices: map[string]*settingCheck{}}
	column := widgets.VBox(widgets.Gap12, p.accountCard(), p.noticeCard(), p.lookCard(), p.lifeCard(), p.dataCard())
	p.scroll = container.NewVScroll(widgets.Pad(0, barRoom, 0, 0, widgets.AtMostWide(640, column)))
	p.root = pageFrame(widgets.NewPageHeader(lang.L("Settings")), container.New(intoMargin{}, p.scroll))
	return p
}

func (p *settingsPage) accountCard() fyne.CanvasObject {
	p.account = widgets.VBox(0)
	p.verdict = widgets.NewText("", widgets.ColorMuted, widgets.SizeCaption, fyne.TextStyle{}).Wrapped()
	p.verdict.Hide()
	p.sign = p.button("settings.signin", lang.L("Sign in…"), func() { showSignIn(p.h, p.signedIn) })
	p.use = p.button("settings.import", lang.L("Import…"), func() { showImport(p.h, p.view.Found, p.signedIn) })
	p.box = p.button("settings.sandbox", lang.L("Use the sandbox"), p.useSandbox)
	p.out = p.button("settings.signout", lang.L("Sign out"), p.signOut)
	p.buttons = widgets.WrapRow(widgets.Gap8, p.sign, p.use, p.box, p.out)
	return widgets.NewCard(lang.L("Account"), nil, widgets.VBox(widgets.Gap8, p.account, p.verdict, p.buttons))
}

func (p *settingsPage) noticeCard() fyne.CanvasObject {
	list := widgets.VBox(0)
	for _, k := range app.NoticeKinds() {
		c := p.tick("settings.notice."+k.Kind, lang.L(k.Name), func(on bool) {
			p.store(func(ctx context.Context) error { return p.h.Core().SilenceNotices(ctx, k.Kind, !on) })
		})
		p.notices[k.Kind] = c
		list.Add(container.NewBorder(nil, nil, c, nil, widgets.Middle(widgets.Muted(lang.L(k.What)).Truncated())))
	}
	p.pause = p.button("settings.pause", "", func() {
		on := !p.view.Paused
		p.store(func(ctx context.Context) error { return p.h.Core().PauseNotices(ctx, on) })
	})
	p.pauseText = widgets.Muted("").Wrapped()
	return widgets.NewCard(lang.L("Notifications"), nil, widgets.VBox(widgets.Gap8,
		widgets.Muted(lang.L("Each event is told once, several after a sleep as one. What you switch off is not told later, and what you are looking at is not told at all.")).Wrapped(),
		list, p.pauseText, container.NewHBox(p.pause)))
}

func (p *settingsPage) lookCard() fyne.CanvasObject {
	var chips []widgets.Chip
	for _, m := range themeModes {
		chips = append(chips, widgets.Chip{Key: m.value, Text: lang.L(m.label)})
	}
	p.themes = p.chips("settings.theme.", chips)
	p.smaller = p.button("settings.text.smaller", lang.L("A−"), func() { p.setScale(p.view.Percent - scaleStep) })
	p.larger = p.button("settings.text.larger", lang.L("A+"), func() { p.setScale(p.view.Percent + scaleStep) })
	p.normal = p.button("settings.text.normal", lang.L("Normal size"), func() { p.setScale(100) })
	p.percent = widgets.Strong("")
	p.percent.Align = fyne.TextAlignCenter
	return widgets.NewCard(lang.L("Appearance"), nil, widgets.VBox(widgets.Gap12, p.themes,
		widgets.WrapRow(widgets.Gap8, widgets.Middle(widgets.Body(lang.L("Text size"))), p.smaller, widgets.AtLeast(56, 0, widgets.Middle(p.percent)), p.larger, p.normal), p.languageRow()))
}

func (p *settingsPage) lifeCard() fyne.CanvasObject {
	var chips []widgets.Chip
	for _, m := range closeModes {
		chips = append(chips, widgets.Chip{Key: m.value, Text: lang.L(m.label)})
	}
	p.closes = p.chips("settings.close.", chips)
	p.closeText = wrapped("")
	p.login = p.tick("settings.login", lang.L("Start at login"), func(on bool) {
		p.store(func(context.Context) error { return p.h.Core().SetAutostart(on) })
	})
	p.loginText = widgets.Muted(lang.L("It starts in the tray and watches; where nothing draws a tray, its window opens.")).Wrapped()
	return widgets.NewCard(lang.L("In the background"), nil, widgets.VBox(widgets.Gap8, widgets.Body(lang.L("When the window is closed")), p.closes, p.closeText, container.NewHBox(p.login), p.loginText))
}

func (p *settingsPage) dataCard() fyne.CanvasObject {
	p.collect = p.tick("settings.collect", lang.L("Fetch the results of a run when it has ended"), func(on bool) {
		value := "off"
		if on {
			value = ""
		}
		p.save(settingCollect, value)
	})
	p.home = wrapped("")
	open := p.button("settings.folder", lang.L("Open the folder"), func() { p.h.OpenURL(fileURL(p.view.Home)) })
	return widgets.NewCard(lang.L("Data"), nil, widgets.VBox(widgets.Gap8, container.NewHBox(p.collect),
		widgets.Muted(lang.L("Run log, logs of runs and the sandbox. Deleting this folder loses no training result.")).Wrapped(), p.home, container.NewHBox(open)))
}

func (p *settingsPage) button(mark, text string, tapped func()) *focusButton {
	b := newFocusButton(text, tapped)
	b.onFocus = func() { reveal(p.scroll, b) }
	p.h.Mark(mark, b)
	return b
}

func (p *settingsPage) tick(mark, text string, changed func(on bool)) *settingCheck {
	c := newSettingCheck(text, changed)
	c.onFocus = func() { reveal(p.scroll, c) }
	p.h.Mark(mark, c)
	return c
}

func (p *settingsPage) chips(mark string, chips []widgets.Chip) *widgets.FilterChips {
	f := widgets.NewFilterChips(chips...).Wrapped()
	f.OnFocus = func() { reveal(p.scroll, f) }
	for _, c := range chips {
		p.h.Mark(mark+c.Key, f.Chip(c.Key))
	}
	return f
}

func (p *settingsPage) Object() fyne.CanvasObject { return p.root }

func (p *settingsPage) Wants(ev app.Event) bool { return ev.Kind == app.EventAccount }

// Load reads what is on this computer. Kaggle is asked apart from it, since its answer may take long.
func (p *settingsPage) Load(ctx context.Context) func() {
	kept, begun := p.kept.Load(), p.begun.Load() // in this order: kept is never ahead
	f, err := readSettings(ctx, p.h.Core(), trayHost)
	v := newSettingsView(f, time.Now())
	return func() {
		p.h.Fail(err)
		if kept != begun || begun != p.begun.Load() {
			return // another reading follows
		}
		before := p.view.Account
		p.show(v)
		if !p.shown || len(before) == 0 || len(v.Account) == 0 || before[0] != v.Account[0] {
			p.ask()
		}
		p.shown = true
	}
}

func (p *settingsPage) Shown() { p.shown = false }

func (p *settingsPage) Hidden() {}

// ask lets Kaggle say whether the sign-in works.
func (p *settingsPage) ask() {
	p.asked++
	n := p.asked
	if !p.view.SignedIn {
		p.verdict.Hide()
		return
	}
	p.judge(verdict{lang.L("Asking whether it works…"), widgets.ColorMuted})
	p.h.Background(func(ctx context.Context) {
		id, err := p.h.Core().Whoami(ctx)
		p.h.Do(func() {
			if n == p.asked && ctx.Err() == nil {
				p.judge(newVerdict(id, err))
			}
		})
	})
}

func (p *settingsPage) judge(v verdict) {
	p.verdict.SetColor(v.Color)
	p.verdict.Set(v.Words)
	setVisible(p.verdict, v.Words != "")
}

func (p *settingsPage) show(v settingsView) {
	p.view = v
	p.account.RemoveAll()
	for i, l := range v.Account {
		row := widgets.NewStatRow(l.Label, l.Value)
		row.Last = i == len(v.Account)-1
		p.account.Add(row)
	}
	setVisible(p.use, len(v.Found) > 0)
	setVisible(p.box, !v.Sandbox)
	setVisible(p.out, v.SignedIn)
	p.buttons.Refresh()

	for _, n := range v.Notices {
		p.notices[n.Kind].set(n.On)
	}
	p.pauseText.Set(v.PauseText)
	setVisible(p.pauseText, v.PauseText != "")
	p.pause.SetText(lang.L("Pause for today"))
	if v.Paused {
		p.pause.SetText(lang.L("Resume notifications"))
	}

	choose(p.themes, v.Theme, p.setTheme)
	p.showScale()
	setVisible(p.closes, v.Close != "")
	choose(p.closes, v.Close, p.setClose)
	p.closeText.Set(v.CloseWhy)
	setVisible(p.closeText, v.CloseWhy != "")
	p.login.set(v.Login)
	if v.LoginWhy != "" {
		p.loginText.Set(v.LoginWhy)
		p.login.Disable()
	}
	p.collect.set(v.Collect)
	p.home.Set(v.Home)
}

// choose shows a stored choice without storing it again.
func choose(f *widgets.FilterChips, key string, chosen func(string)) {
	f.OnSelected = nil
	f.Select(key)
	f.OnSelected = chosen
}

func (p *settingsPage) showScale() {
	p.percent.Set(fmt.Sprintf("%d %%", p.view.Percent))
	enable(p.smaller, p.view.Percent > scaleLeast)
	enable(p.larger, p.view.Percent < scaleMost)
	enable(p.normal, p.view.Percent != 100)
}

func enable(b *focusButton, yes bool) {
	if yes {
		b.Enable()
	} else {
		b.Disable()
	}
}

func (p *settingsPage) setTheme(value string) {
	p.view.Theme = value
	setLook(fyne.CurrentApp(), value, p.view.Percent)
	p.save(settingTheme, value)
}

// setScale changes the size of all text at once and keeps it.
func (p *settingsPage) setScale(percent int) {
	p.view.Percent = min(max(percent, scaleLeast), scaleMost)
	p.showScale()
	setLook(fyne.CurrentApp(), p.view.Theme, p.view.Percent)
	p.save(settingScale, fmt.Sprint(p.view.Percent))
}

func (p *settingsPage) setClose(value string) {
	p.view.Close = value
	if value == closeModes[0].value {
		value = ""
	}
	p.save(settingOnClose, value)
}

func (p *settingsPage) save(key, value string) {
	p.store(func(ctx context.Context) error { return p.h.Core().SetSetting(ctx, key, value) })
}

// store keeps a choice and shows what holds then, which after a failure is the old one.
func (p *settingsPage) store(keep func(ctx context.Context) error) {
	p.begun.Add(1)
	p.h.Background(func(ctx context.Context) {
		err := keep(ctx)
		p.kept.Add(1)
		p.h.Do(func() {
			p.h.Fail(err)
			if s, ok := p.h.(*shell); ok {
				s.refreshSide() // the tray names the pause
			}
			p.h.Reload()
		})
	})
}

func (p *settingsPage) signedIn() {
	p.shown = false
	p.h.Reload()
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
			p.signedIn()
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
					p.signedIn()
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
