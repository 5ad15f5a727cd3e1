package desktop

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// Settings the window keeps in the run log.
const (
	settingTheme   = "window.theme"     // system, light, dark
	settingScale   = "window.textscale" // percent; "" = 100
	settingOnClose = "window.close"     // "" = ask, "hide", "quit"
	settingSize    = "window.size"      // "1180x760"
	settingCollect = "collect.auto"     // "off": outputs are fetched when asked for
)

// Text sizes in percent.
const (
	scaleLeast, scaleMost, scaleStep = 80, 160, 10
)

var themeModes = []struct {
	label, value string
	mode         widgets.Mode
}{
	{"As the system", "system", widgets.ModeSystem},
	{"Light", "light", widgets.ModeLight},
	{"Dark", "dark", widgets.ModeDark},
}

var closeModes = []struct{ label, value string }{
	{"Ask", "ask"},
	{"Keep watching in the tray", "hide"},
	{"Quit", "quit"},
}

func themeMode(value string) widgets.Mode {
	for _, m := range themeModes {
		if m.value == value {
			return m.mode
		}
	}
	return widgets.ModeSystem
}

// textScale reads a stored text size, in percent.
func textScale(value string) int {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 100
	}
	return min(max(n, scaleLeast), scaleMost)
}

// setLook puts a theme and a text size on every window.
func setLook(a fyne.App, theme string, percent int) {
	a.Settings().SetTheme(widgets.NewTheme(themeMode(theme), float32(percent)/100))
}

// settingsView is what the Settings page says.
type settingsView struct {
	Account  []ticketLine
	SignedIn bool
	Sandbox  bool
	Found    []app.Found // what the official program left here and could be used

	Notices   []noticeRow
	Paused    bool
	PauseText string

	Theme    string
	Percent  int
	Close    string // "" where nothing draws a tray
	CloseWhy string
	Login    bool
	LoginWhy string // why that is not known
	Collect  bool
	Home     string
}

// noticeRow is one kind of notification.
type noticeRow struct {
	Kind, Name, What string
	On               bool
}

// settingsFacts is what the view is made of, read off the UI thread.
type settingsFacts struct {
	account   app.Account
	noAccount error
	found     []app.Found
	choices   app.NoticeChoices
	stored    func(key string) string
	home      string
	tray      bool
	login     bool
	loginErr  error
}

func readSettings(ctx context.Context, core *app.App, tray func() bool) (settingsFacts, error) {
	f := settingsFacts{home: core.Home(), tray: tray(), stored: func(key string) string { return core.Setting(ctx, key) }}
	f.account, f.noAccount = core.Account(ctx)
	f.found = usable(core.FindCredentials(ctx))
	f.login, f.loginErr = core.Autostart()
	var err error
	f.choices, err = core.NoticeChoices(ctx)
	return f, err
}

func newSettingsView(f settingsFacts, now time.Time) settingsView {
	v := settingsView{Home: f.home, Theme: f.stored(settingTheme), Percent: textScale(f.stored(settingScale)), Login: f.login,
		Collect: f.stored(settingCollect) != "off", Found: f.found, Paused: !f.choices.PausedUntil.IsZero()}
	if v.Theme == "" {
		v.Theme = themeModes[0].value
	}
	v.fillAccount(f)
	for _, k := range app.NoticeKinds() {
		v.Notices = append(v.Notices, noticeRow{Kind: k.Kind, Name: lang.L(k.Name), What: lang.L(k.What), On: !f.choices.Silent[k.Kind]})
	}
	if v.Paused {
		v.PauseText = fmt.Sprintf(lang.L("Paused until %s. What happens meanwhile is not told later."), clock(f.choices.PausedUntil, now))
	}
	switch stored := f.stored(settingOnClose); {
	case !f.tray:
		v.CloseWhy = lang.L("Closing the window quits: nothing on this desktop draws a tray to close it to. While runs are in flight it asks first.")
		if stored == "quit" {
			v.CloseWhy = lang.L("Closing the window quits: nothing on this desktop draws a tray to close it to.")
		}
	case stored == "":
		v.Close = closeModes[0].value
	default:
		v.Close = stored
	}
	if f.loginErr != nil {
		v.LoginWhy = explain(f.loginErr).Sentence
	}
	return v
}

func (v *settingsView) fillAccount(f settingsFacts) {
	if f.noAccount != nil {
		line := ticketLine{lang.L("account"), lang.L("not signed in")}
		v.Account = []ticketLine{line}
		return
	}
	acc := f.account
	v.SignedIn, v.Sandbox = true, acc.Kind == "sandbox"
	where := acc.Endpoint
	switch {
	case where == "" && v.Sandbox:
		where = lang.L("this computer")
	case where == "":
		where = "kaggle.com"
	}
	v.Account = []ticketLine{{lang.L("signed in as"), acc.Username}, {lang.L("at"), where}, {lang.L("by"), authWords(acc.AuthKind)}, {lang.L("secret kept in"), storeWords(acc.Store)}}
}

// verdict is what asking Kaggle about the sign-in came to.
type verdict struct {
	Words string
	Color fyne.ThemeColorName
}

func newVerdict(id app.Identity, err error) verdict {
	switch {
	case err != nil:
		ex := explain(err)
		return verdict{strings.TrimSpace(ex.Sentence + " " + ex.Action), widgets.ColorBad}
	case id.Note != "":
		return verdict{id.Note, widgets.ColorWarning}
	case id.Verified && id.Kind == "sandbox":
		return verdict{lang.L("It answers."), widgets.ColorGood}
	case id.Verified:
		return verdict{lang.L("Kaggle accepts it."), widgets.ColorGood}
	}
	return verdict{}
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

// fileURL is a folder's address.
func fileURL(path string) string {
	if runtime.GOOS == "windows" {
		return "file:///" + strings.ReplaceAll(path, `\`, "/")
	}
	return "file://" + path
}
