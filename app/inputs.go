package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sandglass/kaggle"
	"sandglass/runnerpack"
)

// Kinds of inputs.
const (
	InputCompetition = "competition"
	InputDataset     = "dataset"
	InputKernel      = "kernel" // another kernel's output
	InputModel       = "model"
)

// InputRef is one thing a session has mounted.
type InputRef struct {
	Kind   string // InputCompetition and the like
	Ref    string // owner/slug, a competition's slug, owner/model/framework/variation/version
	Target string // folder under the project; "" = as the layout says
}

// Inputs lists what a spec attaches, in the order in which the session links it:
// of two files of one name the first input's stays.
func (s BuildSpec) Inputs() []InputRef {
	var out []InputRef
	for _, in := range []struct {
		kind string
		refs []string
	}{{InputCompetition, s.Competitions}, {InputDataset, s.Datasets}, {InputKernel, s.Kernels}, {InputModel, s.Models}} {
		for _, ref := range in.refs {
			ref, target, _ := strings.Cut(ref, "=")
			out = append(out, InputRef{Kind: in.kind, Ref: ref, Target: target})
		}
	}
	return out
}

// InputHit is something a search found.
type InputHit struct {
	Kind    string
	Ref     string
	Title   string
	Note    string    // one line: size, age, deadline
	Bytes   int64     // 0 = not told
	Updated time.Time // zero = not told
	Usable  bool
	Why     string // when not usable: why, in a sentence
}

// States of an input.
const (
	InputReady      = "ready"
	InputMissing    = "missing"   // Kaggle does not show it to this account
	InputNotReady   = "not ready" // Kaggle is still processing it
	InputRunning    = "running"   // the kernel has not ended: a session started now gets an older output, or none
	InputFailed     = "failed"    // the kernel's last run failed, or Kaggle could not process the dataset
	InputLocked     = "locked"    // the competition's rules are not accepted
	InputMisspelt   = "misspelt"  // not a reference of Kaggle's
	InputNotChecked = "unchecked" // Kaggle could not be asked, or has no question for it
)

// InputState is what is known about one input before the push.
type InputState struct {
	InputRef
	State  string
	Text   string // one sentence
	Folder string // where the session links it, slash-separated under the project; "" = attached only
	Bytes  int64  // of its files, 0 = not told
	Files  int    // 0 = not told
	Clash  string // what another input or the project has under the same name; "" = nothing
}

// Blocks says whether a session would start without what the input is for.
func (s InputState) Blocks() bool {
	switch s.State {
	case InputMissing, InputLocked, InputMisspelt, InputNotReady, InputRunning:
		return true
	}
	return false
}

// ErrNoModelSearch is the answer to a search for models.
var ErrNoModelSearch = errors.New("models cannot be searched from here; write owner/model/framework/variation/version as it stands on the model's page")

// SearchInputs looks for what can be attached. An empty text lists the account's
// own: competitions it entered, its datasets, its kernels.
func (a *App) SearchInputs(ctx context.Context, kind, text string) ([]InputHit, error) {
	c, err := a.client(ctx)
	if err != nil {
		return nil, err
	}
	text = strings.TrimSpace(text)
	switch kind {
	case InputCompetition:
		return searchCompetitions(ctx, c, text)
	case InputDataset:
		return searchDatasets(ctx, c, text)
	case InputKernel:
		return searchKernels(ctx, c, text)
	case InputModel:
		return nil, ErrNoModelSearch
	}
	return nil, fmt.Errorf("there is no kind of input %q; competition, dataset, kernel and model are", kind)
}

func searchCompetitions(ctx context.Context, c *kaggle.Client, text string) ([]InputHit, error) {
	found, err := c.SearchCompetitions(ctx, kaggle.CompetitionQuery{Search: text, Entered: text == ""})
	if err != nil {
		return nil, err
	}
	out := []InputHit{}
	for _, k := range found {
		h := InputHit{Kind: InputCompetition, Ref: k.Slug, Title: k.Title, Usable: k.UserHasEntered}
		if !k.UserHasEntered {
			h.Why = "Its rules are not accepted: join it on kaggle.com first."
		}
		if !k.Deadline.IsZero() {
			h.Note = "until " + k.Deadline.Format("2 Jan 2006")
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(x, y InputHit) int { return boolOrder(x.Usable, y.Usable) })
	return out, nil
}

// boolOrder puts true first.
func boolOrder(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

func searchDatasets(ctx context.Context, c *kaggle.Client, text string) ([]InputHit, error) {
	q := kaggle.DatasetQuery{Search: text, Mine: text == ""}
	if owner, rest, ok := strings.Cut(text, "/"); ok && owner != "" {
		q.User, q.Search = owner, rest
	}
	found, err := c.SearchDatasets(ctx, q)
	if err != nil {
		return nil, err
	}
	if text != "" && q.User == "" { // Kaggle's open search leaves out what is private
		if mine, err := c.SearchDatasets(ctx, kaggle.DatasetQuery{Search: text, Mine: true}); err == nil {
			found = append(mine, found...)
		}
	}
	out := []InputHit{}
	for _, d := range found {
		if d.Ref.IsZero() || slices.ContainsFunc(out, func(h InputHit) bool { return h.Ref == d.Ref.String() }) {
			continue
		}
		out = append(out, InputHit{Kind: InputDataset, Ref: d.Ref.String(), Title: d.Title, Bytes: d.TotalBytes, Updated: d.LastUpdated, Usable: true})
	}
	return out, nil
}

// searchKernels looks among the account's own kernels, or another owner's when
// the text names one: "owner/", "owner/part of the slug".
func searchKernels(ctx context.Context, c *kaggle.Client, text string) ([]InputHit, error) {
	req := kaggle.ListKernelsRequest{Group: kaggle.GroupProfile, SortBy: kaggle.SortDateRun, Search: text, PageSize: 20}
	if owner, rest, ok := strings.Cut(text, "/"); ok && owner != "" {
		req.Group, req.User, req.Search = "", owner, rest
	}
	found, _, err := c.ListKernels(ctx, req)
	if err != nil {
		return nil, err
	}
	out := []InputHit{}
	for _, k := range found {
		out = append(out, InputHit{Kind: InputKernel, Ref: k.Ref.String(), Title: k.Title, Updated: k.LastRunTime, Usable: true})
	}
	return out, nil
}

// checkLimit is how long one look at one input may take.
const checkLimit = 20 * time.Second

// CheckInputs asks Kaggle about each input of a spec, and compares their files'
// names where several are linked into one folder. What could not be asked is an
// input's own state, not an error; the error is for an account that is not there.
func (a *App) CheckInputs(ctx context.Context, spec BuildSpec, progress func(Progress)) ([]InputState, error) {
	c, err := a.client(ctx)
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	inputs := spec.Inputs()
	out := make([]InputState, len(inputs))
	names := make([][]string, len(inputs)) // top level of each, nil = not known
	for i, in := range inputs {
		progress(Progress{Stage: "Asking Kaggle for", Item: in.Ref, Done: int64(i), Total: int64(len(inputs))})
		one, cancel := context.WithTimeout(ctx, checkLimit)
		out[i], names[i] = checkInput(one, c, in)
		cancel()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out[i].Folder = runnerpack.InputFolder(runnerpack.Input(in), spec.Layout)
	}
	markClashes(out, names, ownNames(spec.Project))
	return out, nil
}

// checkInput looks at one input; names are its files and folders at the top, nil
// when they are not known.
func checkInput(ctx context.Context, c *kaggle.Client, in InputRef) (InputState, []string) {
	s := InputState{InputRef: in}
	if err := runnerpack.CheckInput(runnerpack.Input(in)); err != nil {
		s.State, s.Text = InputMisspelt, sentence(err.Error())
		return s, nil
	}
	ref := strings.ToLower(strings.TrimSpace(in.Ref))
	var files []kaggle.DataFile
	var err error
	switch in.Kind {
	case InputCompetition:
		files, err = c.CompetitionFiles(ctx, ref)
		if errors.Is(err, kaggle.ErrForbidden) {
			s.State, s.Text = InputLocked, "Kaggle does not let this account have its data: accept the rules on the competition's page."
			return s, nil
		}
	case InputDataset:
		files, err = checkDataset(ctx, c, ref, &s)
	case InputKernel:
		files, err = checkKernel(ctx, c, ref, &s)
	default:
		s.State, s.Text = InputNotChecked, "A model is looked for when the session starts; nothing here can ask for it."
		return s, nil
	}
	switch {
	case s.State != "":
	case errors.Is(err, kaggle.ErrNotFound), errors.Is(err, kaggle.ErrForbidden):
		s.State, s.Text = InputMissing, "Kaggle does not show it to this account: misspelt, private or deleted."
		return s, nil
	case err != nil:
		s.State, s.Text = InputNotChecked, "It could not be checked. "+Explain(err).Sentence
	default:
		s.State, s.Text = InputReady, "Ready."
	}
	return s, measure(&s, files)
}

func checkDataset(ctx context.Context, c *kaggle.Client, ref string, s *InputState) ([]kaggle.DataFile, error) {
	owner, slug, _ := strings.Cut(ref, "/")
	slug, _, _ = strings.Cut(slug, "/")
	word, err := c.DatasetStatus(ctx, owner, slug)
	switch {
	case err != nil:
		return nil, err
	case strings.EqualFold(word, kaggle.DatasetFailed), strings.EqualFold(word, kaggle.DatasetDeleted):
		s.State, s.Text = InputFailed, "Kaggle says "+strings.ToLower(word)+": it cannot be attached. Look at the dataset's page."
		return nil, nil
	case !strings.EqualFold(word, kaggle.DatasetReady):
		s.State, s.Text = InputNotReady, "Kaggle is still processing it. A session that starts now would not have it."
		return nil, nil
	}
	return c.DatasetFiles(ctx, owner, slug)
}

func checkKernel(ctx context.Context, c *kaggle.Client, ref string, s *InputState) ([]kaggle.DataFile, error) {
	r, err := kaggle.ParseRef(ref)
	if err != nil {
		return nil, err
	}
	st, err := c.Status(ctx, r, 0)
	switch {
	case err != nil:
		return nil, err
	case st.State == kaggle.StateError:
		s.State, s.Text = InputFailed, "Its last run failed; what it wrote before that is what a session gets."
	case !st.State.Terminal() && st.State != kaggle.StateNewScript:
		s.State, s.Text = InputRunning, "It is "+statusWord(st)+". Inputs are bound at the push, so a session started now gets its older output, or none."
		return nil, nil
	}
	kf, err := c.KernelFiles(ctx, r, 0)
	if err != nil {
		return nil, err
	}
	var files []kaggle.DataFile
	for _, f := range kf {
		files = append(files, kaggle.DataFile{Name: f.Name, Size: f.Size})
	}
	return files, nil
}

// measure adds the sizes up and gives the names at the top.
func measure(s *InputState, files []kaggle.DataFile) []string {
	var top []string
	s.Files = len(files)
	for _, f := range files {
		s.Bytes += f.Size
		name, _, _ := strings.Cut(strings.TrimLeft(filepath.ToSlash(f.Name), "/"), "/")
		if name != "" && !slices.Contains(top, name) {
			top = append(top, name)
		}
	}
	return top
}

// ownNames are the names that the project itself brings into data/.
func ownNames(project string) []string {
	if _, err := os.Stat(filepath.Join(project, filepath.FromSlash(runnerpack.FoldsFile))); err != nil {
		return nil
	}
	return []string{filepath.Base(runnerpack.FoldsFile)}
}

// markClashes says which inputs bring a name that is there already: the session
// keeps the first and leaves the other out.
func markClashes(states []InputState, names [][]string, own []string) {
	type place struct{ folder, name string }
	there := map[place]string{}
	for _, n := range own {
		there[place{"data", n}] = "the project itself"
	}
	for i := range states {
		s := &states[i]
		if s.Folder == "" {
			continue
		}
		var lost []string
		var first string
		for _, n := range names[i] {
			at := place{s.Folder, n}
			if by, ok := there[at]; ok {
				lost, first = append(lost, n), by
				continue
			}
			there[at] = s.Ref
		}
		if len(lost) > 0 {
			shown := strings.Join(lost[:min(3, len(lost))], ", ")
			if len(lost) > 3 {
				shown += fmt.Sprintf(" and %d more", len(lost)-3)
			}
			s.Clash = fmt.Sprintf("%s/%s is there from %s already and stays that one. Give this input a folder of its own: %s=data/%s.", s.Folder, shown, first, s.Ref, s.Ref[strings.LastIndexByte(s.Ref, '/')+1:])
		}
	}
	sameSlug(states)
}

// sameSlug marks inputs that the older mount layout cannot tell apart.
func sameSlug(states []InputState) {
	at := map[string]int{}
	for i := range states {
		s := &states[i]
		if s.Kind == InputModel || s.State == InputMisspelt {
			continue
		}
		slug := strings.ToLower(s.Ref[strings.LastIndexByte(s.Ref, '/')+1:])
		if j, ok := at[slug]; ok {
			if s.Clash == "" {
				s.Clash = fmt.Sprintf("It has the same short name as %s. Kaggle's newer mount layout keeps them apart by owner; in the older one the session stops and says so.", states[j].Ref)
			}
			continue
		}
		at[slug] = i
	}
}
