package kaggle

import (
	"fmt"
	"net/url"
	"strings"
)

// Ref is the address of a kernel or a dataset: owner and slug, lower-case.
type Ref struct{ Owner, Slug string }

// String is "owner/slug", and "" for the zero Ref.
func (r Ref) String() string {
	if r == (Ref{}) {
		return ""
	}
	return r.Owner + "/" + r.Slug
}

// IsZero tells a Ref that names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// WebURL is the kernel's page for people.
func (r Ref) WebURL() string { return webProduction + "/code/" + r.Owner + "/" + r.Slug }

// kernelPages are the tabs a kernel's web address may end in.
var kernelPages = map[string]bool{
	"edit": true, "notebook": true, "script": true, "output": true, "log": true, "logs": true,
	"comments": true, "data": true, "input": true, "settings": true, "versions": true, "history": true,
}

// sitePages are first segments of Kaggle's own pages: nobody's name.
var sitePages = map[string]bool{"code": true, "datasets": true, "competitions": true, "models": true, "docs": true, "discussions": true, "learn": true}

// ParseRef reads owner/slug, /code/owner/slug (as a push answers), and a web address such as
// https://www.kaggle.com/code/owner/slug/output?scriptVersionId=1. On another host than Kaggle's the path must start with
// /code/ or /datasets/. Letters become lower-case.
func ParseRef(s string) (Ref, error) {
	bad := func() (Ref, error) {
		return Ref{}, fmt.Errorf("%q is not a kernel address; write owner/slug", snippet([]byte(s)))
	}
	path := strings.TrimSpace(s)
	needWord := false
	low := strings.ToLower(path)
	if strings.HasPrefix(low, "www.kaggle.com/") || strings.HasPrefix(low, "kaggle.com/") {
		path = "https://" + path
	}
	if strings.Contains(path, "://") {
		u, err := url.Parse(path)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return bad()
		}
		host := strings.ToLower(u.Hostname())
		needWord = host != "kaggle.com" && !strings.HasSuffix(host, ".kaggle.com")
		path = u.Path
	} else {
		path, _, _ = strings.Cut(path, "?")
		path, _, _ = strings.Cut(path, "#")
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	word := len(parts) >= 3 && (strings.EqualFold(parts[0], "code") || strings.EqualFold(parts[0], "datasets"))
	switch {
	case word:
		parts = parts[1:]
	case needWord:
		return bad()
	}
	if len(parts) == 3 && kernelPages[strings.ToLower(parts[2])] {
		parts = parts[:2]
	}
	if len(parts) != 2 || sitePages[strings.ToLower(parts[0])] || !validName(parts[0]) || !validName(parts[1]) {
		return bad()
	}
	return Ref{Owner: strings.ToLower(parts[0]), Slug: strings.ToLower(parts[1])}, nil
}

// validName allows what Kaggle's owner names and slugs are made of.
func validName(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return true
}

// check refuses to put a half address on the wire.
func (r Ref) check(op string) error {
	if validName(r.Owner) && validName(r.Slug) {
		return nil
	}
	return &Error{Op: op, Kind: ErrRejected, Message: fmt.Sprintf("%q is not an address of the form owner/slug", snippet([]byte(r.Owner+"/"+r.Slug)))}
}
