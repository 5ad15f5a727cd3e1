package desktop

import (
	"context"
	"fmt"
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"

	"sandglass/app"
	"sandglass/widgets"
)

// firstPage is the three doors a newcomer sees: the sandbox, signing in, what the official CLI left on this computer.
type firstPage struct {
	h      host
	root   *fyne.Container
	doors  *fyne.Container
	busy   *work
	found  []app.Found
	here   *widgets.Text
	use    *widgets.Button
	cancel context.CancelFunc
}

func newFirstPage(h host) *firstPage {
	p := &firstPage{h: h}
	try := widgets.NewPrimary(lang.L("Try the sandbox"), nil, p.trySandbox)
	sign := widgets.NewButton(lang.L("Sign in…"), nil, func() { showSignIn(h, func() { h.Go("week") }) })
	p.use = widgets.NewButton(lang.L("Import…"), nil, func() { showImport(h, p.found, func() { h.Go("week") }) })
	p.use.Disable()
	p.here = wrapped(lang.L("Looking for what the Kaggle command-line program left on this computer…"))
	h.Mark("first.sandbox", try)
	h.Mark("first.signin", sign)
	h.Mark("first.import", p.use)

	p.doors = container.New(&doorLayout{width: 264, gap: 18},
		door(widgets.IconBox, widgets.ColorAccent, lang.L("Try the sandbox"), wrapped(lang.L("A Kaggle on this computer with its own quota and queue. See a run from push to learning curve in two minutes. No account.")), try, true),
		door(widgets.IconKey, widgets.ColorMuted, lang.L("Sign in"), wrapped(lang.L("Paste an API token or a kaggle.json, or use the browser. Kept in your system keychain, nowhere else.")), sign, false),
		door(widgets.IconDownload, widgets.ColorMuted, lang.L("Use what is here"), p.here, p.use, false),
	)
	p.busy = newWork(h)
	h.Mark("first.cancel", p.busy.box)

	logo := container.NewCenter(widgets.NewIcon(widgets.IconHourglass, widgets.ColorAccent, 56))
	name := widgets.NewText("Sandglass", "", theme.SizeNameHeadingText, fyne.TextStyle{Bold: true})
	line := widgets.Muted(lang.L("Spend Kaggle's free GPU and TPU hours so that none is wasted."))
	foot := widgets.Caption(lang.L("You can change this later in Settings."))
	for _, t := range []*widgets.Text{name, line, foot} {
		t.Align = fyne.TextAlignCenter
	}
	p.root = container.NewStack(container.NewVScroll(container.NewCenter(widgets.VBox(widgets.Gap8, logo, name, line, widgets.FixedHeight(widgets.Gap16, canvas.NewRectangle(color.Transparent)), p.doors, widgets.FixedHeight(widgets.Gap4, canvas.NewRectangle(color.Transparent)), foot, container.NewCenter(p.busy.box)))))
	return p
}

// door is one choice: icon, title, sentence, button at the foot.
func door(icon widgets.Icon, tint fyne.ThemeColorName, title string, text fyne.CanvasObject, action fyne.CanvasObject, first bool) fyne.CanvasObject {
	head := widgets.VBox(widgets.Gap8, container.NewHBox(widgets.NewIcon(icon, tint, 26)),
		widgets.NewText(title, "", theme.SizeNameSubHeadingText, fyne.TextStyle{Bold: true}))
	card := widgets.NewCard("", nil, widgets.Pad(8, 8, 8, 8, container.NewBorder(head, action, nil, nil, widgets.Pad(8, 0, 8, 0, text))))
	if first {
		card.SetBorder(widgets.ColorAccent)
	}
	return card
}

// doorLayout gives the doors one width and the height of the tallest, side by side.
type doorLayout struct{ width, gap float32 }

func (l *doorLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var h float32 = 228
	for _, o := range objects {
		h = fyne.Max(h, o.MinSize().Height)
	}
	n := float32(len(objects))
	return fyne.NewSize(n*l.width+(n-1)*l.gap, h)
}

func (l *doorLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for i, o := range objects {
		o.Move(fyne.NewPos(float32(i)*(l.width+l.gap), 0))
		o.Resize(fyne.NewSize(l.width, size.Height))
	}
}

func (p *firstPage) Object() fyne.CanvasObject { return p.root }

func (p *firstPage) Wants(ev app.Event) bool { return ev.Kind == app.EventAccount }

func (p *firstPage) Load(ctx context.Context) func() {
	found := p.h.Core().FindCredentials(ctx)
	return func() {
		p.found = found
		p.here.Set(foundSentence(found))
		if len(usable(found)) > 0 {
			p.use.Enable()
		} else {
			p.use.Disable()
		}
	}
}

func (p *firstPage) Shown() {}

func (p *firstPage) Hidden() { p.stop() }

func (p *firstPage) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
}

// usable leaves out what was found and cannot be read.
func usable(found []app.Found) []app.Found {
	var out []app.Found
	for _, f := range found {
		if f.Problem == "" {
			out = append(out, f)
		}
	}
	return out
}

// foundSentence says what is on this computer, in the words of the third door.
func foundSentence(found []app.Found) string {
	good := usable(found)
	if len(good) == 0 {
		if len(found) > 0 {
			return fmt.Sprintf(lang.L("Found %s, but it cannot be used: %s"), found[0].Where, said(found[0].Problem))
		}
		return lang.L("Nothing of the Kaggle command-line program was found on this computer: no kaggle.json, no access token.")
	}
	var names []string
	for _, f := range good {
		if f.Username != "" {
			names = append(names, f.Where+lang.L(" for ")+f.Username)
		} else {
			names = append(names, f.Where)
		}
	}
	return fmt.Sprintf(lang.L("Found %s. Copy it into the keychain; the file stays as it is."), strings.Join(names, ", "))
}

// trySandbox leads to the demo run without another question.
func (p *firstPage) trySandbox() {
	p.stop()
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.busy.start(lang.L("Starting the sandbox"), cancel)
	p.h.Background(func(life context.Context) {
		stop := context.AfterFunc(life, cancel)
		defer stop()
		run, err := p.h.Core().StartDemo(ctx, func(pr app.Progress) {
			p.h.Do(func() { p.busy.step(progressText(pr), pr.Done, pr.Total) })
		})
		p.h.Do(func() {
			p.busy.finish()
			p.cancel = nil
			switch {
			case ctx.Err() != nil:
				p.h.Toast(lang.L("Stopped. Nothing was started."))
			case err != nil:
				p.h.Fail(err)
			default:
				p.h.OpenRun(run.ID)
			}
		})
	})
}

func progressText(p app.Progress) string {
	if p.Item != "" {
		return said(p.Stage) + " " + said(p.Item)
	}
	return said(p.Stage)
}
