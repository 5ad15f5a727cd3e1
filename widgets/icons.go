package widgets

import (
	"fmt"

	"fyne.io/fyne/v2"
)

func svg(name, body string) *fyne.StaticResource {
	return fyne.NewStaticResource(name+".svg", fmt.Appendf(nil,
		`<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">%s</svg>`, body))
}

// shapes are filled outlines, because recolouring replaces fills.
var shapes = map[Shape]*fyne.StaticResource{
	ShapeDot:    svg("dot", `<path fill="#000" d="M12 4a8 8 0 1 1 0 16a8 8 0 1 1 0-16z"/>`),
	ShapePlay:   svg("play", `<path fill="#000" d="M5 2v20l17-10z"/>`),
	ShapeClock:  svg("clock", `<path fill="#000" fill-rule="evenodd" d="M12 1a11 11 0 1 1 0 22a11 11 0 1 1 0-22zM12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16zM10.6 6h2.8v5.4l4 3l-1.7 2.2l-5.1-3.8z"/>`),
	ShapeCheck:  svg("check", `<path fill="#000" d="M9.2 20.5L1.5 12.8l2.6-2.6l5.1 5.1L20 4.500l2.600 2.600z"/>`),
	ShapeCross:  svg("cross", `<path fill="#000" d="M4.600 2L12 9.400L19.400 2L22 4.600L14.600 12L22 19.400L19.400 22L12 14.600L4.600 22L2 19.400L9.400 12L2 4.600z"/>`),
	ShapeSquare: svg("square", `<path fill="#000" d="M3 3h18v18H3z"/>`),
	ShapeBang:   svg("bang", `<path fill="#000" fill-rule="evenodd" d="M12 1L24 22H0zM10.700 8h2.600v7h-2.600zM10.700 16.500h2.600v2.600h-2.600z"/>`),
	ShapeRing:   svg("ring", `<path fill="#000" fill-rule="evenodd" d="M12 2a10 10 0 1 1 0 20a10 10 0 1 1 0-20zM12 5a7 7 0 1 0 0 14a7 7 0 1 0 0-14z"/>`),
}

// Icon is a drawn symbol that follows the theme: use it with theme.NewColoredResource or an IconView.
type Icon int

// The symbols.
const (
	IconHourglass Icon = iota
	IconWeek
	IconRuns
	IconPlan
	IconExperiments
	IconSettings
	IconPlus
	IconRefresh
	IconBack
	IconExternal
	IconStop
	IconDownload
	IconFolder
	IconCopy
	IconSearch
	IconWarning
	IconCheck
	IconInfo
	IconCross
	IconKey
	IconBox
	IconBell
	IconMore
)

// Resource is the symbol's drawing, black; colour it with theme.NewColoredResource or theme.NewThemedResource.
func (i Icon) Resource() fyne.Resource {
	if r, ok := icons[i]; ok {
		return r
	}
	return icons[IconInfo]
}

var icons = map[Icon]*fyne.StaticResource{
	IconHourglass:   svg("hourglass", `<path fill="#000" fill-rule="evenodd" d="M5 1h14v3h-1v3.500c0 2-3 3.200-3.700 4.500c.7 1.300 3.700 2.500 3.700 4.500V20h1v3H5v-3h1v-3.500c0-2 3-3.200 3.700-4.500C9 10.700 6 9.500 6 7.500V4H5zM8 4v3.300c0 1.200 4 2.700 4 4.700c0-2 4-3.500 4-4.700V4zM8 20h8v-3.300c0-1.200-4-2.700-4-4.700c0 2-4 3.500-4 4.700z"/>`),
	IconWeek:        svg("week", `<path fill="#000" d="M3 3h2v16h16v2H3zM7.300 15.300L6 13.900l4.500-5l3.500 3l4.600-6.100l1.600 1.200l-6 7.900l-3.500-3z"/>`),
	IconRuns:        svg("runs", `<path fill="#000" d="M3 5h18v2H3zM3 11h13v2H3zM3 17h18v2H3z"/>`),
	IconPlan:        svg("plan", `<path fill="#000" fill-rule="evenodd" d="M3 3h18v18H3zM5 5v3h14V5zM5 10v9h4v-9zM11 10v9h8v-9z"/>`),
	IconExperiments: svg("experiments", `<path fill="#000" fill-rule="evenodd" d="M8 2h8v2h-1v5l5.500 10c.8 1.500 0 3-1.700 3H5.200c-1.700 0-2.500-1.500-1.700-3L9 9V4H8zM11 4v5.500L5.300 20h13.400L13 9.500V4z"/>`),
	IconSettings:    svg("settings", `<path fill="#000" fill-rule="evenodd" d="M10 1h4l.6 3.100l1.700.7l2.600-1.800l2.800 2.800l-1.800 2.600l.7 1.700L23.700 10v4l-3.100.6l-.7 1.700l1.800 2.600l-2.800 2.800l-2.600-1.800l-1.700.7L14 23.700h-4l-.6-3.100l-1.700-.7l-2.600 1.800l-2.800-2.800l1.800-2.600l-.7-1.700L.3 14v-4l3.100-.6l.7-1.700l-1.800-2.600l2.800-2.800l2.600 1.800l1.700-.7zM12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8z"/>`),
	IconPlus:        svg("plus", `<path fill="#000" d="M10.800 3h2.400v7.800H21v2.400h-7.800V21h-2.400v-7.800H3v-2.400h7.800z"/>`),
	IconRefresh:     svg("refresh", `<path fill="#000" d="M12 3a9 9 0 0 1 7 3.300V3h2v7h-7V8h3.700A7 7 0 1 0 19 12h2A9 9 0 1 1 12 3z"/>`),
	IconBack:        svg("back", `<path fill="#000" d="M15.500 3.500L17 5l-7 7l7 7l-1.500 1.500L7 12z"/>`),
	IconExternal:    svg("external", `<path fill="#000" d="M13 3h8v8h-2V6.400l-8.300 8.300l-1.400-1.400L17.600 5H13zM4 5h6v2H5v12h12v-5h2v7H3V5z"/>`),
	IconStop:        svg("stop", `<path fill="#000" fill-rule="evenodd" d="M4 4h16v16H4zM6.500 6.500v11h11v-11z"/>`),
	IconDownload:    svg("download", `<path fill="#000" d="M11 2h2v11l4-4l1.400 1.400L12 16.900l-6.400-6.500L7 9l4 4zM3 20h18v2H3z"/>`),
	IconFolder:      svg("folder", `<path fill="#000" fill-rule="evenodd" d="M2 4h8l2 3h10v13H2zM4 6v12h16V9h-9l-2-3z"/>`),
	IconCopy:        svg("copy", `<path fill="#000" fill-rule="evenodd" d="M7 2h14v15H7zM9 4v11h10V4zM3 7h2v12h11v2H3z"/>`),
	IconSearch:      svg("search", `<path fill="#000" fill-rule="evenodd" d="M10 2a8 8 0 0 1 6.300 12.900L22 20.600L20.600 22l-5.700-5.700A8 8 0 1 1 10 2zM10 4a6 6 0 1 0 0 12a6 6 0 1 0 0-12z"/>`),
	IconWarning:     svg("warning", `<path fill="#000" fill-rule="evenodd" d="M12 1.500L23.500 22H.5zM12 5.600L3.900 20h16.200zM11 10h2v5h-2zM11 16.500h2v2h-2z"/>`),
	IconCheck:       svg("check", `<path fill="#000" d="M9.200 19.500L2 12.300l1.800-1.800l5.400 5.400L20.200 5l1.800 1.800z"/>`),
	IconInfo:        svg("info", `<path fill="#000" fill-rule="evenodd" d="M12 2a10 10 0 1 1 0 20a10 10 0 1 1 0-20zM12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16zM11 7h2v2h-2zM11 11h2v6h-2z"/>`),
	IconCross:       svg("cross", `<path fill="#000" d="M5 3.500L12 10.500L19 3.500L20.500 5L13.500 12L20.500 19L19 20.500L12 13.500L5 20.500L3.500 19L10.500 12L3.500 5z"/>`),
	IconKey:         svg("key", `<path fill="#000" fill-rule="evenodd" d="M8 2a6 6 0 0 1 5.600 8.200L22 18.600V22h-4v-3h-3v-3l-2.800-2.800A6 6 0 1 1 8 2zM7 5a2 2 0 1 0 0 4a2 2 0 1 0 0-4z"/>`),
	IconBox:         svg("box", `<path fill="#000" fill-rule="evenodd" d="M12 1l10 5v12l-10 5L2 18V6zM12 3.300L5.300 6.600L12 10l6.700-3.400zM4 8.300v8.500l7 3.500v-8.500zM20 8.300l-7 3.500v8.500l7-3.500z"/>`),
	IconBell:        svg("bell", `<path fill="#000" d="M12 2a6 6 0 0 1 6 6c0 6 2 8 3 9H3c1-1 3-3 3-9a6 6 0 0 1 6-6zM9.500 19h5a2.500 2.500 0 0 1-5 0z"/>`),
	IconMore:        svg("more", `<path fill="#000" d="M4 10h4v4H4zM10 10h4v4h-4zM16 10h4v4h-4z"/>`),
}
