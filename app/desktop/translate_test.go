package desktop

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
)

// With SANDGLASS_LOOK_LANGUAGE=de (empty: the system's language) every picture of this package is in German. The tests that read words then fail; the pictures
// are what is wanted.
func init() {
	if choice, ok := os.LookupEnv("SANDGLASS_LOOK_LANGUAGE"); ok {
		if err := useLanguage(choice); err != nil {
			panic(err)
		}
	}
}

// wordsHere are the keys that no literal lang.L names: titles kept in tables, and words of the core that are shown as they are.
var wordsHere = []string{
	"All", "In flight", "Needs you", "Run", "Status", "Accelerator", "Cap, h", "Burned, h", "Score", "Pushed", // Runs
	"Experiment", "Spread", "Gain", "Gain and its noise", "Folds ahead", "Hours", "Verdict", "Do screens rank ideas truly?",
	"Full runs", "Screens", "Beyond the noise", "beyond the noise", "within the noise", "too few folds", "lower", "higher", // Experiments
	"File", "Size", "State", "Part of the kernel script", "Of 1 MB", // a run's tables
	"As the system", "Light", "Dark", "English", "Deutsch", "Ask", "Keep watching in the tray", "Quit", "System", // Settings
	"A run finished", "with its score and what it cost", "A run failed or was stopped", "with its own words for why",
	"A TPU run started", "with how long it waited and when it ends at the latest", "A run is near its cap",
	"ten minutes or a tenth of the cap before", "A slot freed", "and nothing that waits takes it", "The launch queue stopped a run",
	"it waits for you, nothing was sent", "Hours are about to expire", "when nothing is planned for them, a day before the reset", "how many, and until when",
	"The week's hours are back", // app.NoticeKinds
}

// notWords may stand in the window untranslated: units, product names, what is typed.
var notWords = []string{"%d min", "%d h %d min", "%.1f kB", "%.1f MB", "%.2f GB", "CPU", "GPU", "TPU", "TPU v5e-8", "GPU T4 ×2", "Sandglass", "LoRA", "QLoRA",
	"Adam", "Adafactor", "SGD", " · Kaggle", " · %.1f GPU-h · %.1f TPU-h", " UTC", " UTC)", " GiB", "English", "Deutsch"}

func parsed(t *testing.T, dirs ...string) (*token.FileSet, []*ast.File) {
	t.Helper()
	set := token.NewFileSet()
	var out []*ast.File
	for _, d := range dirs {
		names, err := filepath.Glob(filepath.Join(d, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(d, err)
		}
		for _, n := range names {
			if strings.HasSuffix(n, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(set, n, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, f)
		}
	}
	return set, out
}

func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
	case *ast.BinaryExpr:
		a, ok := literal(e.X)
		b, fine := literal(e.Y)
		return a + b, ok && fine && e.Op == token.ADD
	case *ast.ParenExpr:
		return literal(e.X)
	}
	return "", false
}

// called gives the package or receiver and the name of a call: "lang", "L".
func called(c *ast.CallExpr) (on, name string) {
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			on = x.Name
		}
		return on, f.Sel.Name
	case *ast.Ident:
		return "", f.Name
	}
	return "", ""
}

func TestEveryWordOfTheWindowHasGerman(t *testing.T) {
	words, err := readWords("translations/de.json")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	_, files := parsed(t, ".", "../../widgets")
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || len(c.Args) == 0 {
				return true
			}
			if on, name := called(c); on == "lang" && name == "L" {
				if s, ok := literal(c.Args[0]); ok {
					used[s] = true
				}
			}
			return true
		})
	}
	for _, w := range slices.Concat(wordsHere, toolkitWords) {
		used[w] = true
	}
	for _, k := range slices.Sorted(maps.Keys(used)) {
		if v, ok := words[k]; !ok {
			t.Errorf("no German in translations/de.json for %q", k)
		} else if ok && strings.TrimSpace(v) == "" {
			t.Errorf("the German of %q is empty", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(words)) {
		if !used[k] {
			t.Errorf("translations/de.json has %q, which nothing asks for", k)
		}
		sameValues(t, k, words[k])
		if strings.Contains(k, "{{") {
			t.Errorf("%q would be read as a template", k)
		}
	}
}

// sameValues fails when a translation does not use the same values as its original, each in its kind.
func sameValues(t *testing.T, key, text string) {
	t.Helper()
	kinds := func(s string) string {
		v := verbsOf(s)
		slices.SortFunc(v, func(a, b formatValue) int { return a.n - b.n })
		return fmt.Sprint(v)
	}
	if kinds(key) != kinds(text) {
		t.Errorf("%q has the values %s and its translation %q %s", key, kinds(key), text, kinds(text))
	}
	if strings.HasPrefix(key, " ") != strings.HasPrefix(text, " ") || strings.HasSuffix(key, " ") != strings.HasSuffix(text, " ") {
		t.Errorf("%q and its translation %q differ in the blanks at their ends", key, text)
	}
}

// showing are functions of this package and of widgets that show their string arguments.
var showing = regexp.MustCompile(`^(NewButton|NewPrimary|NewCard|NewPageHeader|NewEmptyState|NewText|NewBanner|NewStatRow|Body|Caption|Strong|Muted|Title|wrapped|newEntry|newSecretEntry|SetPlaceHolder|SetText|Set|SetShort|Toast|showModal|labelled|Say|NewCheck|newFocusButton|NewChart|Sprintf)$`)

func TestWhatIsShownIsTranslatable(t *testing.T) {
	letters := regexp.MustCompile(`\pL{2}`)
	set, files := parsed(t, ".")
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			on, name := called(c)
			if on == "lang" || !showing.MatchString(name) {
				return true
			}
			for _, a := range c.Args {
				s, ok := literal(a)
				if !ok || !letters.MatchString(verb.ReplaceAllString(s, "")) || slices.Contains(notWords, s) {
					continue
				}
				if name == "Sprintf" && !strings.Contains(strings.TrimSpace(verb.ReplaceAllString(s, "x")), " ") {
					continue // a key, a path
				}
				t.Errorf("%s: %s shows %q without lang.L", set.Position(a.Pos()), name, s)
			}
			return true
		})
	}
}

// TestALanguageIsChosen runs in processes of its own, since a process speaks one language.
func TestALanguageIsChosen(t *testing.T) {
	const mark = "spoken here: "
	words := func() string {
		return strings.Join([]string{mark, lang.L("Week"), lang.L("Cancel"), lang.L("one"), said("Try again."), dates("Sat 5 Dec")}, "|")
	}
	if os.Getenv("SANDGLASS_TEST_SPEAKS") != "" {
		fmt.Println(words())
		return
	}
	german, english := "|Woche|Abbrechen|einer|Noch einmal versuchen.|Sa 5. Dez", "|Week|Cancel|one|Try again.|Sat 5 Dec"
	for _, c := range []struct{ system, choice, want string }{
		{"de_DE.UTF-8", "", german}, {"de_AT.UTF-8", "", german}, {"en_US.UTF-8", "", english}, {"fr_FR.UTF-8", "", "|Week|Annuler|one|Try again.|Sat 5 Dec"}, {"C", "", english},
		{"de_DE.UTF-8", "en", english}, {"en_US.UTF-8", "de", german}, {"fr_FR.UTF-8", "de", german}, {"C", "de", german}, {"fr_FR.UTF-8", "en", english},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestALanguageIsChosen$")
		cmd.Env = append(os.Environ(), "LC_ALL="+c.system, "LANGUAGE=", "SANDGLASS_LOOK_LANGUAGE="+c.choice, "SANDGLASS_TEST_SPEAKS=yes")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), mark+c.want) {
			t.Errorf("on a system of %s with the choice %q: %v\n%s", c.system, c.choice, err, out)
		}
	}
}

func TestASentenceIsTranslatedWithItsValues(t *testing.T) {
	c := newCatalogue(map[string]string{
		"%s is %s already":             "%s ist schon %s",
		"running":                      "am Laufen",
		"Nothing was sent.":            "Nichts wurde gesendet.",
		"%s. Nothing was sent.":        "%s. Nichts wurde gesendet.",
		"Start %d of %s by %s.":        "Bis %[3]s %[1]d von %[2]s starten.",
		"the folder %s: %w":            "der Ordner %s: %w",
		"no space is left":             "kein Platz ist übrig",
		"Wait. Then push %q again.":    "Warten. Dann %q noch einmal pushen.",
		"%.0f %% of it":                "%.0f %% davon",
		"TPU hours":                    "TPU-Stunden",
		"it needs %s":                  "es braucht %s",
		"%s stays":                     "%s bleibt",
		"the median of %s is %s, %s h": "der Median von %s ist %s, %s h",
	})
	for in, want := range map[string]string{
		"Running":                                          "Am Laufen",
		"me/k is running already.":                         "me/k ist schon am Laufen.",
		"A: me/k is running already":                       "A: me/k ist schon am Laufen",
		"Start 3 of ideas by Sat 5 Dec.":                   "Bis Sa 5. Dez 3 von ideas starten.",
		"Me/k is running already. Nothing was sent.":       "Me/k ist schon am Laufen. Nichts wurde gesendet.",
		"The folder /a.b/c: no space is left":              "Der Ordner /a.b/c: kein Platz ist übrig",
		"Wait. Then push \"a b\" again. Nothing was sent.": "Warten. Dann \"a b\" noch einmal pushen. Nichts wurde gesendet.",
		"40 % of it":                                       "40 % davon",
		"It needs 7.0 TPU hours; Nothing was sent":         "Es braucht 7.0 TPU-Stunden; Nichts wurde gesendet",
		"no such words, running":                           "no such words, running",
		"Running\nNothing was sent.":                       "Am Laufen\nNichts wurde gesendet.",
		"  running ":                                       "  am Laufen ",
		"":                                                 "",
	} {
		old := spoken
		spoken = c
		if got := said(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		spoken = old
	}
}

func BenchmarkSaid(b *testing.B) {
	c, err := readCatalogue("translations/core/de.json")
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		clear(c.answer)
		c.say("Burns 12.5 GPU-hours and 8.2 are left: 4.3 too few; it resets in 40 h. What is missing has to wait for the reset. Speed is a prior (2.0 T4s a TPU) until a run of yours is measured there.")
	}
}

func TestTheLanguageIsKeptAndShown(t *testing.T) {
	s, ui, _ := openShell(t, t.TempDir())
	s.Go("settings")
	s.state.marks["settings.language.de"].(fyne.Tappable).Tapped(nil)
	ui.until("the choice in the log", func() bool { return s.core.Setting(t.Context(), settingLanguage) == "de" })
}

// coreFolders hold what the core says. The sandbox's own errors reach a person as Kaggle's, in Kaggle's words.
var coreFolders = []string{"..", "../../planner", "../../runnerpack", "../../kaggle", "../keychain"}

// notSaid are functions whose strings no person reads: logs, expressions, marks between two effects, names of things.
var notSaid = map[string]bool{"Warn": true, "Info": true, "Debug": true, "Error": true, "Log": true, "MustCompile": true, "at": true, "Format": true, "Parse": true,
	"Contains": true, "HasPrefix": true, "HasSuffix": true, "Setenv": true, "Cut": true, "TrimPrefix": true, "Index": true, "ReplaceAll": true, "Getenv": true}

// notSaidFiles are tables and programs, not sentences.
var notSaidFiles = []string{"archs.go", "speed.go", "rehearse_packages.go", "script.go", "secrets.go", "wire_auth.go", "memory_acts.go", "memory_static.go", "memory.go", "shapes.go",
	"compare_runs.go", "autostart.go", "npy.go", "splitunpack.go", "splitpack.go", "radix.go", "compress.go", "embed.go", "outpath.go", "sse.go", "lenient.go", "login.go"}

// template is a literal, or literals and values joined with +, as a catalogue writes it.
func template(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return literal(e)
	case *ast.ParenExpr:
		return template(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		a, ok := template(e.X)
		b, fine := template(e.Y)
		if !ok && !fine {
			return "", false
		}
		if !ok {
			a = "%s"
		}
		if !fine {
			b = "%s"
		}
		return a + b, true
	}
	return "", false
}

// coreSentences collects the core's sentences and where each stands.
func coreSentences(t *testing.T) map[string]string {
	t.Helper()
	words := regexp.MustCompile(`\pL{2,}\W+\pL{2,}`)
	out := map[string]string{}
	set, files := parsed(t, coreFolders...)
	for _, f := range files {
		if slices.Contains(notSaidFiles, filepath.Base(set.Position(f.Pos()).Filename)) {
			continue
		}
		var walk func(n ast.Node) bool
		walk = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				return n.Tag == nil
			case *ast.CallExpr:
				if _, name := called(n); notSaid[name] {
					return false
				}
			case ast.Expr:
				s, ok := template(n)
				if !ok {
					return true
				}
				if s = strings.TrimSpace(s); words.MatchString(verb.ReplaceAllString(s, "0")) && strings.Contains(s, " ") && !strings.ContainsFunc(s, unicode.IsControl) {
					out[s] = fmt.Sprint(set.Position(n.Pos()))
				}
				if b, ok := n.(*ast.BinaryExpr); ok { // what is joined on may be a sentence too
					for _, part := range []ast.Expr{b.X, b.Y} {
						if _, plain := literal(part); !plain {
							if inner, sum := part.(*ast.BinaryExpr); sum {
								ast.Inspect(inner.Y, func(n ast.Node) bool {
									if _, plain := n.(*ast.BasicLit); plain {
										return false
									}
									return n == nil || walk(n)
								})
								continue
							}
							ast.Inspect(part, walk)
						}
					}
				}
				return false
			}
			return true
		}
		ast.Inspect(f, walk)
	}
	return out
}

// englishOnly lists the core's sentences without German, one a line: what only a terminal shows, and what names a fault of the
// program itself. It may shrink.
const englishOnly = "testdata/core-english.txt"

func TestWhatTheCoreSaysHasGerman(t *testing.T) {
	words, err := readWords("translations/core/de.json")
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range words {
		sameValues(t, k, v)
	}
	b, err := os.ReadFile(englishOnly)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, k := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		known[k] = true
	}
	said := coreSentences(t)
	for _, k := range slices.Sorted(maps.Keys(said)) {
		if _, ok := words[k]; !ok && !known[k] {
			t.Errorf("%s: no German in translations/core/de.json for %s", said[k], k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if _, ok := said[k]; !ok {
			t.Errorf("%s has %q, which the core no longer says", englishOnly, k)
		} else if _, ok := words[k]; ok {
			t.Errorf("%s has %q, which has German", englishOnly, k)
		}
	}
}
