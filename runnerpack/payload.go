package runnerpack

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

const baselineFolder = "_sandglass/baseline/"

// tablesMember is the index of the packed tables: {name: [first byte, length]}.
const tablesMember = "_sandglass/tables.json"

// payload is what travels: a bzip2 stream of a tar of the members, and after it
// the packed tables one behind the other. The tables are as small as they get,
// and would only grow in a second compression.
type payload struct {
	members []member // sorted by name
	splits  []Split
	tables  []Blob
	packed  []byte
	leftOut []string
	own     []member // the person's
}

// gather collects the members of the payload.
func (p *plan) gather(c *collector) (*payload, error) {
	pl := &payload{}
	support, err := supportMembers()
	if err != nil {
		return nil, err
	}
	runner, err := runnerMembers(p.needsModule)
	if err != nil {
		return nil, err
	}
	var own []member
	for _, m := range c.members {
		own = append(own, m)
	}
	pl.own = own
	pl.members = append(append(append(pl.members, runner...), own...), neededSupport(support, runner, own, p.commands())...)
	if err := p.addCompetition(pl, c); err != nil {
		return nil, err
	}
	if err := p.addBaseline(pl); err != nil {
		return nil, err
	}
	if err := p.addSplits(pl); err != nil {
		return nil, err
	}
	for name, why := range c.leftOut {
		pl.leftOut = append(pl.leftOut, name+": "+why)
	}
	slices.Sort(pl.leftOut)
	slices.SortFunc(pl.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return pl, pl.refuseSecrets()
}

// addCompetition adds competition.json, and says when it names a competition
// that is not attached.
func (p *plan) addCompetition(pl *payload, c *collector) error {
	const name = "competition.json"
	if _, included := c.members[name]; included {
		return nil
	}
	for _, place := range []string{name, ".kaggle-gm/" + name} {
		data, err := readFile(filepath.Join(p.root, filepath.FromSlash(place)), 1<<20)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		pl.members = append(pl.members, member{name, data, partCode})
		var facts struct {
			Slug string `json:"slug"`
		}
		if json.Unmarshal(data, &facts) == nil && facts.Slug != "" && !slices.ContainsFunc(p.Inputs, func(in Input) bool {
			return in.Kind == "competition" && in.Ref == strings.ToLower(facts.Slug)
		}) {
			p.warn("%s names the competition %s, which is not attached", place, facts.Slug)
		}
		return nil
	}
	return nil
}

// addBaseline adds the curves that trailing folds are measured against.
func (p *plan) addBaseline(pl *payload) error {
	if p.Baseline == nil {
		return nil
	}
	curves, err := ReadCurves(p.Baseline.Reference)
	if err != nil {
		return err
	}
	if len(curves) == 0 {
		return &SpecError{"prune-against", fmt.Sprintf("%s has no curve_fold<k>.json", p.Baseline.Reference)}
	}
	var missing []int
	for _, k := range p.folds {
		if !slices.ContainsFunc(curves, func(c Curve) bool { return c.Fold == k }) {
			missing = append(missing, k)
			continue
		}
		name := curveName(k)
		data, err := readFile(filepath.Join(p.Baseline.Reference, name), maxCurveBytes)
		if err != nil {
			return err
		}
		pl.members = append(pl.members, member{baselineFolder + name, data, partBaseline})
	}
	if missing != nil {
		p.warn("the baseline has no curve of fold %s, so nothing is pruned there", joinInts(missing))
	}
	return nil
}

// addSplits adds data/folds.csv, packed.
func (p *plan) addSplits(pl *payload) error {
	if p.table == nil {
		return nil
	}
	if p.SplitFrom != "" {
		pl.splits = append(pl.splits, mountedSplit(FoldsFile, p.SplitFrom, p.table))
		return nil
	}
	s, blobs, err := packTable(FoldsFile, 0, p.table)
	if err != nil {
		return err
	}
	pl.splits = append(pl.splits, s)
	pl.tables = append(pl.tables, blobs...)
	return nil
}

// refuseSecrets looks into the person's files.
func (pl *payload) refuseSecrets() error {
	var places []string
	for _, m := range pl.members {
		if m.part == partCode {
			places = append(places, findSecrets(m.name, m.data)...)
		}
	}
	if places != nil {
		return &SecretError{Places: places}
	}
	return nil
}

// compress makes the payload. Owner, mode and time are fixed, because equal
// input has to give equal bytes.
func (pl *payload) compress() error {
	// When the tables alone fill the script, compressing the rest changes nothing.
	if n := base85Len(pl.tableBytes()); n >= MaxScriptBytes {
		return &SizeError{Bytes: n, Parts: []Part{{partFolds, n}}}
	}
	members := pl.members
	if len(pl.tables) > 0 {
		places, at := map[string][2]int{}, 0
		for _, b := range pl.tables {
			places[b.Name] = [2]int{at, len(b.Data)}
			at += len(b.Data)
		}
		index, err := plainJSON(places)
		if err != nil {
			return err
		}
		members = append(members[:len(members):len(members)], member{tablesMember, index, partFolds})
	}
	raw, err := tarOf(members)
	if err != nil {
		return err
	}
	pl.packed = bzip2Pack(raw)
	for _, b := range pl.tables {
		pl.packed = append(pl.packed, b.Data...)
	}
	return nil
}

func tarOf(members []member) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, m := range members {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: m.name, Mode: 0o644, Size: int64(len(m.data))}
		if bytes.HasPrefix(m.data, []byte("#!")) { // by content: the project's own modes differ from system to system
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("payload: %s: %w", m.name, err)
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, fmt.Errorf("payload: %s: %w", m.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	return buf.Bytes(), nil
}

// deflatedLen is about how well data compresses; deflate is quick.
func deflatedLen(data []byte) int {
	var n countWriter
	w, err := flate.NewWriter(&n, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // neither the level nor the writer can fail
		return len(data)
	}
	return int(n)
}

type countWriter int

func (c *countWriter) Write(p []byte) (int, error) {
	*c += countWriter(len(p))
	return len(p), nil
}

// tableBytes is the length of the packed tables.
func (pl *payload) tableBytes() (n int) {
	for _, b := range pl.tables {
		n += len(b.Data)
	}
	return n
}

// shares tells what each part takes of total characters. Tables count as they
// are; the others share the rest in proportion to what each is compressed alone,
// because in one stream they help each other.
func (pl *payload) shares(total int) []Part {
	folds := min(base85Len(pl.tableBytes()), total)
	var parts []Part
	sum := 0
	for _, name := range []string{partRunner, partSupport, partCode, partBaseline} {
		var all []byte
		for _, m := range pl.members {
			if m.part == name {
				all = append(all, m.data...)
			}
		}
		if all == nil {
			continue
		}
		alone := deflatedLen(all)
		parts = append(parts, Part{name, alone})
		sum += alone
	}
	rest := total - folds
	for i := range parts {
		parts[i].Bytes = parts[i].Bytes * (total - folds) / sum
		rest -= parts[i].Bytes
	}
	parts[0].Bytes += rest // rounding; the runner always travels
	if folds > 0 {
		parts = append(parts, Part{partFolds, folds})
	}
	return parts
}
