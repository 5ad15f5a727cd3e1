package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sandglass/app"
)

// What a reader may type: README, the guide and the two references.
func readable(t *testing.T) map[string]string {
	t.Helper()
	top := filepath.Join("..", "..")
	names, err := filepath.Glob(filepath.Join(top, "docs", "guide", "*.md"))
	if err != nil || len(names) < 5 {
		t.Fatalf("the guide: %v, %v", names, err)
	}
	out := map[string]string{}
	for _, name := range append(names, filepath.Join(top, "README.md"), filepath.Join(top, "docs", "scripts.md"), filepath.Join(top, "docs", "tpu.md")) {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = string(raw)
	}
	return out
}

// codeLines are the lines of indented and fenced blocks, with a trailing backslash joined to the next.
func codeLines(text string) []string {
	var out []string
	fenced, joined := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			joined = ""
			continue
		}
		joined += strings.TrimSpace(line)
		if rest, more := strings.CutSuffix(joined, `\`); more {
			joined = rest
			continue
		}
		out, joined = append(out, joined), ""
	}
	return out
}

// shellWords splits as a shell does, up to a pipe, a redirection, a comment or the end of the command.
func shellWords(line string) []string {
	var out []string
	var word strings.Builder
	in, any := rune(0), false
	for _, r := range line {
		switch {
		case in != 0 && r == in:
			in = 0
		case in != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			in, any = r, true
		case strings.ContainsRune("|<>&;#", r):
			if word.Len() > 0 || any {
				out = append(out, word.String())
			}
			return out
		case r == ' ':
			if word.Len() > 0 || any {
				out = append(out, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(r)
		}
	}
	if word.Len() > 0 || any {
		out = append(out, word.String())
	}
	return out
}

var inline = regexp.MustCompile("`([^`\n]+)`")

// Every command that README and the guide show is one that the program takes: verb, flags, their values, number of arguments.
func TestTheGuidesCommandsExist(t *testing.T) {
	checked := 0
	for file, text := range readable(t) {
		for _, line := range codeLines(text) {
			if args, ok := strings.CutPrefix(line, "sandglass "); ok {
				checked++
				takes(t, file, shellWords(args), true)
			}
		}
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			if args, ok := strings.CutPrefix(m[1], "sandglass "); ok {
				checked++
				takes(t, file, shellWords(args), false)
			}
		}
	}
	if checked < 80 {
		t.Errorf("only %d commands were found", checked)
	}
}

// takes checks one call; whole also the number of its arguments.
func takes(t *testing.T, file string, words []string, whole bool) {
	t.Helper()
	if slices.Contains(words, "--help") {
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "--help" })
		whole = false
	}
	call := "sandglass " + strings.Join(words, " ")
	cmd, rest, err := (&program{}).root().Find(spread(words))
	if err != nil {
		t.Errorf("%s: %s: %v", file, call, err)
		return
	}
	if cmd == cmd.Root() && len(words) > 0 {
		t.Errorf("%s: %s names no verb", file, call)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: %s: %v", file, call, err)
		return
	}
	if !whole {
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: %s: %v", file, call, err)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if must := f.Annotations[cobra.BashCompOneRequiredFlag]; len(must) > 0 && must[0] == "true" && !f.Changed {
			t.Errorf("%s: %s needs --%s", file, call, f.Name)
		}
	})
}

// A flag that the guide names alone is a flag of some verb, or one of a training script.
func TestTheGuidesFlagsExist(t *testing.T) {
	known := map[string]bool{"smoke": true, "folds": true, "help": true}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk((&program{}).root())
	for file, text := range readable(t) {
		if file == "scripts.md" || file == "tpu.md" {
			continue // they speak of the script's own flags
		}
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			if name, ok := strings.CutPrefix(m[1], "--"); ok {
				name, _, _ = strings.Cut(name, " ")
				if !known[name] {
					t.Errorf("%s: no verb has --%s", file, name)
				}
			}
		}
	}
}

// The tables of verbs name every verb, and so does the help of the program itself, each once.
func TestEveryVerbIsInTheTables(t *testing.T) {
	pages := readable(t)
	root := (&program{}).root()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		for _, file := range []string{"README.md", "terminal.md"} {
			if !strings.Contains(pages[file], "`"+cmd.Name()+"`") {
				t.Errorf("%s does not name the verb %s", file, cmd.Name())
			}
		}
		if cmd.GroupID == "" {
			t.Errorf("%s stands in no group of --help", cmd.Name())
		}
	}
}

// The first build that a reader types is the one that "sandglass demo" prints.
func TestTheDemosBuildIsTheOneThatIsShown(t *testing.T) {
	spec, err := app.WriteDemo(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("--name %s --hours %g ", spec.Name, spec.Hours)
	for _, file := range []string{"README.md", "first-run.md"} {
		if !strings.Contains(readable(t)[file], want) {
			t.Errorf("%s does not build the demo with %s", file, want)
		}
	}
}

// The commands in the texts of --help exist as well.
func TestTheHelpsCommandsExist(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if args, ok := strings.CutPrefix(line, "  sandglass "); ok {
				takes(t, "--help of "+cmd.CommandPath(), shellWords(strings.TrimSpace(regexp.MustCompile(`\s{3,}.*`).ReplaceAllString(args, ""))), true)
			}
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk((&program{}).root())
}
