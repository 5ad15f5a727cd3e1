package desktop

import (
	"fmt"
	"io"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
)

// exporter lets a chart store its picture or its data in a file that the person chooses.
func exporter(h host) func(name string, write func(io.Writer) error) {
	return func(name string, write func(io.Writer) error) {
		d := dialog.NewFileSave(func(f fyne.URIWriteCloser, err error) {
			if err != nil {
				h.Fail(fmt.Errorf("the chart was not saved: %w", err))
				return
			}
			if f == nil {
				return // cancelled
			}
			err = write(f)
			if cerr := f.Close(); err == nil {
				err = cerr
			}
			if err != nil {
				h.Fail(fmt.Errorf("the chart was not saved to %s: %w", f.URI().Path(), err))
				return
			}
			h.Toast(fmt.Sprintf(lang.L("Saved %s."), f.URI().Path()))
		}, h.Window())
		d.SetFileName(name)
		d.Resize(fyne.NewSize(760, 520))
		d.Show()
	}
}
