package runnerpack

import "strings"

// CheckInput says whether an input's reference has the form that Kaggle has for
// its kind; the error is a *SpecError.
func CheckInput(in Input) error {
	return checkRef(in.Kind, in.Kind, strings.ToLower(strings.TrimSpace(in.Ref)))
}

// InputFolder is where a session links an input, slash-separated under the
// project: its own target, else what the layout ("" is flat) says. "" is a model
// without a target, which is attached and not linked. session/runner.py has the
// same rule.
func InputFolder(in Input, layout string) string {
	if in.Target != "" {
		return in.Target
	}
	slug := in.Ref[strings.LastIndexByte(in.Ref, '/')+1:]
	switch {
	case in.Kind == "model":
		return ""
	case layout == "nested" && in.Kind == "kernel":
		return "data/ext/kout-" + slug
	case layout == "nested" && in.Kind != "competition":
		return "data/ext/" + slug
	}
	return "data"
}
