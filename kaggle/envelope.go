package kaggle

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// judge decides what an answer is: an error in one of its shapes, or a body to decode. The order is Kaggle's own sentence
// first (error.message, message), then the status text with the first bytes of the body.
func (c *Client) judge(r rpc, a *answer) (*answer, error) {
	if r.location != nil && a.status >= 300 && a.status < 400 {
		if *r.location = a.header.Get("Location"); *r.location != "" {
			return &answer{status: a.status, header: a.header}, nil
		}
	}
	e := envelope(r, a)
	switch {
	case e != nil:
	case isHTML(a.header, a.body):
		e = &Error{Op: r.op, Status: a.status, Kind: ErrUnavailable, Temporary: true,
			Message: "a web page came instead of an answer, probably from a proxy or a sign-in page of the network",
			Body:    bodyStart(a.body, a.hide...)}
	case len(bytes.TrimSpace(a.body)) == 0 && !r.emptyOK:
		e = malformed(r.op, "the answer is empty", nil, nil)
		e.Status, e.Temporary = a.status, true
	default:
		return a, nil
	}
	if e.Kind == ErrRateLimited || e.Kind == ErrUnavailable {
		e.RetryAfter = parseRetryAfter(a.header, c.now())
		c.limit.rest(c.base+" "+methodKey(r.path), e.RetryAfter)
	}
	if r.unclear && (e.Kind == ErrUnavailable || e.Kind == ErrMalformed) {
		e.Kind, e.Temporary = ErrUnclear, false
		e.Message = strings.TrimSuffix(e.Message, ".") + "; it may have taken effect, look before doing it again"
	}
	return nil, e
}

// envelope reads the three error envelopes; nil when the answer is none.
func envelope(r rpc, a *answer) *Error {
	code, message := envelopeFields(a.body)
	status := a.status
	if status < 300 {
		if code < 400 {
			return nil
		}
		status = code
	}
	kind, temporary := kindOf(status)
	e := &Error{Op: r.op, Status: status, Kind: kind, Temporary: temporary, Message: scrub(message, a.hide...)}
	if message == "" {
		e.Message = http.StatusText(status)
		e.Body = bodyStart(a.body, a.hide...)
		if plainText := e.Body; plainText != "" && !isHTML(a.header, a.body) && plainText[0] != '{' {
			e.Message += ": " + plainText
		}
	}
	return e
}

// envelopeFields gives the code and Kaggle's words from {"error":{"code","message"}} or {"code","message"}.
func envelopeFields(body []byte) (code int, message string) {
	if b := bytes.TrimSpace(body); len(b) == 0 || b[0] != '{' {
		return 0, ""
	}
	var doc struct {
		Error   json.RawMessage `json:"error"`
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return 0, ""
	}
	var inner struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(doc.Error, &inner) == nil {
		code, message = intOf(inner.Code), textOf(inner.Message)
	}
	if message == "" {
		message = textOf(doc.Message)
	}
	if code == 0 {
		code = intOf(doc.Code)
	}
	if message == "" {
		message = textOf(doc.Error)
	}
	return code, message
}

func intOf(raw json.RawMessage) int {
	var n Int
	if n.UnmarshalJSON(raw) != nil {
		return 0
	}
	return int(n)
}

func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

// isHTML tells a page from an answer, by its type or by its first character.
func isHTML(h http.Header, body []byte) bool {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	b := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")))
	if len(b) > 0 && (b[0] == '{' || b[0] == '[') {
		return false
	}
	return t == "text/html" || len(b) > 0 && b[0] == '<'
}

// decodeAnswer puts the body where the caller wants it.
func decodeAnswer(r rpc, a *answer) error {
	body := bytes.TrimSpace(bytes.TrimPrefix(a.body, []byte("\xEF\xBB\xBF")))
	if len(body) == 0 || r.out == nil {
		return nil
	}
	if raw, ok := r.out.(*json.RawMessage); ok && json.Valid(body) && body[0] == '{' {
		*raw = body
		return nil
	}
	var err error
	if body[0] != '{' {
		err = malformed(r.op, "the answer is not a JSON object", nil, nil)
	} else if body, err = withNullable(body); err == nil {
		err = json.Unmarshal(body, r.out)
	}
	if err == nil {
		return nil
	}
	e := malformed(r.op, "the answer does not have the expected form", nil, err)
	e.Status, e.Body = a.status, bodyStart(a.body, a.hide...)
	if r.unclear {
		e.Kind = ErrUnclear
		e.Message += "; it may have taken effect, look before doing it again"
	}
	return e
}

// withNullable moves xxxNullable, which the older surface sends beside an absent or null xxx, to xxx.
func withNullable(body []byte) ([]byte, error) {
	const suffix = "Nullable"
	if !bytes.Contains(body, []byte(suffix+`"`)) {
		return body, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	for k, v := range m {
		name, ok := strings.CutSuffix(k, suffix)
		if cur := m[name]; ok && name != "" && (isNull(cur) || string(cur) == `""`) && !isNull(v) {
			m[name] = v
		}
	}
	return json.Marshal(m)
}
