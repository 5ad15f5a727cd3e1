package runlog

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// childJob makes the test binary do a job of a second process instead.
const childJob = "SANDGLASS_RUNLOG_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		if err := child(job, os.Getenv(childJob+"_PATH")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child counts up in run 1 ("count N"), or writes until it is killed ("endless"),
// saying what is surely stored.
func child(job, path string) error {
	ctx := context.Background()
	l, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	word, arg, _ := strings.Cut(job, " ")
	n, _ := strconv.Atoi(arg)
	for i := 0; word == "endless" || i < n; i++ {
		r, err := l.UpdateRun(ctx, 1, func(r *Run) error { r.LogRecords++; return nil })
		if err != nil {
			return err
		}
		if word == "endless" {
			if err := l.AddPoints(ctx, 1, SeriesRun, Curve{Job: "train", Points: []Point{{Epoch: r.LogRecords, Score: 1}, {Epoch: -r.LogRecords, Score: 1}}}); err != nil {
				return err
			}
			fmt.Println(r.LogRecords)
		}
	}
	return nil
}

func start(t *testing.T, job, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe := must(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childJob+"="+job, childJob+"_PATH="+path)
	cmd.Stderr = os.Stderr
	out := must(cmd.StdoutPipe())(t)
	check(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

func TestProcessesLoseNothingOfEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	l := openAt(t, path)
	must(l.CreateRun(t.Context(), Run{}))(t)
	const processes, each = 4, 40
	var cmds []*exec.Cmd
	for range processes {
		cmd, _ := start(t, fmt.Sprintf("count %d", each), path)
		cmds = append(cmds, cmd)
	}
	for range each {
		must(l.UpdateRun(t.Context(), 1, func(r *Run) error { r.LogRecords++; return nil }))(t)
	}
	for _, cmd := range cmds {
		check(t, cmd.Wait())
	}
	if got := must(l.Run(t.Context(), 1))(t).LogRecords; got != (processes+1)*each {
		t.Errorf("counted to %d, want %d", got, (processes+1)*each)
	}
}

// TestKilledWhileWriting kills a writer again and again: what it had said is
// stored, nothing is stored by halves, and the file is sound.
func TestKilledWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	l := must(Open(t.Context(), path, Options{}))(t)
	must(l.CreateRun(t.Context(), Run{}))(t)
	check(t, l.Close())
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		cmd, lines := start(t, "endless", path)
		said := 0
		for range 3 + rand.IntN(20) {
			if !lines.Scan() {
				t.Fatal("the writer stopped by itself")
			}
			said = must(strconv.Atoi(lines.Text()))(t)
		}
		check(t, cmd.Process.Kill())
		cmd.Wait() //nolint:errcheck // it was killed
		l := must(Open(t.Context(), path, Options{}))(t)
		var verdict string
		check(t, l.w.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict))
		if verdict != "ok" {
			t.Fatalf("round %d: %s", round, verdict)
		}
		if got := must(l.Run(t.Context(), 1))(t).LogRecords; got < said {
			t.Errorf("round %d: counted to %d, but %d was said to be stored", round, got, said)
		}
		epochs := map[int]bool{}
		for _, p := range must(l.Curves(t.Context(), 1, SeriesRun))(t)[0].Points {
			epochs[p.Epoch] = true
		}
		for e := range epochs {
			if !epochs[-e] {
				t.Errorf("round %d: half of batch %d is there", round, e)
			}
		}
		check(t, l.Close())
	}
}

// TestUpdateRunUnderContention draws random changes for many writers over two
// logs of one file and checks that every single one is in the end result.
func TestUpdateRunUnderContention(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	logs := []*Log{openAt(t, path), openAt(t, path)}
	const runs, writers, changes = 3, 6, 15
	for range runs {
		must(logs[0].CreateRun(t.Context(), Run{}))(t)
	}
	type change struct {
		run  int64
		add  int
		word string
	}
	var wg sync.WaitGroup
	sums := map[int64]int{}
	words := map[int64][]string{}
	for w := range writers {
		var mine []change
		for i := range changes {
			c := change{1 + rng.Int64N(runs), rng.IntN(100), fmt.Sprintf("<%d.%d>", w, i)}
			mine = append(mine, c)
			sums[c.run] += c.add
			words[c.run] = append(words[c.run], c.word)
		}
		l := logs[w%len(logs)]
		wg.Go(func() {
			for _, c := range mine {
				_, err := l.UpdateRun(t.Context(), c.run, func(r *Run) error {
					r.ScriptBytes += c.add
					r.Note += c.word
					r.Jobs = append(r.Jobs, c.word)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for id := int64(1); id <= runs; id++ {
		r := must(logs[0].Run(t.Context(), id))(t)
		if r.ScriptBytes != sums[id] || len(r.Jobs) != len(words[id]) {
			t.Errorf("run %d: sum %d and %d jobs, want %d and %d", id, r.ScriptBytes, len(r.Jobs), sums[id], len(words[id]))
		}
		for _, w := range words[id] {
			if strings.Count(r.Note, w) != 1 {
				t.Errorf("run %d: %s is %d times in the note", id, w, strings.Count(r.Note, w))
			}
		}
	}
}

// BenchmarkRuns lists from a log of 10,000 runs as screens do.
func BenchmarkRuns(b *testing.B) {
	l := openTemp(b)
	ctx := b.Context()
	tx := must(l.w.BeginTx(ctx, nil))(b)
	states := []string{"complete", "complete", "complete", "error", "cancelled"}
	for i := range 10_000 {
		r := Run{Name: fmt.Sprintf("idea%d", i), Kernel: fmt.Sprintf("sam-roe/idea%d-train", i%500), Command: "python src/train.py --fold {fold}",
			State: states[i%len(states)], CreatedAt: t0.Add(time.Duration(i) * time.Minute), CollectedAt: t0, Folds: []int{0, 1, 2, 3, 4}}
		if i > 9_996 {
			r.State = "running"
		}
		if _, err := tx.ExecContext(ctx, insertRun, r.fields()...); err != nil {
			b.Fatal(err)
		}
	}
	check(b, tx.Commit())
	for _, bc := range []struct {
		name string
		f    Filter
		want int
	}{
		{"in-flight", Filter{States: []string{"pushing", "unclear", "waiting", "queued", "running", "stopping"}}, 3},
		{"first-page", Filter{Limit: 50}, 50},
		{"kernel", Filter{Kernel: "sam-roe/idea7-train"}, 20},
		{"text", Filter{Text: "idea99", Limit: 50}, 50},
		{"uncollected", Filter{Uncollected: true}, 0},
	} {
		b.Run(bc.name, func(b *testing.B) {
			for b.Loop() {
				if got := len(must(l.Runs(ctx, bc.f))(b)); got != bc.want {
					b.Fatalf("%d runs, want %d", got, bc.want)
				}
			}
		})
	}
}
