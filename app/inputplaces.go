package app

import (
	"path"
	"path/filepath"
	"strings"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// inputPlaces says where the session of a run put what was attached, by the notes of its build; nothing when they are gone or
// those of another build. The rules are the session runner's (Linker.target).
func inputPlaces(r runlog.Run) []planner.InputPlace {
	n, err := readNotes(r.BuildDir)
	if r.BuildDir == "" || err != nil || n.BuildID != r.BuildID {
		return nil
	}
	var out []planner.InputPlace
	add := func(refs []string, nested string) {
		for _, ref := range refs {
			ref, folder, _ := strings.Cut(ref, "=")
			switch slug := path.Base(ref); {
			case folder != "":
				folder = path.Clean(filepath.ToSlash(folder))
			case n.Spec.Layout == "nested" && nested != "":
				folder = nested + slug
			default:
				folder = "data"
			}
			out = append(out, planner.InputPlace{Ref: ref, Folder: folder})
		}
	}
	add(n.Spec.Competitions, "")
	add(n.Spec.Datasets, "data/ext/")
	add(n.Spec.Kernels, "data/ext/kout-")
	return out
}
