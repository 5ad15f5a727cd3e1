package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// SliderTheme is the look of a slider on a card: Fyne's own draws its track in the colour of an input's background, which on a card
// is that of the card. Put the slider into a container.NewThemeOverride with it.
func SliderTheme() fyne.Theme { return sliderTheme{} }

type sliderTheme struct{}

func (sliderTheme) now() fyne.Theme { return fyne.CurrentApp().Settings().Theme() }

func (t sliderTheme) Color(name fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	switch name {
	case theme.ColorNameInputBackground:
		name = ColorTrack
	case theme.ColorNameForeground:
		name = ColorAccent
	}
	return t.now().Color(name, v)
}
func (t sliderTheme) Font(s fyne.TextStyle) fyne.Resource     { return t.now().Font(s) }
func (t sliderTheme) Icon(n fyne.ThemeIconName) fyne.Resource { return t.now().Icon(n) }
func (t sliderTheme) Size(n fyne.ThemeSizeName) float32       { return t.now().Size(n) }
