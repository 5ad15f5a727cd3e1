package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"sandglass/app"
)

// An interrupt ends a verb with words about what became of the run, and with exit code 1.
func TestInterrupt(t *testing.T) {
	tests := []struct{ line, say string }{
		{"wait x", "the run goes on at Kaggle"},
		{"collect x", "the files that arrived are kept"},
		{"push d --yes", "nothing was sent"},
		{"build --name n --cmd c --hours 1", "no kernel folder was written"},
		{"log", "as it was"},
	}
	for _, tt := range tests {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, errs bytes.Buffer
		p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(string) string { return "" },
			open: func(context.Context, app.Options) (core, error) { return &fake{err: ctx.Err()}, nil }, now: func() time.Time { return testNow }, progress: newProgress(&errs)}
		if code := p.run(ctx, strings.Fields(tt.line)); code != exitFailed || !strings.Contains(errs.String(), tt.say) {
			t.Errorf("%s: exit %d, %q, want %q", tt.line, code, errs.String(), tt.say)
		}
	}
}
