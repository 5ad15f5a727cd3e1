package runnerpack

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// Pack builds the kernel folder that spec asks for: the script,
// kernel-metadata.json and the build record sandglass.json. Equal input gives
// an equal script, byte for byte, wherever the project lies. The folder appears
// whole or not at all; an earlier build in its place stays until then.
//
// Errors: *SpecError, *IdentityError, *FoldsError, *SecretError, *SizeError,
// *PathError, or the context's.
func Pack(ctx context.Context, spec Spec) (*Build, error) {
	p, err := newPlan(spec)
	if err != nil {
		return nil, err
	}
	c, err := collect(ctx, p.root, p.out, p.Include)
	if err != nil {
		return nil, err
	}
	if n := len(c.withheld); n > 0 {
		p.warn("kept back because the name looks like a secret: %s", strings.Join(c.withheld, ", "))
	}
	pl, err := p.gather(c)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := pl.compress(); err != nil {
		return nil, err
	}
	b, script, err := p.assemble(pl)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b, p.write(b, script)
}

// assemble makes the script and everything that is said about it.
func (p *plan) assemble(pl *payload) (*Build, []byte, error) {
	t, err := readTemplate()
	if err != nil {
		return nil, nil, err
	}
	sha := hexSHA256(pl.packed)
	conf := p.config(pl)
	text, err := conf.text()
	if err != nil {
		return nil, nil, err
	}
	// The id is a hash of all that travels, so it is taken before it is put in.
	conf.BuildID = t.buildID(p.identity.Slug, text, sha)
	if text, err = conf.text(); err != nil {
		return nil, nil, err
	}
	payload := appendBase85(make([]byte, 0, base85Len(len(pl.packed))), pl.packed)
	script := t.fill(p.doc(conf.BuildID), text, payload, sha)
	b := &Build{
		Kernel: p.identity.ID(), Dir: p.out, Script: strings.ReplaceAll(p.identity.Slug, "-", "_") + ".py",
		BuildID: conf.BuildID, SHA256: hexSHA256(script), ScriptBytes: len(script),
		Jobs: p.jobs, Folds: p.folds, Metadata: p.metadata(), LeftOut: pl.leftOut,
	}
	b.Metadata.CodeFile = b.Script
	b.Parts = append(pl.shares(len(payload)), Part{partConfig, len(text)}, Part{partScript, len(script) - len(payload) - len(text)})
	sortParts(b.Parts)
	files := map[string]member{}
	for _, m := range pl.members {
		files[m.name] = m
	}
	if len(script) >= MaxScriptBytes {
		return nil, nil, &SizeError{Bytes: len(script), Parts: b.Parts, Files: biggestFiles(files)}
	}
	if len(script) >= WarnScriptBytes {
		p.warn("the script has %d bytes, and Kaggle refuses %d and more; %s", len(script), MaxScriptBytes, biggest(b.Parts, biggestFiles(files)))
	}
	b.Warnings = p.warnings
	b.Fill = p.fill(pl.own)
	return b, script, nil
}

func (p *plan) metadata() Metadata {
	m := Metadata{
		ID: p.identity.ID(), Title: p.identity.Title, Language: "python", KernelType: "script",
		IsPrivate: !p.Public, EnableGPU: p.shape.pool == poolGPU, EnableTPU: p.shape.pool == poolTPU,
		EnableInternet: !p.NoInternet, MachineShape: p.shape.name,
	}
	for _, in := range p.Inputs {
		switch in.Kind {
		case "dataset":
			m.DatasetSources = appendNew(m.DatasetSources, in.Ref)
		case "competition":
			m.CompetitionSources = appendNew(m.CompetitionSources, in.Ref)
		case "kernel":
			m.KernelSources = appendNew(m.KernelSources, in.Ref)
		case "model":
			m.ModelSources = appendNew(m.ModelSources, in.Ref)
		}
	}
	if p.SplitFrom != "" {
		m.DatasetSources = appendNew(m.DatasetSources, p.SplitFrom)
	}
	for _, ref := range p.Wheels {
		m.DatasetSources = appendNew(m.DatasetSources, ref)
	}
	for _, ref := range p.ResumeFrom {
		m.KernelSources = appendNew(m.KernelSources, ref)
	}
	return m
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// write writes the folder.
func (p *plan) write(b *Build, script []byte) error {
	meta, err := b.Metadata.File()
	if err != nil {
		return err
	}
	r := BuildRecord{
		Schema: 1, Kernel: b.Kernel, Name: p.Name, BuildID: b.BuildID, Hours: p.Hours, Accelerator: p.Accelerator,
		Command: p.Command, Jobs: p.recordJobs(), Folds: b.Folds, ResumeFrom: orEmpty(p.ResumeFrom),
		Project: p.root, SHA256: b.SHA256,
	}
	if c := p.Baseline; c != nil {
		r.Prune = &RecordPrune{Reference: c.Reference, Margin: c.Margin, MinFrac: c.MinFrac, FoldMargins: c.FoldMargins}
	}
	record, err := indented(r)
	if err != nil {
		return err
	}
	if p.Out == "" {
		if err := hideFromGit(filepath.Join(p.root, ".sandglass")); err != nil {
			return fmt.Errorf("the build cannot be written: %w", err)
		}
	}
	return replaceFolder(b.Dir, map[string][]byte{b.Script: script, MetadataFile: meta, RecordFile: record})
}
