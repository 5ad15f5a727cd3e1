package kaggle

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The one retry policy: a call that is safe to repeat is tried tryLimit times within retryBudget, after firstDelay,
// doubling, with jitter. What the server asks to wait is a lower bound, never undercut.
const (
	tryLimit    = 4
	retryBudget = 2 * time.Minute
	firstDelay  = 500 * time.Millisecond
	mostDelay   = 30 * time.Second
)

// repeat runs try until it succeeds, fails for good, or the policy says stop.
func (c *Client) repeat(ctx context.Context, try func(n int) error) error {
	start := time.Now()
	for n := 1; ; n++ {
		err := try(n)
		var e *Error
		if err == nil || !errors.As(err, &e) || !e.Temporary || n == tryLimit || ctx.Err() != nil {
			return err
		}
		wait := max(c.backoff(n), e.RetryAfter)
		if time.Since(start)+wait > retryBudget || !fits(ctx, wait) {
			return err
		}
		c.log.Debug("call failed, trying again", "op", e.Op, "try", n, "status", e.Status, "wait", wait)
		if sleep(ctx, wait) != nil {
			return contextError(ctx, e.Op)
		}
	}
}

// backoff before try n+1: the doubled delay, somewhere between its half and one and a half of it.
func (c *Client) backoff(n int) time.Duration {
	d := float64(firstDelay) * math.Pow(2, float64(n-1))
	return time.Duration(min(d*(0.5+c.rand()), float64(mostDelay)))
}

// parseRetryAfter reads seconds, fractions allowed, or an HTTP date; nonsense and the past are 0.
func parseRetryAfter(h http.Header, now time.Time) time.Duration {
	s := strings.TrimSpace(h.Get("Retry-After"))
	if s == "" {
		return 0
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if math.IsNaN(f) || f <= 0 {
			return 0
		}
		// Rounded up: a fraction of a nanosecond must not undercut.
		return time.Duration(math.Ceil(min(f, 365*24*3600) * float64(time.Second)))
	}
	t, err := http.ParseTime(s)
	if err != nil || !t.After(now) {
		return 0
	}
	return t.Sub(now)
}
