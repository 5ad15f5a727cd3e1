package kaggle

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Kaggle's limits are not published. Four calls a second with bursts of ten is well above what this program needs for
// polling and well below what a person's browser does.
const (
	defaultRate  = 4
	defaultBurst = 10
	// longestPause bounds how long a server's Retry-After is obeyed; a longer one is taken for a mistake.
	longestPause = time.Hour
)

// Limiter spaces calls and remembers what the server asked to wait for. Share one among all clients of a process.
type Limiter struct {
	rate *rate.Limiter

	mu    sync.Mutex
	until map[string]time.Time // method at an address -> not before
}

// NewLimiter allows perSecond calls a second and bursts of burst.
func NewLimiter(perSecond float64, burst int) *Limiter {
	return &Limiter{rate: rate.NewLimiter(rate.Limit(perSecond), max(1, burst)), until: map[string]time.Time{}}
}

var processLimiter = NewLimiter(defaultRate, defaultBurst)

// errTooLong is a pause that does not fit into the caller's time.
var errTooLong = errors.New("the wait does not fit into the time there is")

// wait blocks until method may be called. When the server asked for a pause that is longer than most, or than ctx has
// left, it returns that pause and errTooLong at once, and nothing is sent.
func (l *Limiter) wait(ctx context.Context, method string, most time.Duration) (time.Duration, error) {
	if d := l.pause(method, time.Now()); d > 0 {
		if d > most || !fits(ctx, d) {
			return d, errTooLong
		}
		if err := sleep(ctx, d); err != nil {
			return 0, err
		}
	}
	r := l.rate.Reserve()
	if err := sleep(ctx, r.Delay()); err != nil {
		r.Cancel()
		return 0, err
	}
	return 0, nil
}

// pause is how long method has to rest from now on. A rest longer than any we keep means that the clock moved.
func (l *Limiter) pause(method string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.until[method]
	if !ok {
		return 0
	}
	d := t.Sub(now)
	if d <= 0 || d > longestPause {
		delete(l.until, method)
		return 0
	}
	return d
}

// rest keeps method from being called before d has passed.
func (l *Limiter) rest(method string, d time.Duration) {
	if d <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := time.Now().Add(min(d, longestPause)); t.After(l.until[method]) {
		l.until[method] = t
	}
}

// fits tells whether d passes before ctx's deadline.
func fits(ctx context.Context, d time.Duration) bool {
	end, ok := ctx.Deadline()
	return !ok || time.Now().Add(d).Before(end)
}

// sleep waits for d or for ctx, whichever is first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
