package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write docs/sandglass.1 anew")

// The packages ship docs/sandglass.1 as it lies in the tree, so it has to say what --help says.
func TestManPage(t *testing.T) {
	about, err := os.ReadFile(filepath.Join("..", "..", "FyneApp.toml"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^\s*Version = "(.+)"`).FindSubmatch(about)
	if version == nil {
		t.Fatal("FyneApp.toml names no version")
	}
	want := manPage((&program{}).root(), string(version[1]))
	page := filepath.Join("..", "..", "docs", "sandglass.1")
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	is, be := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	n := 0
	for n < min(len(is), len(be)) && is[n] == be[n] {
		n++
	}
	t.Errorf("docs/sandglass.1 is not what the verbs say, from line %d on; write it anew: go test ./app/cli -run TestManPage -update", n+1)
}

func TestManText(t *testing.T) {
	var page strings.Builder
	manText(&page, "One \\ two-three\n.dot\n\n  literal --flag\n  'quote\n\nlast")
	const want = ".PP\nOne \\e two\\-three\n\\&.dot\n.PP\n.RS 4\n.nf\nliteral \\-\\-flag\n\\&'quote\n.fi\n.RE\n.PP\nlast\n"
	if page.String() != want {
		t.Errorf("got %q, want %q", page.String(), want)
	}
}

// manPage is the manual of all verbs on one page, out of the same texts as --help. cobra/doc would write a page for each verb,
// and read underscores, braces and stars in the texts as Markdown.
func manPage(root *cobra.Command, version string) []byte {
	var page, exit, environment strings.Builder
	fmt.Fprintf(&page, ".\\\" Written by: go test ./app/cli -run TestManPage -update\n.TH SANDGLASS 1 \"\" \"Sandglass %s\" \"User Commands\"\n", version)
	fmt.Fprintf(&page, ".SH NAME\nsandglass \\- %s\n", roff(strings.ToLower(root.Short[:1])+root.Short[1:]))
	page.WriteString(".SH SYNOPSIS\n.B sandglass\n.br\n.B sandglass\n.I verb\n[\\fIargument\\fR ...] [\\fIoption\\fR ...]\n.SH DESCRIPTION\n")
	for text := range strings.SplitSeq(root.Long, "\n\n") {
		if rest, ok := strings.CutPrefix(text, "Exit codes: "); ok {
			manText(&exit, rest)
		} else if rest, ok := strings.CutPrefix(text, "Environment: "); ok {
			manText(&environment, rest)
		} else {
			manText(&page, text)
		}
	}
	page.WriteString(".SH VERBS\n")
	manVerbs(&page, root)
	page.WriteString(".SH OPTIONS OF EVERY VERB\n")
	manFlags(&page, root)
	page.WriteString(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nwhat this page says about the verb\n")
	fmt.Fprintf(&page, ".SH EXIT STATUS\n%s.SH ENVIRONMENT\n%s", exit.String(), environment.String())
	page.WriteString(".SH FILES\n.TP\n.I ~/.config/sandglass\nthe run log and the logs of runs; SANDGLASS_HOME moves it. Secrets lie in the system keychain.\n" +
		".TP\n.IR project /artifacts\nresults that came home\n.TP\n.IR project /.sandglass\nkernel folders that were built, and what came with the results\n")
	return []byte(page.String())
}

func manVerbs(page *strings.Builder, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.Name() == "help" || !cmd.IsAvailableCommand() {
			continue
		}
		fmt.Fprintf(page, ".SS %s\n.B %s\n", roff(strings.TrimPrefix(cmd.CommandPath(), "sandglass ")), roff(strings.TrimSuffix(cmd.UseLine(), " [flags]")))
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		manText(page, text)
		if cmd.Example != "" {
			page.WriteString(".PP\nExamples:\n")
			manText(page, cmd.Example)
		}
		manFlags(page, cmd)
		manVerbs(page, cmd)
	}
}

var (
	flagLine = regexp.MustCompile(`^\s*(?:(-\w), )?(--\S+)(?: (\S+))?\s{3,}(.*)$`)
	several  = strings.NewReplacer("stringArray", "string ...", "strings", "string ...")
)

// manFlags writes the options that are a verb's own, as its --help does.
func manFlags(page *strings.Builder, cmd *cobra.Command) {
	for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
		part := flagLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if part == nil {
			panic("no option in the line " + line)
		}
		if part[2] == "--help" {
			continue
		}
		page.WriteString(".TP\n")
		if part[1] != "" {
			fmt.Fprintf(page, "\\fB%s\\fR, ", roff(part[1]))
		}
		fmt.Fprintf(page, "\\fB%s\\fR", roff(part[2]))
		if part[3] != "" {
			fmt.Fprintf(page, " \\fI%s\\fR", roff(several.Replace(part[3])))
		}
		fmt.Fprintf(page, "\n%s\n", roff(part[4]))
	}
}

// manText writes paragraphs; lines that are indented stay as they are.
func manText(page *strings.Builder, text string) {
	literal := false
	fence := func(on bool) {
		if on && !literal {
			page.WriteString(".RS 4\n.nf\n")
		} else if !on && literal {
			page.WriteString(".fi\n.RE\n")
		}
		literal = on
	}
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		fence(false)
		page.WriteString(".PP\n")
		for line := range strings.SplitSeq(paragraph, "\n") {
			indented, ok := strings.CutPrefix(line, "  ")
			fence(ok)
			page.WriteString(roff(indented) + "\n")
		}
	}
	fence(false)
}

// roff makes text that starts a line or stands in one safe for the formatter. A hyphen is written so that it can be copied
// into a terminal.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
