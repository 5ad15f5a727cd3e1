package runnerpack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Metadata is a kernel-metadata.json with every switch decided.
type Metadata struct {
	ID                 string   `json:"id"`              // owner/slug
	IDNo               int64    `json:"id_no,omitempty"` // numeric kernel id, 0 when not given; wins over ID at Kaggle
	Title              string   `json:"title"`
	CodeFile           string   `json:"code_file"`
	Language           string   `json:"language"`    // python, r, rmarkdown, julia
	KernelType         string   `json:"kernel_type"` // script or notebook
	IsPrivate          bool     `json:"is_private"`
	EnableGPU          bool     `json:"enable_gpu"`
	EnableTPU          bool     `json:"enable_tpu"`
	EnableInternet     bool     `json:"enable_internet"`
	MachineShape       string   `json:"machine_shape,omitempty"` // "" is a CPU machine
	DatasetSources     []string `json:"dataset_sources"`
	CompetitionSources []string `json:"competition_sources"`
	KernelSources      []string `json:"kernel_sources"`
	ModelSources       []string `json:"model_sources"`
	Keywords           []string `json:"keywords,omitempty"`

	DockerImage            string `json:"docker_image,omitempty"`
	DockerImagePinningType string `json:"docker_image_pinning_type,omitempty"`
}

// File is the text of the kernel-metadata.json: every switch written out, JSON
// booleans, machine_shape only for an accelerator.
func (m Metadata) File() ([]byte, error) {
	for _, list := range []*[]string{&m.DatasetSources, &m.CompetitionSources, &m.KernelSources, &m.ModelSources} {
		if *list == nil {
			*list = []string{}
		}
	}
	raw, err := plainJSON(m)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		return nil, err
	}
	buf.WriteByte('\n')
	return buf.Bytes(), nil
}

// ParseMetadata reads a kernel-metadata.json as the official client does, with
// errors that name the field (*MetadataError) and, in words, what was decided
// where the file left it open. Switches may be booleans or the texts true and
// false in any case; what is absent becomes: private, no accelerator, internet
// on (the client's own default).
func ParseMetadata(raw []byte) (Metadata, []string, error) {
	p := metadataParser{}
	if err := json.Unmarshal(bytes.TrimPrefix(raw, bom), &p.fields); err != nil {
		return Metadata{}, nil, &MetadataError{Reason: "not a JSON object: " + err.Error()}
	}
	if p.fields == nil {
		return Metadata{}, nil, &MetadataError{Reason: "not a JSON object"}
	}
	m := Metadata{
		ID: p.text("id"), IDNo: p.number("id_no"), Title: p.text("title"),
		CodeFile: p.text("code_file"), Language: p.text("language"), KernelType: p.text("kernel_type"),
		IsPrivate: p.flag("is_private", true), EnableGPU: p.flag("enable_gpu", false), EnableTPU: p.flag("enable_tpu", false),
		EnableInternet: p.flag("enable_internet", true), MachineShape: strings.TrimSpace(p.text("machine_shape")),
		DatasetSources: p.sources("dataset"), CompetitionSources: p.sources("competition"),
		KernelSources: p.sources("kernel"), ModelSources: p.sources("model"), Keywords: p.list("keywords"),
		DockerImage: p.text("docker_image"), DockerImagePinningType: p.text("docker_image_pinning_type"),
	}
	p.check(m)
	if p.err != nil {
		return Metadata{}, nil, p.err
	}
	p.fillSwitches(&m)
	p.unknownKeys()
	return m, p.notes, nil
}

// metadataParser reads fields and keeps the first error.
type metadataParser struct {
	fields map[string]json.RawMessage
	notes  []string
	err    error
}

func (p *metadataParser) fail(field, format string, args ...any) {
	if p.err == nil {
		p.err = &MetadataError{Field: field, Reason: fmt.Sprintf(format, args...)}
	}
}

func (p *metadataParser) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// absent: not there at all. null counts as absent except for switches.
func (p *metadataParser) absent(field string) bool {
	raw, ok := p.fields[field]
	return !ok || string(raw) == "null"
}

func (p *metadataParser) text(field string) string {
	var s string
	if p.absent(field) {
		return ""
	}
	if json.Unmarshal(p.fields[field], &s) != nil {
		p.fail(field, "%s is not a text", clip(string(p.fields[field]), 40))
	}
	return s
}

func (p *metadataParser) number(field string) int64 {
	if p.absent(field) {
		return 0
	}
	raw := string(p.fields[field])
	n, err := strconv.ParseInt(strings.Trim(raw, `"`), 10, 64)
	if err != nil || n < 0 {
		p.fail(field, "%s is not a kernel number", clip(raw, 40))
		return 0
	}
	if raw[0] == '"' {
		p.note("%s was a text and is sent as a number", field)
	}
	return n
}

func (p *metadataParser) flag(field string, absent bool) bool {
	raw, ok := p.fields[field]
	if !ok {
		if field == "enable_internet" {
			p.note("enable_internet is not given; it is sent as true, which is what the official client does")
		}
		return absent
	}
	var b bool
	if string(raw) != "null" && json.Unmarshal(raw, &b) == nil {
		return b
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "true":
			return true
		case "false":
			return false
		}
	}
	p.fail(field, "%s is neither true nor false", clip(string(raw), 40))
	return false
}

func (p *metadataParser) list(field string) []string {
	if p.absent(field) {
		return nil
	}
	var list []string
	if json.Unmarshal(p.fields[field], &list) != nil {
		p.fail(field, "%s is not a list of texts", clip(string(p.fields[field]), 40))
		return nil
	}
	var out []string
	for i, s := range list {
		if s = strings.TrimSpace(s); s == "" {
			p.fail(field, "entry %d is empty", i+1)
			return nil
		}
		out = append(out, s)
	}
	return out
}

// sources reads a list of inputs of one kind. The address of an input's page is taken for the reference in it; what is neither is
// refused, because Kaggle drops it from the push or runs without it.
func (p *metadataParser) sources(kind string) []string {
	field := kind + "_sources"
	list := p.list(field)
	for i, given := range list {
		ref, of := pageRef(given)
		if of != "" && of != kind {
			p.fail(field, "%q is the page of a %s; it belongs into %s_sources", clip(given, 80), of, of)
			return nil
		}
		var bad *SpecError
		if err := checkRef(field, kind, strings.ToLower(ref)); errors.As(err, &bad) {
			p.fail(field, "%s", bad.Reason)
			return nil
		}
		if ref != given {
			p.note("%s: %s is sent as %s", field, given, ref)
			list[i] = ref
		}
	}
	return list
}

var kagglePage = regexp.MustCompile(`(?i)^(?:https?://)?(?:www\.)?kaggle\.com/|^/`)

// pageRef takes the reference out of the address of an input's page, with the kind that the address names ("" when it names none:
// pages of datasets once had no word for it). Any other text is given back as it is.
func pageRef(text string) (ref, kind string) {
	site := kagglePage.FindString(text)
	if site == "" {
		return text, ""
	}
	path, _, _ := strings.Cut(text[len(site):], "?")
	path, _, _ = strings.Cut(path, "#")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	kinds := map[string]string{"datasets": "dataset", "code": "kernel", "c": "competition", "competitions": "competition", "models": "model"}
	n := map[string]int{"": 2, "dataset": 2, "kernel": 2, "competition": 1, "model": 5}
	if kind = kinds[strings.ToLower(parts[0])]; kind != "" {
		parts = parts[1:]
	}
	if (kind == "" || kind == "dataset") && len(parts) > 3 && parts[2] == "versions" {
		return strings.Join([]string{parts[0], parts[1], parts[3]}, "/"), kind
	}
	return strings.Join(parts[:min(n[kind], len(parts))], "/"), kind
}

// unknownKeys names what the file says in vain: Kaggle's own client ignores it without a word, so a misspelt switch keeps its default.
func (p *metadataParser) unknownKeys() {
	plain := func(s string) string {
		return strings.TrimSuffix(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s)), "s")
	}
	for _, field := range slices.Sorted(maps.Keys(p.fields)) {
		if slices.Contains(metadataKeys, field) {
			continue
		}
		near := ""
		for _, key := range metadataKeys {
			if plain(key) == plain(field) {
				near = "; " + key + " is one"
			}
		}
		p.note("%s is no key of Kaggle's and is ignored%s", clip(field, 40), near)
	}
}

// metadataKeys are the keys of the file: the fields of Metadata.
var metadataKeys = func() []string {
	var keys []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Metadata]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}()

// check refuses what no push could use.
func (p *metadataParser) check(m Metadata) {
	if m.ID == "" && m.IDNo == 0 {
		p.fail("id", "is missing; write owner/slug")
	}
	if m.CodeFile == "" {
		p.fail("code_file", "is missing; name the script or notebook in this folder")
	}
	switch m.Language {
	case "python", "r", "rmarkdown", "julia":
	case "":
		p.fail("language", "is missing; write python, r or rmarkdown")
	default:
		p.fail("language", "%q is not a language of Kaggle's; write python, r or rmarkdown", clip(m.Language, 40))
	}
	switch m.KernelType {
	case "script", "notebook":
	case "":
		p.fail("kernel_type", "is missing; write script or notebook")
	default:
		p.fail("kernel_type", "%q is neither script nor notebook", clip(m.KernelType, 40))
	}
	switch m.DockerImagePinningType {
	case "", "original", "latest":
	default:
		p.fail("docker_image_pinning_type", "%q is neither original nor latest", clip(m.DockerImagePinningType, 40))
	}
}

// fillSwitches lets a shape decide a switch that is not there: leaving it out
// is no contradiction, only writing false is.
func (p *metadataParser) fillSwitches(m *Metadata) {
	shape, _ := knownShape(m.MachineShape)
	_, gpu := p.fields["enable_gpu"]
	_, tpu := p.fields["enable_tpu"]
	switch {
	case shape.pool == poolGPU && !gpu && !m.EnableTPU:
		m.EnableGPU = true
		p.note("enable_gpu is not given; machine_shape %s decides: true", m.MachineShape)
	case shape.pool == poolTPU && !tpu && !m.EnableGPU:
		m.EnableTPU = true
		p.note("enable_tpu is not given; machine_shape %s decides: true", m.MachineShape)
	}
}
