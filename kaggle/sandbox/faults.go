package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kinds of fault.
const (
	Fault401         = "401"          // credential refused
	Fault403         = "403"          // permission denied
	Fault404         = "404"          // No runs found for this kernel.
	Fault409         = "409"          // conflict
	Fault429         = "429"          // rate limit, with Fault.RetryAfter
	Fault500         = "500"          // {"code":500,"message":"Internal error"}
	Fault502HTML     = "502html"      // a gateway's HTML page
	Fault503         = "503"          // unavailable
	FaultEmpty       = "empty"        // 200 without a body
	FaultHTML200     = "html200"      // a proxy's HTML page with status 200
	FaultCutBefore   = "cut-before"   // connection closed before the call had an effect
	FaultCutAfter    = "cut-after"    // the call took effect, then the connection closed without an answer
	FaultSlow        = "slow"         // answered after Fault.Wait
	FaultStaleStatus = "stale-status" // a status call answers for the run before (or Fault.Status)
	FaultReplayLog   = "replay-log"   // the log stream ends cleanly, without END_OF_LOG, after Fault.Records records
	FaultCutStream   = "cut-stream"   // the answer breaks off: a log stream inside the record after Fault.Records ones, anything else half-way
)

var faultKinds = []string{Fault401, Fault403, Fault404, Fault409, Fault429, Fault500, Fault502HTML, Fault503, FaultEmpty, FaultHTML200,
	FaultCutBefore, FaultCutAfter, FaultSlow, FaultStaleStatus, FaultReplayLog, FaultCutStream}

// Fault is one rule: calls that match it fail in the way of its kind.
type Fault struct {
	ID int `json:"id"`
	// Match is a method's name ("SaveKernel", "logs" for the log stream, "files" for downloads of any kind) or a path
	// in which * stands for anything; "" or "*" is every call.
	Match string `json:"match"`
	Kind  string `json:"kind"`            // one of the Fault… constants
	Times int    `json:"times,omitempty"` // how many calls fail; 0 = 1, negative = until cleared
	After int    `json:"after,omitempty"` // let so many matching calls through first
	// Message replaces the kind's own words.
	Message string `json:"message,omitempty"`
	// RetryAfter is the header's value with kinds 429 and 503: "", "2", "0.5", or an HTTP date.
	RetryAfter string `json:"retry_after,omitempty"`
	// Wait is for kind slow; in JSON it is text, e.g. "1.5s". Wall time.
	Wait    Wait   `json:"wait,omitempty"`
	Status  string `json:"status,omitempty"`  // kind stale-status
	Records int    `json:"records,omitempty"` // kinds replay-log and cut-stream
	Hits    int    `json:"hits"`              // how often it struck
}

// Wait is a duration that is text in JSON.
type Wait time.Duration

// MarshalText writes "1.5s".
func (d Wait) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Wait) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Wait(v)
	return err
}

// Faults is the list of rules of one sandbox. Safe for concurrent use.
type Faults struct {
	mu    sync.Mutex
	rules []*faultRule
	next  int
}

type faultRule struct {
	Fault
	seen int // matching calls so far
}

func newFaults() *Faults { return &Faults{} }

// Add puts a rule in force and returns it with its ID. Rules are tried in the order they were added; the first that
// strikes decides.
func (f *Faults) Add(rule Fault) (Fault, error) {
	switch {
	case !slices.Contains(faultKinds, rule.Kind):
		return rule, fmt.Errorf("the fault kind %q is unknown; there are %s", rule.Kind, strings.Join(faultKinds, ", "))
	case rule.Kind == FaultSlow && rule.Wait <= 0:
		return rule, fmt.Errorf("the fault kind slow needs a wait, e.g. \"2s\"")
	case rule.After < 0 || rule.Records < 0:
		return rule, fmt.Errorf("after and records cannot be negative")
	case strings.ContainsAny(rule.RetryAfter, "\r\n"):
		return rule, fmt.Errorf("retry_after cannot hold a line end")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	rule.ID, rule.Hits = f.next, 0
	f.rules = append(f.rules, &faultRule{Fault: rule})
	return rule, nil
}

// List returns the rules, oldest first, the used-up ones included.
func (f *Faults) List() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []Fault{}
	for _, r := range f.rules {
		out = append(out, r.Fault)
	}
	return out
}

// Clear removes every rule.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// Remove removes one rule and says whether it was there.
func (f *Faults) Remove(id int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.rules)
	f.rules = slices.DeleteFunc(f.rules, func(r *faultRule) bool { return r.ID == id })
	return len(f.rules) < n
}

// strike is the rule that hits a call, if one does.
func (f *Faults) strike(method, urlPath string) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if !r.hits(method, urlPath) {
			continue
		}
		times := r.Times
		if times == 0 {
			times = 1
		}
		if times > 0 && r.Hits >= times {
			continue
		}
		r.seen++
		if r.seen <= r.After {
			continue
		}
		r.Hits++
		return r.Fault, true
	}
	return Fault{}, false
}

func (r *faultRule) hits(method, urlPath string) bool {
	switch {
	case r.Kind == FaultStaleStatus && method != "GetKernelSessionStatus",
		r.Kind == FaultReplayLog && method != methodLogs:
		return false
	}
	return r.Match == "" || r.Match == method || glob(r.Match, urlPath)
}

// glob matches a pattern in which * stands for any text, slashes included.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}

// Names that rules use for what is not an RPC.
const (
	methodLogs  = "logs"
	methodFiles = "files"
)

// faultMethod is the name rules know a path by; "" for the sandbox's own pages, which never fail.
func faultMethod(urlPath string) string {
	switch {
	case strings.HasPrefix(urlPath, "/sandbox/"):
		return ""
	case strings.Contains(urlPath, "/kernels/logs/stream/"), strings.HasSuffix(urlPath, "/GetKernelSessionLogsStream"):
		return methodLogs
	case strings.HasPrefix(urlPath, "/kf/"), strings.HasPrefix(urlPath, "/data/"), strings.HasPrefix(urlPath, "/zip/"), strings.HasPrefix(urlPath, "/upload/"):
		return methodFiles
	}
	return path.Base(urlPath)
}

// code is the HTTP status of the kinds that are called after one.
func (f Fault) code() int {
	n, _ := strconv.Atoi(strings.TrimSuffix(f.Kind, "html"))
	return n
}
