// Package widgets holds the Fyne widgets that any screen may use. They know how things look and nothing of what they mean: no
// widget here has heard of Kaggle.
//
// Start at theme.go: every colour and size comes from it, by name. Text (text.go) is how words are set, Card is where they stand,
// Chart shows what package charts draws. State lives on the widget, callbacks are OnX fields, and a renderer starts nothing,
// because Fyne makes and destroys renderers as it likes.
package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Mode is which of the two palettes a theme uses.
type Mode int

// Modes of a Theme.
const (
	ModeSystem Mode = iota // as the desktop says
	ModeLight
	ModeDark
)

// Semantic colour names beyond Fyne's own. Colour never carries meaning alone: whoever uses one of these adds a word or a shape.
const (
	ColorText       = theme.ColorNameForeground
	ColorBackground = theme.ColorNameBackground
	ColorBorder     = theme.ColorNameSeparator
	ColorAccent     = theme.ColorNamePrimary
	ColorOnAccent   = theme.ColorNameForegroundOnPrimary
	ColorGood       = theme.ColorNameSuccess
	ColorWarning    = theme.ColorNameWarning
	ColorBad        = theme.ColorNameError

	ColorSurface  fyne.ThemeColorName = "surface"  // cards
	ColorMuted    fyne.ThemeColorName = "muted"    // secondary words
	ColorSidebar  fyne.ThemeColorName = "sidebar"  // behind the navigation
	ColorTrack    fyne.ThemeColorName = "track"    // the empty part of a bar
	ColorSelected fyne.ThemeColorName = "selected" // the chosen item of a list or a sidebar
	ColorGPU      fyne.ThemeColorName = "gpu"
	ColorTPU      fyne.ThemeColorName = "tpu"
	ColorCPU      fyne.ThemeColorName = "cpu"
)

// Sizes beyond Fyne's own. Captions are theme.SizeNameCaptionText, body text is theme.SizeNameText.
const (
	SizeTitle                      = theme.SizeNameHeadingText // page title
	SizeBody                       = theme.SizeNameText        //
	SizeCaption                    = theme.SizeNameCaptionText //
	SizeNumber  fyne.ThemeSizeName = "bigNumber"               // the number a card is about
	SizeMono    fyne.ThemeSizeName = "mono"                    // logs and code
	SizeRadius  fyne.ThemeSizeName = "cardRadius"              //
)

// Spaces of the 4-unit grid.
const (
	Gap4  float32 = 4
	Gap8  float32 = 8
	Gap12 float32 = 12
	Gap16 float32 = 16
	Gap24 float32 = 24
)

type palette map[fyne.ThemeColorName]color.NRGBA

func hex(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

func alpha(c color.NRGBA, a uint8) color.NRGBA { c.A = a; return c }

var light = palette{
	theme.ColorNameBackground:          hex(0xFAFAF7),
	ColorSurface:                       hex(0xFFFFFF),
	ColorBorder:                        hex(0xE4E2DC),
	ColorText:                          hex(0x1D1F23),
	ColorMuted:                         hex(0x62666D),
	ColorAccent:                        hex(0x96610F),
	ColorOnAccent:                      hex(0xFFFFFF),
	ColorGPU:                           hex(0x2A66D0),
	ColorTPU:                           hex(0x7B4FD0),
	ColorCPU:                           hex(0x5F6B7A),
	ColorGood:                          hex(0x23784A),
	ColorWarning:                       hex(0xA05F00),
	ColorBad:                           hex(0xC23B3B),
	ColorSidebar:                       hex(0xF3F2ED),
	ColorTrack:                         hex(0xECE9E1),
	ColorSelected:                      hex(0xEAE8E1),
	theme.ColorNameButton:              hex(0xFFFFFF),
	theme.ColorNameDisabledButton:      hex(0xF3F2ED),
	theme.ColorNameDisabled:            hex(0x8A8D92),
	theme.ColorNamePlaceHolder:         hex(0x62666D),
	theme.ColorNameInputBackground:     hex(0xFFFFFF),
	theme.ColorNameInputBorder:         hex(0xD3D0C8),
	theme.ColorNameHyperlink:           hex(0x96610F),
	theme.ColorNameFocus:               alpha(hex(0x96610F), 0x40),
	theme.ColorNameSelection:           alpha(hex(0x96610F), 0x38),
	theme.ColorNameHover:               alpha(hex(0x1D1F23), 0x0D),
	theme.ColorNamePressed:             alpha(hex(0x1D1F23), 0x1A),
	theme.ColorNameMenuBackground:      hex(0xFFFFFF),
	theme.ColorNameOverlayBackground:   hex(0xFFFFFF),
	theme.ColorNameHeaderBackground:    hex(0xFFFFFF),
	theme.ColorNameScrollBar:           alpha(hex(0x1D1F23), 0x55),
	theme.ColorNameScrollBarBackground: alpha(hex(0x1D1F23), 0x08),
	theme.ColorNameShadow:              alpha(hex(0x000000), 0x22),
	theme.ColorNameForegroundOnError:   hex(0xFFFFFF),
	theme.ColorNameForegroundOnSuccess: hex(0xFFFFFF),
	theme.ColorNameForegroundOnWarning: hex(0xFFFFFF),
}

var dark = palette{
	theme.ColorNameBackground:          hex(0x16181C),
	ColorSurface:                       hex(0x1E2126),
	ColorBorder:                        hex(0x2E333B),
	ColorText:                          hex(0xE8E6E1),
	ColorMuted:                         hex(0x9AA0A8),
	ColorAccent:                        hex(0xE0A84A),
	ColorOnAccent:                      hex(0x1B1408),
	ColorGPU:                           hex(0x6EA0FF),
	ColorTPU:                           hex(0xB08CFF),
	ColorCPU:                           hex(0x93A0B0),
	ColorGood:                          hex(0x5CC28C),
	ColorWarning:                       hex(0xF0A040),
	ColorBad:                           hex(0xF07070),
	ColorSidebar:                       hex(0x1A1C21),
	ColorTrack:                         hex(0x262A31),
	ColorSelected:                      hex(0x282D33),
	theme.ColorNameButton:              hex(0x1E2126),
	theme.ColorNameDisabledButton:      hex(0x1A1C21),
	theme.ColorNameDisabled:            hex(0x6F757D),
	theme.ColorNamePlaceHolder:         hex(0x9AA0A8),
	theme.ColorNameInputBackground:     hex(0x1A1C21),
	theme.ColorNameInputBorder:         hex(0x3B414A),
	theme.ColorNameHyperlink:           hex(0xE0A84A),
	theme.ColorNameFocus:               alpha(hex(0xE0A84A), 0x40),
	theme.ColorNameSelection:           alpha(hex(0xE0A84A), 0x38),
	theme.ColorNameHover:               alpha(hex(0xFFFFFF), 0x0F),
	theme.ColorNamePressed:             alpha(hex(0xFFFFFF), 0x22),
	theme.ColorNameMenuBackground:      hex(0x23272D),
	theme.ColorNameOverlayBackground:   hex(0x1E2126),
	theme.ColorNameHeaderBackground:    hex(0x1E2126),
	theme.ColorNameScrollBar:           alpha(hex(0xFFFFFF), 0x55),
	theme.ColorNameScrollBarBackground: alpha(hex(0xFFFFFF), 0x08),
	theme.ColorNameShadow:              alpha(hex(0x000000), 0x55),
	theme.ColorNameForegroundOnError:   hex(0x1B1408),
	theme.ColorNameForegroundOnSuccess: hex(0x1B1408),
	theme.ColorNameForegroundOnWarning: hex(0x1B1408),
}

// Theme is Sandglass's look. The zero value follows the desktop's light or dark setting at normal text size. A Theme is not
// changed once it is in use; set a new one.
type Theme struct {
	Mode      Mode
	TextScale float32 // 0 or 1 = normal; kept within 0.8 and 1.6
}

var _ fyne.Theme = (*Theme)(nil)

// NewTheme makes a theme.
func NewTheme(mode Mode, textScale float32) *Theme { return &Theme{Mode: mode, TextScale: textScale} }

// Dark says which palette is used when the desktop asks for v.
func (t *Theme) Dark(v fyne.ThemeVariant) bool {
	return t.Mode == ModeDark || t.Mode == ModeSystem && v == theme.VariantDark
}

// Color implements fyne.Theme.
func (t *Theme) Color(name fyne.ThemeColorName, v fyne.ThemeVariant) color.Color {
	p, variant := light, theme.VariantLight
	if t.Dark(v) {
		p, variant = dark, theme.VariantDark
	}
	if c, ok := p[name]; ok {
		return c
	}
	return theme.DefaultTheme().Color(name, variant)
}

// Font implements fyne.Theme.
func (t *Theme) Font(s fyne.TextStyle) fyne.Resource { return theme.DefaultTheme().Font(s) }

// Icon implements fyne.Theme.
func (t *Theme) Icon(name fyne.ThemeIconName) fyne.Resource { return theme.DefaultTheme().Icon(name) }

func (t *Theme) scale() float32 {
	if t.TextScale == 0 {
		return 1
	}
	return min(max(t.TextScale, 0.8), 1.6)
}

// Grown is a length that was drawn for normal text, at the text's size: what holds words grows with them. Small text makes
// nothing smaller, since a pointer has to hit it.
func Grown(units float32) float32 { return units * max(1, theme.TextSize()/14) }

// Size implements fyne.Theme. Text sizes follow TextScale but no text is under 11.
func (t *Theme) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText, theme.SizeNameSubHeadingText:
		return max(11, 14*t.scale())
	case SizeTitle:
		return 22 * t.scale()
	case SizeCaption:
		return max(11, 12*t.scale())
	case SizeNumber:
		return 34 * t.scale()
	case SizeMono:
		return max(11, 13*t.scale())
	case SizeRadius:
		return 8
	case theme.SizeNameInputRadius, theme.SizeNameSelectionRadius:
		return 6
	case theme.SizeNameInnerPadding:
		return 6
	case theme.SizeNamePadding:
		return 4
	case theme.SizeNameLineSpacing:
		return 4
	case theme.SizeNameInlineIcon:
		return 16 * max(1, t.scale())
	case theme.SizeNameSeparatorThickness, theme.SizeNameInputBorder:
		return 1
	case theme.SizeNameScrollBar:
		return 10
	}
	return theme.DefaultTheme().Size(name)
}

// tint is a colour at a share of its strength, for the background of a badge or a reserved stretch.
func tint(name fyne.ThemeColorName, share float64) color.NRGBA {
	c := nrgba(theme.Color(name))
	c.A = uint8(255 * share)
	return c
}

func nrgba(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }
