package widgets

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// luminance and contrast are WCAG 2.1's definitions.
func luminance(c color.NRGBA) float64 {
	f := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*f(c.R) + 0.7152*f(c.G) + 0.0722*f(c.B)
}

func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// over is what a translucent colour looks like on an opaque one.
func over(c, on color.NRGBA) color.NRGBA {
	m := func(x, y uint8) uint8 {
		return uint8(math.Round((float64(x)*float64(c.A) + float64(y)*float64(255-c.A)) / 255))
	}
	return color.NRGBA{R: m(c.R, on.R), G: m(c.G, on.G), B: m(c.B, on.B), A: 255}
}

func TestContrastOfEveryTextOnEverySurface(t *testing.T) {
	const least = 4.5
	for _, variant := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark} {
		th := &Theme{}
		get := func(n fyne.ThemeColorName) color.NRGBA { return nrgba(th.Color(n, variant)) }
		check := func(text, on color.NRGBA, what string) {
			if c := contrast(text, on); c < least {
				t.Errorf("variant %d: %s has a contrast of %.2f, want %.1f", variant, what, c, least)
			}
		}
		for _, text := range []fyne.ThemeColorName{ColorText, ColorMuted, ColorAccent, ColorGPU, ColorTPU, ColorCPU, ColorGood, ColorWarning, ColorBad} {
			for _, on := range []fyne.ThemeColorName{ColorBackground, ColorSurface} {
				check(get(text), get(on), string(text)+" on "+string(on))
			}
			pill := get(text)
			share := float64(badgeTint)
			pill.A = uint8(255 * share)
			check(get(text), over(pill, get(ColorSurface)), "a badge of "+string(text))
		}
		for _, on := range []fyne.ThemeColorName{ColorSidebar, ColorSelected, theme.ColorNameInputBackground, theme.ColorNameMenuBackground} {
			check(get(ColorText), get(on), "text on "+string(on))
			check(get(ColorMuted), get(on), "muted on "+string(on))
		}
		check(get(ColorOnAccent), get(ColorAccent), "the filled button")
		check(get(theme.ColorNamePlaceHolder), get(theme.ColorNameInputBackground), "a placeholder")
	}
}

func TestColoursAreThoseOfTheDesign(t *testing.T) {
	for _, c := range []struct {
		name        fyne.ThemeColorName
		light, dark uint32
	}{
		{ColorBackground, 0xFAFAF7, 0x16181C}, {ColorSurface, 0xFFFFFF, 0x1E2126}, {ColorBorder, 0xE4E2DC, 0x2E333B}, {ColorText, 0x1D1F23, 0xE8E6E1},
		{ColorMuted, 0x62666D, 0x9AA0A8}, {ColorAccent, 0x96610F, 0xE0A84A}, {ColorOnAccent, 0xFFFFFF, 0x1B1408}, {ColorGPU, 0x2A66D0, 0x6EA0FF},
		{ColorTPU, 0x7B4FD0, 0xB08CFF}, {ColorCPU, 0x5F6B7A, 0x93A0B0}, {ColorGood, 0x23784A, 0x5CC28C}, {ColorWarning, 0xA05F00, 0xF0A040}, {ColorBad, 0xC23B3B, 0xF07070},
	} {
		th := &Theme{}
		if got := nrgba(th.Color(c.name, theme.VariantLight)); got != hex(c.light) {
			t.Errorf("light %s = %v, want %06X", c.name, got, c.light)
		}
		if got := nrgba(th.Color(c.name, theme.VariantDark)); got != hex(c.dark) {
			t.Errorf("dark %s = %v, want %06X", c.name, got, c.dark)
		}
	}
}

func TestModeBeatsTheDesktop(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		v    fyne.ThemeVariant
		want uint32
	}{
		{ModeSystem, theme.VariantLight, 0xFAFAF7}, {ModeSystem, theme.VariantDark, 0x16181C},
		{ModeLight, theme.VariantDark, 0xFAFAF7}, {ModeDark, theme.VariantLight, 0x16181C},
	} {
		if got := nrgba(NewTheme(c.mode, 1).Color(ColorBackground, c.v)); got != hex(c.want) {
			t.Errorf("mode %d on variant %d = %v, want %06X", c.mode, c.v, got, c.want)
		}
	}
}

func TestBothPalettesHaveTheSameNames(t *testing.T) {
	for n := range light {
		if _, ok := dark[n]; !ok {
			t.Errorf("the dark palette has no %s", n)
		}
	}
	if len(light) != len(dark) {
		t.Errorf("%d light colours, %d dark ones", len(light), len(dark))
	}
}

func TestTextScaleNeverGoesUnderEleven(t *testing.T) {
	small, big := NewTheme(ModeLight, 0.1), NewTheme(ModeLight, 9)
	for _, n := range []fyne.ThemeSizeName{SizeBody, SizeCaption, SizeMono, SizeTitle, SizeNumber} {
		if s := small.Size(n); s < 11 {
			t.Errorf("%s is %g at the smallest scale", n, s)
		}
		if big.Size(n) > 1.6*NewTheme(ModeLight, 1).Size(n)+0.01 {
			t.Errorf("%s grows without bound", n)
		}
	}
	if got := NewTheme(ModeLight, 0).Size(SizeNumber); got != 34 {
		t.Errorf("the big number is %g, want 34", got)
	}
}
