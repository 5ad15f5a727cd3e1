package runlog

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

// queueOf makes an account with n queued runs and gives their IDs in order.
func queueOf(t *testing.T, l *Log, n int) (account int64, ids []int64) {
	t.Helper()
	acc := must(l.SaveAccount(t.Context(), Account{Username: "sam-roe", Kind: "kaggle"}))(t)
	for range n {
		r := must(l.CreateQueued(t.Context(), Run{Account: acc.ID, Kernel: "sam-roe/x", State: "waiting"}, QueueEntry{Since: t0, SourceSHA256: "ab"}))(t)
		ids = append(ids, r.ID)
	}
	return acc.ID, ids
}

func orderOf(t *testing.T, l *Log, account int64) []int64 {
	t.Helper()
	var ids []int64
	for _, q := range must(l.Queue(t.Context(), account))(t) {
		ids = append(ids, q.Run.ID)
	}
	return ids
}

func TestQueueOrder(t *testing.T) {
	l := openTemp(t)
	acc, id := queueOf(t, l, 4)
	check := func(want ...int64) {
		t.Helper()
		if got := orderOf(t, l, acc); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
	}
	check(id...)
	for _, m := range []struct {
		run   int64
		delta int
		want  []int64
	}{
		{id[3], -1, []int64{id[0], id[1], id[3], id[2]}},
		{id[2], math.MinInt, []int64{id[2], id[0], id[1], id[3]}},
		{id[2], -1, []int64{id[2], id[0], id[1], id[3]}}, // already first
		{id[2], 2, []int64{id[0], id[1], id[2], id[3]}},
		{id[0], math.MaxInt, []int64{id[1], id[2], id[3], id[0]}},
	} {
		if err := l.MoveQueued(t.Context(), acc, m.run, m.delta); err != nil {
			t.Fatal(err)
		}
		check(m.want...)
	}
	last := must(l.CreateQueued(t.Context(), Run{Account: acc, Kernel: "sam-roe/y"}, QueueEntry{Since: t0}))(t)
	check(id[1], id[2], id[3], id[0], last.ID)
	if err := l.MoveQueued(t.Context(), acc, 999, 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("moved what is not there: %v", err)
	}
	if err := l.MoveQueued(t.Context(), acc+1, id[0], 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("moved another account's: %v", err)
	}
}

func TestUpdateQueuedIsOneStep(t *testing.T) {
	l := openTemp(t)
	_, id := queueOf(t, l, 2)
	refuse := errors.New("not now")
	_, err := l.UpdateQueued(t.Context(), id[0], func(r *Run, e *QueueEntry) (bool, error) {
		r.State, e.Why = "pushing", "changed"
		return false, refuse
	})
	if e := must(l.Queued(t.Context(), id[0]))(t); !errors.Is(err, refuse) || e.Why != "" || must(l.Run(t.Context(), id[0]))(t).State != "waiting" {
		t.Errorf("a refused change was stored: %v %+v", err, e)
	}
	r, err := l.UpdateQueued(t.Context(), id[0], func(r *Run, e *QueueEntry) (bool, error) {
		r.State, e.Why, e.StoppedAt = "refused", "the input is gone", t0
		return true, nil
	})
	if e := must(l.Queued(t.Context(), id[0]))(t); err != nil || r.State != "refused" || e.Why != "the input is gone" || !e.StoppedAt.Equal(t0) || e.SourceSHA256 != "ab" {
		t.Errorf("%v, run %+v, entry %+v", err, r, e)
	}
	if _, err := l.UpdateQueued(t.Context(), id[1], func(*Run, *QueueEntry) (bool, error) { return false, nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Queued(t.Context(), id[1]); !errors.Is(err, ErrNotFound) {
		t.Errorf("the entry is still there: %v", err)
	}
	if _, err := l.UpdateQueued(t.Context(), id[1], func(*Run, *QueueEntry) (bool, error) { return true, nil }); !errors.Is(err, ErrNotFound) {
		t.Errorf("a run without an entry: %v", err)
	}
	if err := l.DeleteRun(t.Context(), id[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Queued(t.Context(), id[0]); !errors.Is(err, ErrNotFound) {
		t.Errorf("the entry of a deleted run is still there: %v", err)
	}
}

// A follow-up goes before what has not begun and behind the follow-ups before it, wherever these were moved.
func TestFollowUpsGoFirst(t *testing.T) {
	l := openTemp(t)
	acc, id := queueOf(t, l, 2)
	add := func(followUp bool) int64 {
		t.Helper()
		e := QueueEntry{Since: t0, Least: 2 * time.Hour, FollowUp: followUp}
		return must(l.CreateQueued(t.Context(), Run{Account: acc, Kernel: "sam-roe/y", State: "waiting"}, e))(t).ID
	}
	first, last, second := add(true), add(false), add(true)
	check := func(want ...int64) {
		t.Helper()
		if got := orderOf(t, l, acc); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
	}
	check(first, second, id[0], id[1], last)
	if err := l.MoveQueued(t.Context(), acc, second, 99); err != nil {
		t.Fatal(err)
	}
	third := add(true)
	check(first, third, id[0], id[1], last, second)
	if e := must(l.Queued(t.Context(), third))(t); e.Least != 2*time.Hour || !e.FollowUp {
		t.Errorf("kept as %+v", e)
	}
}
