package desktop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"
	"github.com/pkg/browser"

	"sandglass/app"
	"sandglass/widgets"
)

// modal is a dialog with a title, a body and its own buttons, which Escape closes: Fyne's dialogs do not take the key themselves.
type modal struct {
	*dialog.CustomDialog
	closed func()
}

// showModal opens a dialog of the given width. closed, when not nil, runs once when it is gone, however that happened.
func (s *shell) showModal(title string, body fyne.CanvasObject, width float32, closed func(), buttons ...fyne.CanvasObject) *modal {
	m := &modal{CustomDialog: dialog.NewCustomWithoutButtons(title, container.NewPadded(body), s.win)}
	m.SetButtons(buttons)
	m.closed = closed
	s.dialogs++
	s.modals = append(s.modals, m)
	m.SetOnClosed(func() {
		s.dialogs--
		for i, o := range s.modals {
			if o == m {
				s.modals = append(s.modals[:i], s.modals[i+1:]...)
				break
			}
		}
		if closed != nil {
			closed()
		}
		s.writeState()
	})
	m.Resize(fyne.NewSize(width, 0))
	m.Show()
	s.writeState()
	return m
}

// Fail shows an error: a title, a sentence, what to do, and the details behind a fold, redacted and ready to copy.
func (s *shell) Fail(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	ex := explain(err)
	s.log.Warn("shown to the person", "title", ex.Title, "err", err)
	body := container.NewVBox(wrapped(ex.Sentence))
	if ex.Action != "" {
		body.Add(wrapped(ex.Action))
	}
	if ex.Details != "" {
		details := widget.NewLabel(ex.Details)
		details.Wrapping = fyne.TextWrapBreak
		details.TextStyle = fyne.TextStyle{Monospace: true}
		body.Add(widget.NewAccordion(widget.NewAccordionItem(lang.L("Details"), container.New(maxHeight(160), container.NewVScroll(details)))))
	}
	var m *modal
	report := widgets.NewButton(lang.L("Copy report"), nil, func() {
		fyne.CurrentApp().Clipboard().SetContent(strings.Join([]string{ex.Title, ex.Sentence, ex.Action, ex.Details}, "\n"))
		s.Toast(lang.L("Copied."))
	})
	ok := widgets.NewPrimary(lang.L("Close"), nil, func() { m.Hide() })
	s.Mark("dialog.close", ok)
	m = s.showModal(ex.Title, body, 520, nil, report, ok)
	s.win.Canvas().Focus(ok)
}

// maxHeight lays out one object at its width and a fixed height.
type maxHeight float32

func (h maxHeight) MinSize(objects []fyne.CanvasObject) fyne.Size { return fyne.NewSize(0, float32(h)) }

func (h maxHeight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Move(fyne.NewPos(0, 0))
		o.Resize(size)
	}
}

// keychainChoice asks where to keep the secret when there is no keychain: in memory until Sandglass quits, or in a file.
func keychainChoice(s *shell, err error, again func(store string)) {
	ex := explain(err)
	var m *modal
	memory := widgets.NewPrimary(lang.L("Until I quit"), nil, func() { m.Hide(); again("memory") })
	file := widgets.NewButton(lang.L("In a file only I can read"), nil, func() { m.Hide(); again("file") })
	stop := widgets.NewButton(lang.L("Cancel"), nil, func() { m.Hide() })
	s.Mark("keychain.memory", memory)
	s.Mark("keychain.file", file)
	m = s.showModal(lang.L("No keychain"), container.NewVBox(wrapped(ex.Sentence),
		wrapped(lang.L("Sandglass can remember the sign-in until it is closed, or write it to a file in its own folder that only your user can read."))), 520, nil, stop, file, memory)
}

// showSignIn asks for a token or a key, or opens the browser. done runs after a sign-in that worked.
func showSignIn(h host, done func()) {
	s := h.(*shell)
	box := newSecretEntry(h, lang.L("KGAT_…, user:key, or the text of kaggle.json"))
	hint := widgets.NewText("", widgets.ColorBad, widgets.SizeCaption, fyne.TextStyle{}).Wrapped()
	hint.Hide()
	busy := newWork(h)
	ctx, cancel := context.WithCancel(context.Background())
	var m *modal
	var try func(store string)
	ok := widgets.NewPrimary(lang.L("Sign in"), nil, func() { try("") })
	web := widgets.NewButton(lang.L("Use the browser…"), nil, func() { m.Hide(); showBrowserSignIn(s, done) })
	stop := widgets.NewButton(lang.L("Cancel"), nil, func() { m.Hide() })
	try = func(store string) {
		ok.Disable()
		hint.Hide()
		busy.start(lang.L("Asking Kaggle whose it is"), nil)
		text := box.Text
		h.Background(func(life context.Context) {
			defer context.AfterFunc(life, cancel)()
			acc, err := h.Core().SignIn(ctx, app.SignIn{Text: text, Store: store})
			h.Do(func() {
				busy.finish()
				ok.Enable()
				switch {
				case ctx.Err() != nil:
				case app.NeedsStore(err):
					keychainChoice(s, err, try)
				case err != nil:
					ex := explain(err)
					hint.Set(ex.Sentence + " " + ex.Action)
					hint.Show()
				default:
					m.Hide()
					h.Toast(fmt.Sprintf(lang.L("Signed in as %s."), acc.Username))
					done()
				}
			})
		})
	}
	box.OnSubmitted = func(string) { try("") }
	h.Mark("signin.text", box)
	h.Mark("signin.ok", ok)
	h.Mark("signin.browser", web)
	h.Mark("signin.cancel", stop)
	m = s.showModal(lang.L("Sign in to Kaggle"), container.NewVBox(
		wrapped(lang.L("On kaggle.com open Settings, API, and create a token. Paste it here; it goes into your system keychain and nowhere else.")),
		box, hint, busy.box), 560, cancel, stop, web, ok)
	s.win.Canvas().Focus(box)
}

// showBrowserSignIn waits for the browser, and takes a pasted code where the browser cannot come back.
func showBrowserSignIn(s *shell, done func()) {
	ctx, cancel := context.WithCancel(context.Background())
	login, err := s.core.BrowserSignIn(ctx)
	if err != nil {
		cancel()
		s.Fail(err)
		return
	}
	code := newEntry(s, lang.L("code from the page, when the browser is on another computer"))
	busy := newWork(s)
	busy.start(lang.L("Waiting for the browser"), nil)
	var m *modal
	var finish func(acc app.Account, err error)
	keep := func(store string) {
		s.Background(func(life context.Context) { finish(login.Keep(life, store)) })
	}
	finish = func(acc app.Account, err error) {
		s.do(func() {
			if app.NeedsStore(err) { // signed in, but there is no keychain: the person says where to keep it
				keychainChoice(s, err, keep)
				return
			}
			if ctx.Err() != nil {
				return
			}
			m.Hide()
			if err != nil {
				s.Fail(err)
				return
			}
			s.Toast(fmt.Sprintf(lang.L("Signed in as %s."), acc.Username))
			done()
		})
	}
	use := widgets.NewPrimary(lang.L("Use the code"), nil, func() {
		text := strings.TrimSpace(code.Text)
		if text == "" {
			return
		}
		s.Background(func(context.Context) { finish(login.Code(ctx, text)) })
	})
	again := widgets.NewButton(lang.L("Open the page for a code"), nil, func() { s.OpenURL(login.PasteURL) })
	stop := widgets.NewButton(lang.L("Cancel"), nil, func() { m.Hide() })
	s.Mark("browser.cancel", stop)
	m = s.showModal(lang.L("Sign in with the browser"), container.NewVBox(
		wrapped(lang.L("A page of kaggle.com opens. When you agree there, this window goes on by itself.")), busy.box, code), 560,
		func() { busy.finish(); cancel(); login.Close() }, stop, again, use)
	s.OpenURL(login.URL)
	s.Background(func(life context.Context) {
		defer context.AfterFunc(life, cancel)()
		finish(login.Wait(ctx))
	})
}

// OpenURL opens a page in the person's browser, or says what to do when there is none.
func (s *shell) OpenURL(url string) {
	s.Background(func(context.Context) {
		if err := browser.OpenURL(url); err != nil {
			s.do(func() {
				fyne.CurrentApp().Clipboard().SetContent(url)
				s.Toast(lang.L("No browser could be opened; the address is in the clipboard."))
			})
		}
	})
}

// showImport asks before anything that the official CLI left here is copied into the keychain.
func showImport(h host, found []app.Found, done func()) {
	s := h.(*shell)
	found = usable(found)
	if len(found) == 0 {
		return
	}
	labels := make([]string, len(found))
	for i, f := range found {
		labels[i] = f.Where
		if f.Username != "" {
			labels[i] = f.Username + " · " + f.Where
		}
	}
	pick := widget.NewRadioGroup(labels, nil)
	pick.SetSelected(labels[0])
	pick.Required = true
	var m *modal
	var try func(store string)
	try = func(store string) {
		f := found[0]
		for i, l := range labels {
			if l == pick.Selected {
				f = found[i]
			}
		}
		h.Background(func(ctx context.Context) {
			acc, err := h.Core().Import(ctx, f, store)
			h.Do(func() {
				m.Hide()
				switch {
				case app.NeedsStore(err):
					keychainChoice(s, err, try)
				case err != nil:
					h.Fail(err)
				default:
					h.Toast(fmt.Sprintf(lang.L("Signed in as %s."), acc.Username))
					done()
				}
			})
		})
	}
	ok := widgets.NewPrimary(lang.L("Copy into the keychain"), nil, func() { try("") })
	stop := widgets.NewButton(lang.L("Cancel"), nil, func() { m.Hide() })
	h.Mark("import.ok", ok)
	m = s.showModal(lang.L("Use what is here"), container.NewVBox(
		wrapped(lang.L("Sandglass copies the sign-in into your system keychain. The file stays as it is.")), pick), 520, nil, stop, ok)
}
