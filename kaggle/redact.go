package kaggle

import (
	"regexp"
	"strings"
)

// bodyLimit is how much of an answer an error keeps.
const bodyLimit = 300

// secretShapes find credentials that a server or a proxy echoes.
var secretShapes = []*regexp.Regexp{
	regexp.MustCompile(`KGAT_[A-Za-z0-9._~+/=-]+`),
	regexp.MustCompile(`(?i)\b(?:basic|bearer)\s+[A-Za-z0-9._~+/=-]{6,}`),
	regexp.MustCompile(`(?i)(["']?(?:access_?token|refresh_?token|id_?token|token|key|code|code_?verifier|password|secret|authorization|x-goog-signature|x-goog-credential|signature|sig)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)+"|'[^']+'|[^\s"'&,;}<>]{6,})`),
	regexp.MustCompile(`\b[0-9a-fA-F]{32}\b`),
}

// scrub removes what looks like a credential, and every one of known, from a text that will be shown.
func scrub(s string, known ...string) string {
	for _, k := range known {
		if len(k) >= 4 {
			s = strings.ReplaceAll(s, k, redacted)
		}
	}
	s = secretShapes[0].ReplaceAllString(s, redacted)
	s = secretShapes[1].ReplaceAllString(s, redacted)
	s = secretShapes[2].ReplaceAllString(s, "${1}"+redacted)
	return secretShapes[3].ReplaceAllString(s, redacted)
}

// bodyStart is the start of a body for an error, as text and without credentials.
func bodyStart(b []byte, known ...string) string {
	// Scrubbed before it is cut, so that no half of a credential is left at the edge.
	if len(b) > 64*bodyLimit {
		b = b[:64*bodyLimit]
	}
	s := strings.TrimSpace(scrub(strings.ToValidUTF8(string(b), "\uFFFD"), known...))
	if r := []rune(s); len(r) > bodyLimit {
		return string(r[:bodyLimit]) + "…"
	}
	return s
}
