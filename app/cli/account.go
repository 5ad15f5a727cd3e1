package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sandglass/app"
)

func (p *program) whoamiCmd() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Say who is signed in, where, and how sure that is",
		Long: `Asks Kaggle who the credential belongs to.

JSON: username, kind (kaggle, sandbox), auth_kind, store, endpoint, verified, note.`,
		Example: "  sandglass whoami --json",
		Args:    args(0, 0, "no argument"),
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			id, err := a.Whoami(ctx)
			if err != nil {
				return err
			}
			return p.result(id, func(w io.Writer) {
				fmt.Fprintf(w, "%s at %s, signed in by %s (%s)\n", id.Username, place(id.Kind, id.Endpoint), id.AuthKind, id.Store)
				switch {
				case id.Note != "":
					fmt.Fprintln(w, id.Note)
				case !id.Verified:
					fmt.Fprintln(w, "not confirmed by Kaggle just now")
				}
			})
		}),
	}
}

func place(kind, endpoint string) string {
	name := "Kaggle"
	if kind == "sandbox" {
		name = "the sandbox"
	}
	if endpoint != "" {
		name += " " + endpoint
	}
	return name
}

const signinLong = `Reads a secret and signs in: an API token, the text of a kaggle.json, or username:key. It is read from standard
input or, on a terminal, asked for without showing it; never taken from an argument, where other programs could see it.
It goes to the keychain. On a computer without one, --store file keeps it in a file that only you can read, and
--store memory keeps it for this call.

With --browser Kaggle's own page asks instead; the address is printed to standard error. With --paste the page may be
opened on another computer, and ends with a code to paste here.

JSON: username, kind, auth_kind, store, endpoint.`

// accountJSON is `signin --json` and `import --json` of one credential.
type accountJSON struct {
	Username string `json:"username"`
	Kind     string `json:"kind"`
	AuthKind string `json:"auth_kind"`
	Store    string `json:"store"`
	Endpoint string `json:"endpoint"`
}

func accountOf(a app.Account) accountJSON {
	return accountJSON{a.Username, a.Kind, a.AuthKind, a.Store, a.Endpoint}
}

func (p *program) signinCmd() *cobra.Command {
	var username, store string
	var browser, paste bool
	cmd := &cobra.Command{
		Use: "signin", Short: "Sign in with a token, a kaggle.json or the browser", Long: signinLong,
		Example: "  sandglass signin < ~/Downloads/kaggle.json\n  sandglass signin --browser",
		Args:    args(0, 0, "no argument; the secret is read from standard input"),
		PreRunE: func(*cobra.Command, []string) error { return checkStore(store) },
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			var acc app.Account
			var err error
			if browser || paste {
				acc, err = p.browserSignIn(ctx, a, paste)
			} else {
				acc, err = p.secretSignIn(ctx, a, username, store)
			}
			if err != nil {
				return stopped(ctx, err, "not signed in", "")
			}
			return p.result(accountOf(acc), func(w io.Writer) {
				fmt.Fprintf(w, "signed in as %s at %s; the secret is kept in: %s\n", acc.Username, place(acc.Kind, acc.Endpoint), acc.Store)
			})
		}),
	}
	f := cmd.Flags()
	f.StringVar(&username, "username", "", "whose key it is, when the secret is a key alone")
	f.StringVar(&store, "store", "", "file or memory, on a computer without a keychain")
	f.BoolVar(&browser, "browser", false, "sign in on Kaggle's page in a browser on this computer")
	f.BoolVar(&paste, "paste", false, "sign in on Kaggle's page anywhere and paste the code")
	return cmd
}

func (p *program) secretSignIn(ctx context.Context, a core, username, store string) (app.Account, error) {
	secret, err := p.secret("Token, kaggle.json or username:key (not shown): ")
	if err != nil {
		return app.Account{}, err
	}
	in := app.SignIn{Text: secret, Store: store}
	if username != "" {
		in = app.SignIn{Username: username, Secret: secret, Store: store}
	}
	return a.SignIn(ctx, in)
}

// secret reads a secret without echo, or all of standard input when that is not a terminal.
func (p *program) secret(prompt string) (string, error) {
	var raw []byte
	var err error
	if f, ok := p.stdin.(*os.File); ok && p.ask {
		fmt.Fprint(p.stderr, prompt)
		raw, err = term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(p.stderr)
	} else {
		raw, err = io.ReadAll(io.LimitReader(p.stdin, 1<<16))
	}
	if err != nil {
		return "", fmt.Errorf("the secret could not be read: %w", err)
	}
	if s := strings.TrimSpace(string(raw)); s != "" {
		return s, nil
	}
	return "", &usageError{Text: "no secret was given", Hint: "pipe it in: sandglass signin < kaggle.json"}
}

func (p *program) browserSignIn(ctx context.Context, a core, paste bool) (app.Account, error) {
	b, err := a.BrowserSignIn(ctx)
	if err != nil {
		return app.Account{}, err
	}
	defer b.Close()
	if !paste {
		fmt.Fprintf(p.stderr, "Open this page and agree:\n  %s\nWaiting for the browser; ctrl-C gives up.\n", b.URL)
		return b.Wait(ctx)
	}
	fmt.Fprintf(p.stderr, "Open this page anywhere and agree:\n  %s\nThen paste its code here: ", b.PasteURL)
	code, err := p.line()
	if err != nil {
		return app.Account{}, err
	}
	return b.Code(ctx, code)
}

// line reads one line of standard input.
func (p *program) line() (string, error) {
	s, err := bufio.NewReader(p.stdin).ReadString('\n')
	s = strings.TrimSpace(s)
	if err != nil && (s == "" || !errors.Is(err, io.EOF)) {
		return "", &usageError{Text: "nothing was answered on standard input"}
	}
	return s, nil
}

func (p *program) signoutCmd() *cobra.Command {
	return &cobra.Command{
		Use: "signout", Short: "Forget the account's secret on this computer",
		Long:    "Removes the secret from the keychain and, after a browser sign-in, revokes it at Kaggle. Runs and results stay.",
		Example: "  sandglass signout",
		Args:    args(0, 0, "no argument"),
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			if err := a.SignOut(ctx); err != nil {
				return err
			}
			return p.result(map[string]bool{"signed_out": true}, func(w io.Writer) { fmt.Fprintln(w, "signed out; runs and results stay") })
		}),
	}
}

// foundJSON is one credential of `import --json`.
type foundJSON struct {
	Username string `json:"username"`
	Kind     string `json:"kind"`
	Where    string `json:"where"`
	Problem  string `json:"problem"`
}

// importJSON is `import --json`; account is null when nothing was imported.
type importJSON struct {
	Found   []foundJSON  `json:"found"`
	Account *accountJSON `json:"account"`
}

func (p *program) importCmd() *cobra.Command {
	var yes bool
	var from, store string
	cmd := &cobra.Command{
		Use: "import", Short: "Sign in with what the official command-line program left on this computer",
		Long: `Lists the credentials that are here (environment, access token file, kaggle.json, OAuth) and, when agreed, keeps a copy of
one in the keychain. The first that can be used is taken; --from names another by the place it is in.

JSON: found [{username, kind, where, problem}], account (null when nothing was imported).`,
		Example: "  sandglass import\n  sandglass import --from ~/.kaggle/kaggle.json --yes",
		Args:    args(0, 0, "no argument"),
		PreRunE: func(*cobra.Command, []string) error { return checkStore(store) },
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			return p.importFound(ctx, a, from, store, yes)
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&yes, "yes", false, "import without asking")
	f.StringVar(&from, "from", "", "where the credential is, as listed")
	f.StringVar(&store, "store", "", "file or memory, on a computer without a keychain")
	return cmd
}

func (p *program) importFound(ctx context.Context, a core, from, store string, yes bool) error {
	found := a.FindCredentials(ctx)
	out := importJSON{Found: []foundJSON{}}
	pick := -1
	for i, f := range found {
		out.Found = append(out.Found, foundJSON{f.Username, f.Kind, f.Where, f.Problem})
		if pick < 0 && f.Problem == "" && (from == "" || f.Where == from) {
			pick = i
		}
	}
	list := func(w io.Writer) {
		for _, f := range found {
			fmt.Fprintln(w, foundLine(f))
		}
	}
	switch {
	case pick < 0 && from != "":
		return &usageError{Text: "no usable credential is at " + from, Hint: "see what is here: sandglass import"}
	case len(found) == 0:
		if err := p.result(out, func(io.Writer) {}); err != nil {
			return err
		}
		fmt.Fprintln(p.stderr, "error: nothing to import was found on this computer\nhint: sign in with a token from kaggle.com/settings: sandglass signin")
		return exitError(exitFailed)
	case pick < 0 || (!yes && !p.ask):
		if err := p.result(out, list); err != nil {
			return err
		}
		if pick >= 0 {
			fmt.Fprintln(p.stderr, "hint: nothing was imported; --yes takes the first one")
			return nil
		}
		return exitError(exitFailed)
	}
	if !yes {
		list(p.stderr)
		if ok, err := p.confirm(fmt.Sprintf("Import the %s at %s?", found[pick].Kind, found[pick].Where)); err != nil || !ok {
			return declined(err, "nothing was imported")
		}
	}
	acc, err := a.Import(ctx, found[pick], store)
	if err != nil {
		return err
	}
	got := accountOf(acc)
	out.Account = &got
	return p.result(out, func(w io.Writer) {
		fmt.Fprintf(w, "signed in as %s; a copy of the secret is kept in: %s\n", acc.Username, acc.Store)
	})
}

func foundLine(f app.Found) string {
	s := fmt.Sprintf("%s in %s", f.Kind, f.Where)
	if f.Username != "" {
		s += " for " + f.Username
	}
	if f.Problem != "" {
		s += ": cannot be used, " + f.Problem
	}
	return s
}

// confirm asks a yes-or-no question on the terminal.
func (p *program) confirm(question string) (bool, error) {
	p.progress.clear()
	fmt.Fprint(p.stderr, question+" [y/N] ")
	s, err := p.line()
	if err != nil {
		fmt.Fprintln(p.stderr)
		return false, err
	}
	s = strings.ToLower(s)
	return s == "y" || s == "yes", nil
}

// declined is the end of a question that was answered with no.
func declined(err error, text string) error {
	if err != nil {
		return err
	}
	return &stoppedError{Text: text + ": you said no"}
}
