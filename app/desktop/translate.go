package desktop

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"sandglass/widgets"
)

// The window's own words are lang.L keys, translated in translations/<language>.json. What the core says is an English sentence
// by the time it gets here (a verb, the run log and JSON have the same one), and is translated where it is shown: see said.

//go:embed translations
var translationFiles embed.FS

// settingLanguage is "" or "system", "en" or "de".
const settingLanguage = "window.language"

// languages are the choices of Settings. Each language is called by its own name.
var languages = []struct{ label, value string }{
	{"System", "system"},
	{"English", "en"},
	{"Deutsch", "de"},
}

// toolkitWords are words of Fyne's own dialogs and menus that have themselves as a key: a chosen language has to bring them along.
var toolkitWords = []string{"Advanced", "Cancel", "Confirm", "Copy", "Create Folder", "Cut", "Enter filename", "Error", "Favourites",
	"File", "Folder", "New Folder", "No", "OK", "Open", "Paste", "Quit", "Redo", "Save", "Select all", "Show Hidden Files", "Undo", "Yes"}

// useLanguage makes the window speak. It is called once, before the first widget is made.
//
// Fyne takes the language from the system and has no way to choose another one, so the words of a chosen language are added
// under the name of the system's.
func useLanguage(choice string) error {
	words, err := readWords("translations/de.json")
	if err != nil {
		return err
	}
	if choice != "de" { // by its own name it answers to a system that has it
		if err := addWords(words, "de"); err != nil {
			return err
		}
	}
	switch choice {
	case "de":
		err = addWords(words, lang.SystemLocale())
	case "en":
		for k := range words {
			words[k] = k
		}
		err = addWords(words, lang.SystemLocale())
	}
	if err != nil {
		return err
	}
	spoken = nil
	if lang.L("Week") != "Week" {
		spoken, err = readCatalogue("translations/core/de.json")
		widgets.ChartWords = said
	}
	return err
}

// chooseLanguage is useLanguage for a window that opens whatever happens: without words of its own it speaks English.
func chooseLanguage(choice string, log *slog.Logger) {
	if err := useLanguage(choice); err != nil {
		log.Error("translations", "err", err)
	}
}

// languageRow is the choice in Settings. Every widget took its words when it was made, so that a choice shows at the next start.
func (p *settingsPage) languageRow() fyne.CanvasObject {
	var names []widgets.Chip
	for _, l := range languages {
		names = append(names, widgets.Chip{Key: l.value, Text: lang.L(l.label)})
	}
	row := p.chips("settings.language.", names)
	hint := widgets.Muted("").Wrapped()
	hint.Hide()
	row.OnSelected = func(value string) {
		hint.Set(lang.L("The language changes when Sandglass is started again."))
		hint.Show()
		p.save(settingLanguage, value)
	}
	p.h.Background(func(ctx context.Context) {
		stored := cmp.Or(p.h.Core().Setting(ctx, settingLanguage), languages[0].value)
		p.h.Do(func() {
			if row.Selected() == languages[0].value { // else the person was faster
				choose(row, stored, row.OnSelected)
			}
		})
	})
	return widgets.VBox(widgets.Gap8, widgets.Body(lang.L("Language")), row, hint)
}

func readWords(name string) (map[string]string, error) {
	b, err := translationFiles.ReadFile(name)
	if err != nil {
		return nil, err
	}
	words := map[string]string{}
	if err := json.Unmarshal(b, &words); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return words, nil
}

// addWords gives Fyne the words of a language. Each becomes an object: a bare "one" or "other" would be read as a plural form.
func addWords(words map[string]string, as fyne.Locale) error {
	forms := map[string]map[string]string{}
	for k, v := range words {
		forms[k] = map[string]string{"other": v}
	}
	b, err := json.Marshal(forms)
	if err != nil {
		return err
	}
	return lang.AddTranslationsForLocale(b, as)
}

// What Go writes, in English only.
var (
	weekday  = regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun|Saturday) (\d)`)
	dayMonth = regexp.MustCompile(`\b(\d{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b`)
)

var germanNames = map[string]string{"Mon": "Mo", "Tue": "Di", "Wed": "Mi", "Thu": "Do", "Fri": "Fr", "Sat": "Sa", "Sun": "So",
	"Saturday": "Samstag", "Mar": "März", "May": "Mai", "Oct": "Okt", "Dec": "Dez"}

// dates puts the days and months of a text into the window's language: "Sat 5 Dec 01:00" becomes "Sa 5. Dez 01:00".
func dates(text string) string {
	if spoken == nil {
		return text
	}
	name := func(s string) string { return cmp.Or(germanNames[s], s) }
	text = weekday.ReplaceAllStringFunc(text, func(s string) string {
		day, rest, _ := strings.Cut(s, " ")
		return name(day) + " " + rest
	})
	return dayMonth.ReplaceAllStringFunc(text, func(s string) string {
		day, month, _ := strings.Cut(s, " ")
		return day + ". " + name(month)
	})
}
