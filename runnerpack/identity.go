package runnerpack

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Identity is a kernel's name, checked.
type Identity struct {
	Owner, Slug, Title string
	Notes              []string // what was normalised
}

// ID is owner/slug.
func (i Identity) ID() string { return i.Owner + "/" + i.Slug }

// Slugify is Kaggle's way from a title to a slug: ASCII, lower case, every run
// of other characters one hyphen. How Kaggle transliterates other letters is
// not known, so titles with them are refused by CheckIdentity; here their
// accents are dropped.
func Slugify(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(asciiFold(title)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimRight(b.String(), "-")
}

var letters = strings.NewReplacer("ß", "ss", "ẞ", "SS", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE",
	"ø", "o", "Ø", "O", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ı", "i")

// asciiFold drops accents and spells out a few letters; the rest stays.
func asciiFold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(letters.Replace(s)) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// CheckIdentity checks that a push with this title and id ends up under that
// id. The error is an *IdentityError. An id compares in lower case.
func CheckIdentity(title, id string) (Identity, error) {
	refuse := func(reason, suggest string) (Identity, error) {
		if suggest != "" && (len(suggest) < MinTitle || len(suggest) > MaxTitle || suggest == title) {
			suggest = ""
		}
		return Identity{}, &IdentityError{Title: title, ID: id, Reason: reason, Suggest: suggest}
	}
	owner, slug, notes, reason := splitID(id)
	if reason != "" {
		return refuse(reason, "")
	}
	words := strings.ReplaceAll(slug, "-", " ")
	title = strings.TrimSpace(title)
	n := utf8.RuneCountInString(title)
	switch {
	case title == "":
		return refuse("a new kernel needs a title", words)
	case strings.ContainsAny(title, "\n\r\t\v\f"):
		return refuse("the title has a line break or a tab in it; write it on one line", strings.Join(strings.Fields(title), " "))
	case !isASCII(title):
		return refuse("the title has letters outside ASCII, and how Kaggle spells those in a slug is not known", strings.Join(strings.Fields(keepASCII(asciiFold(title))), " "))
	case Slugify(title) == "":
		return refuse("the title has no letter or digit, so its slug would be empty", words)
	case strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return refuse("a slug has only letters, digits and hyphens; this title becomes "+Slugify(title), "")
	case n < MinTitle:
		return refuse("the title has fewer than five characters", "")
	case n > MaxTitle:
		return refuse("the title has more than fifty characters, which Kaggle answers with an error without a reason", "")
	case len(slug) < MinTitle:
		return refuse("the slug has fewer than five characters", "")
	case Slugify(title) != slug:
		return refuse("the title becomes "+Slugify(title)+", the id says "+slug, words)
	}
	return Identity{Owner: owner, Slug: slug, Title: title, Notes: notes}, nil
}

// splitID takes an id apart, lower-cased; reason says why it is none.
func splitID(id string) (owner, slug string, notes []string, reason string) {
	low := strings.ToLower(strings.TrimSpace(id))
	if low != id {
		notes = append(notes, "the id "+id+" is sent as "+low)
	}
	owner, slug, found := strings.Cut(low, "/")
	switch {
	case !found:
		return "", "", nil, "the owner is missing; write owner/slug"
	case strings.Contains(slug, "/"):
		return "", "", nil, "an id to push has two parts, owner/slug, and no version"
	case slug == "":
		return "", "", nil, "the slug is empty"
	case strings.Trim(owner, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || owner == "":
		return "", "", nil, "the owner is no Kaggle user name"
	}
	return owner, slug, notes, ""
}

func isASCII(s string) bool { return keepASCII(s) == s }

func keepASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= ' ' && r < 0x7f {
			return r
		}
		return -1
	}, s)
}
