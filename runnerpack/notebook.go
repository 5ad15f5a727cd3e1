package runnerpack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// largeAttachments is when pasted pictures begin to matter against a limit of a million bytes.
const largeAttachments = 100_000

type object = map[string]json.RawMessage

// NormaliseNotebook makes a notebook fit to push. Every source becomes one
// string (a list is joined with nothing in between, as the format says), outputs
// and execution counts of code cells go, a kernelspec is there, and Kaggle's own
// metadata block, which would contradict kernel-metadata.json about accelerator
// and image, is gone. Ids, attachments and all else stay. It returns the JSON
// and, in words, what was changed.
func NormaliseNotebook(raw []byte) ([]byte, []string, error) {
	var nb object
	if err := json.Unmarshal(bytes.TrimPrefix(raw, bom), &nb); err != nil || nb == nil {
		return nil, nil, fmt.Errorf("not a notebook: %w", orElse(err, "not a JSON object"))
	}
	if _, old := nb["worksheets"]; old {
		return nil, nil, errors.New("a notebook of format 3; open it in Jupyter and save it again")
	}
	var cells []object
	if err := json.Unmarshal(orNull(nb["cells"]), &cells); err != nil || cells == nil {
		return nil, nil, fmt.Errorf("not a notebook: cells: %w", orElse(err, "missing"))
	}
	n := notebook{}
	for i, c := range cells {
		if c == nil {
			return nil, nil, fmt.Errorf("not a notebook: cell %d is null", i+1)
		}
		if err := n.cell(c); err != nil {
			return nil, nil, fmt.Errorf("not a notebook: cell %d: %w", i+1, err)
		}
	}
	meta, err := n.metadata(nb["metadata"])
	if err != nil {
		return nil, nil, fmt.Errorf("not a notebook: metadata: %w", err)
	}
	nb["metadata"] = meta
	if nb["cells"], err = plainJSON(cells); err != nil {
		return nil, nil, err
	}
	for field, value := range map[string]string{"nbformat": "4", "nbformat_minor": "5"} {
		if _, ok := nb[field]; !ok {
			nb[field] = json.RawMessage(value)
		}
	}
	out, err := plainJSON(nb)
	return out, n.notes(), err
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

func orElse(err error, text string) error {
	if err != nil {
		return err
	}
	return errors.New(text)
}

// notebook counts what is changed on the way.
type notebook struct {
	outputs, attachments int
	kernelspec, kaggle   bool
}

func (n *notebook) cell(c object) error {
	var kind string
	if err := json.Unmarshal(orNull(c["cell_type"]), &kind); err != nil || kind == "" {
		return errors.New("no cell_type")
	}
	source, err := joinSource(c["source"])
	if err != nil {
		return err
	}
	c["source"] = source
	if _, ok := c["metadata"]; !ok {
		c["metadata"] = json.RawMessage("{}")
	}
	n.attachments += len(c["attachments"])
	if kind != "code" {
		return nil
	}
	var outputs []json.RawMessage
	if json.Unmarshal(orNull(c["outputs"]), &outputs) != nil || len(outputs) > 0 {
		n.outputs++
	}
	c["outputs"], c["execution_count"] = json.RawMessage("[]"), json.RawMessage("null")
	return nil
}

// joinSource makes a source one JSON string. A string is kept as it is written.
func joinSource(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(orNull(raw))
	switch raw[0] {
	case '"':
		return raw, nil
	case 'n':
		return json.RawMessage(`""`), nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, errors.New("source is neither a text nor a list of texts")
	}
	joined := []byte{'"'} // the JSON texts themselves are joined, so that no escape is lost on the way
	for _, p := range parts {
		p = bytes.TrimSpace(p)
		if p[0] != '"' {
			return nil, errors.New("source is neither a text nor a list of texts")
		}
		joined = append(joined, p[1:len(p)-1]...)
	}
	return append(joined, '"'), nil
}

// metadata drops Kaggle's block and sees to the kernelspec, without which a
// notebook uploads fine and then fails at once.
func (n *notebook) metadata(raw json.RawMessage) (json.RawMessage, error) {
	meta := object{}
	if raw != nil && string(raw) != "null" {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return nil, err
		}
	}
	if _, n.kaggle = meta["kaggle"]; n.kaggle {
		delete(meta, "kaggle")
	}
	var spec struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(orNull(meta["kernelspec"]), &spec) != nil || spec.Name == "" {
		n.kernelspec = true
		meta["kernelspec"] = kernelspec(meta["language_info"])
	}
	return plainJSON(meta)
}

// kernelspec is Kaggle's for the notebook's language, Python when it says none.
func kernelspec(info json.RawMessage) json.RawMessage {
	var lang struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(orNull(info), &lang) == nil && (lang.Name == "R" || lang.Name == "r") {
		return json.RawMessage(`{"name":"ir","display_name":"R","language":"R"}`)
	}
	return json.RawMessage(`{"name":"python3","display_name":"Python 3","language":"python"}`)
}

func (n *notebook) notes() []string {
	var out []string
	if n.outputs > 0 {
		out = append(out, fmt.Sprintf("saved outputs of %d cells removed from the notebook", n.outputs))
	}
	if n.kaggle {
		out = append(out, "the notebook's own Kaggle block (accelerator, image, internet) removed; kernel-metadata.json decides")
	}
	if n.kernelspec {
		out = append(out, "the notebook named no kernel, without which Kaggle fails it at once; one was added")
	}
	if n.attachments > largeAttachments {
		out = append(out, fmt.Sprintf("pictures pasted into the notebook take %d bytes of Kaggle's %d", n.attachments, MaxScriptBytes))
	}
	return out
}
