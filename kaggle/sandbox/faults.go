package sandbox

import (
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
	FaultCutStream   = "cut-stream"   // the log stream or file breaks off inside a record, after Fault.Records records
)

// Fault is one rule: calls that match it fail in the way of its kind.
type Fault struct {
	ID      int    `json:"id"`
	Match   string `json:"match"`             // a method's name ("SaveKernel") or a path with * and ?; "" or "*" = every call
	Kind    string `json:"kind"`              // one of the Fault… constants
	Times   int    `json:"times,omitempty"`   // how many calls fail; 0 = 1, negative = until cleared
	After   int    `json:"after,omitempty"`   // let so many matching calls through first
	Message string `json:"message,omitempty"` // instead of the kind's own words
	// RetryAfter is the header's value with kind 429 or 503: "", "2", "0.5", or an HTTP date.
	RetryAfter string        `json:"retry_after,omitempty"`
	Wait       time.Duration `json:"-"`                 // kind slow; in JSON "wait": "1.5s"
	Status     string        `json:"status,omitempty"`  // kind stale-status
	Records    int           `json:"records,omitempty"` // kinds replay-log and cut-stream
	Hits       int           `json:"hits"`              // how often it struck
}

// Faults is the list of rules of one sandbox. Safe for concurrent use.
type Faults struct {
	mu    sync.Mutex
	rules []*faultRule
	next  int
}
