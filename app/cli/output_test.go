package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"

	"sandglass/app"
)

// TestProgressSideBySide: three downloads that report by turns are three lines in a file, not one for every thousand bytes.
func TestProgressSideBySide(t *testing.T) {
	var out strings.Builder
	g := newProgress(&out)
	var wg sync.WaitGroup
	for _, item := range []string{"a.npy", "b.npy", "c.npy"} {
		wg.Go(func() {
			for i := range 500 {
				g.report(app.Progress{Stage: "Downloading", Item: item, Done: int64(i), Total: 500})
			}
		})
	}
	wg.Wait()
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Errorf("%d lines:\n%.300s", n, out.String())
	}
}

// TestPlain: what a session wrote cannot steer the terminal.
func TestPlain(t *testing.T) {
	if got := plain("a\x1b[31mb\x00\u009b2J\tü\n"); strings.ContainsAny(got, "\x1b\x00\u009b") || !strings.Contains(got, "\tü\n") {
		t.Errorf("%q", got)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestResultNotPrinted: a result that did not reach its file is no success.
func TestResultNotPrinted(t *testing.T) {
	for _, json := range []bool{false, true} {
		var errs strings.Builder
		p := &program{stdout: fullDisk{}, stderr: &errs, json: json, progress: newProgress(&errs)}
		err := p.result("x", func(w io.Writer) { fmt.Fprintln(w, "x") })
		if code := p.finish(t.Context(), err); code != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("json %v: exit %d, %s", json, code, errs.String())
		}
	}
}

func TestHoursKeepAQuarter(t *testing.T) {
	for h, want := range map[float64]string{.25: "0.25 h", .5: "0.5 h", .05: "0.05 h", 0: "0.0 h", 1.25: "1.2 h", 6: "6.0 h", .3000001: "0.3 h"} {
		if got := hours(h); got != want {
			t.Errorf("%v: %s, want %s", h, got, want)
		}
	}
}

func TestCostsOfSecondsAreNoZeroHours(t *testing.T) {
	for h, want := range map[float64]string{.002: "7 s", .04: "2 min", .05: "0.05 h", 1.1: "1.1 h"} {
		if got := costText(h); got != want {
			t.Errorf("%v: %s, want %s", h, got, want)
		}
	}
}
