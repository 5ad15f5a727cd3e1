package runlog

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

var t0 = time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)

// openTemp opens a log in a fresh folder whose name needs escaping in a URI.
func openTemp(t testing.TB) *Log {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "a folder?with#odd%20signs ü", "runs.sqlite"))
}

func openAt(t testing.TB, path string) *Log {
	t.Helper()
	l, err := Open(t.Context(), path, Options{Now: func() time.Time { return t0 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func ptr[T any](v T) *T { return &v }

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// fill puts a different non-zero value into every field of a struct, so that a
// column that is forgotten or swapped shows.
func fill(v reflect.Value, seed *int64) {
	*seed++
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = t0.Add(time.Duration(*seed) * time.Minute)
		return
	case *time.Duration:
		*x = time.Duration(*seed) * time.Second
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text " + string(rune('A'+*seed%50)) + " ü'\"")
	case reflect.Int, reflect.Int64:
		v.SetInt(*seed)
	case reflect.Float64:
		v.SetFloat(float64(*seed) / 8)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), seed)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), seed)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), seed)
		}
	default:
		panic("fill: " + v.Kind().String())
	}
}

func filled[T any](seed int64) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), &seed)
	return v
}

func TestRunKeepsEveryField(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	acc := must(l.SaveAccount(ctx, Account{Username: "sam-roe"}))(t)
	want := filled[Run](100)
	want.Account = acc.ID
	got := must(l.CreateRun(ctx, want))(t)
	want.ID = got.ID
	equal(t, "created", got, want)
	equal(t, "read", must(l.Run(ctx, got.ID))(t), want)

	empty := must(l.CreateRun(ctx, Run{}))(t)
	equal(t, "an empty run", empty, Run{ID: empty.ID, CreatedAt: t0})

	changed := filled[Run](500)
	changed.ID, changed.Account = got.ID, acc.ID
	stored := must(l.UpdateRun(ctx, got.ID, func(r *Run) error { *r = changed; return nil }))(t)
	equal(t, "updated", stored, changed)
	equal(t, "read after the update", must(l.Run(ctx, got.ID))(t), changed)
}

func TestTimesAreStoredInUTCToTheMillisecond(t *testing.T) {
	l := openTemp(t)
	east := time.FixedZone("east", 5*3600)
	r := must(l.CreateRun(t.Context(), Run{PushedAt: t0.Add(123 * time.Microsecond).In(east), Cap: 90*time.Second + 600*time.Microsecond}))(t)
	if r.PushedAt != t0 || r.PushedAt.Location() != time.UTC {
		t.Errorf("pushed at %v, want %v", r.PushedAt, t0)
	}
	if want := 90*time.Second + time.Millisecond; r.Cap != want {
		t.Errorf("cap %v, want %v", r.Cap, want)
	}
}

func TestUpdateRunRefused(t *testing.T) {
	l := openTemp(t)
	r := must(l.CreateRun(t.Context(), Run{Name: "before"}))(t)
	mine := errors.New("not like this")
	if _, err := l.UpdateRun(t.Context(), r.ID, func(r *Run) error { r.Name = "after"; return mine }); err != mine {
		t.Errorf("got %v, want the caller's own error", err)
	}
	if got := must(l.Run(t.Context(), r.ID))(t); got.Name != "before" {
		t.Errorf("name %q was stored although the change was refused", got.Name)
	}
	if _, err := l.UpdateRun(t.Context(), r.ID+1, func(*Run) error { return nil }); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown run: got %v, want ErrNotFound", err)
	}
}

func TestRunsFilter(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	acc := must(l.SaveAccount(ctx, Account{Username: "sam-roe", Kind: "kaggle"}))(t)
	add := func(minute int, r Run) int64 {
		r.CreatedAt = t0.Add(time.Duration(minute) * time.Minute)
		return must(l.CreateRun(ctx, r))(t).ID
	}
	a := add(3, Run{Name: "cnx384", Kernel: "sam-roe/cnx384-train", Version: 1, State: "running", Accelerator: "NvidiaTeslaT4", Origin: "push"})
	b := add(1, Run{Name: "50%_off", Kernel: "sam-roe/off", Version: 2, State: "complete", CollectedAt: t0, Accelerator: "TpuV5E8", Account: acc.ID, Origin: "folder"})
	c := add(2, Run{Name: "baseline", Project: "/home/x/CNX", State: "error", SeenAt: t0, Accelerator: "none", Command: "python src/train.py", Origin: "recorded"})
	d := add(3, Run{Name: "50 off", Kernel: "sam-roe/cnx384-train", Version: 2, State: "queued", Accelerator: "TpuV5E8", Origin: "push"})
	for _, tc := range []struct {
		name string
		f    Filter
		want []int64
	}{
		{"everything, newest first", Filter{}, []int64{d, a, c, b}},
		{"limit", Filter{Limit: 2}, []int64{d, a}},
		{"limit and offset", Filter{Limit: 2, Offset: 1}, []int64{a, c}},
		{"offset alone", Filter{Offset: 3}, []int64{b}},
		{"text in name or project, any case", Filter{Text: "cnX"}, []int64{d, a, c}},
		{"text in the command", Filter{Text: "train.py"}, []int64{c}},
		{"text with LIKE's own signs", Filter{Text: "50%_"}, []int64{b}},
		{"states", Filter{States: []string{"running", "queued"}}, []int64{d, a}},
		{"no state at all", Filter{States: []string{}}, nil},
		{"accelerators", Filter{Accelerators: []string{"TpuV5E8"}}, []int64{d, b}},
		{"kernel", Filter{Kernel: "sam-roe/cnx384-train"}, []int64{d, a}},
		{"kernel and version", Filter{Kernel: "sam-roe/cnx384-train", Version: 1}, []int64{a}},
		{"account", Filter{Account: acc.ID}, []int64{b}},
		{"uncollected", Filter{Uncollected: true}, []int64{d, a, c}},
		{"unseen", Filter{Unseen: true}, []int64{d, a, b}},
		{"since", Filter{Since: t0.Add(2 * time.Minute)}, []int64{d, a, c}},
		{"origins", Filter{Origins: []string{"push", "folder"}}, []int64{d, a, b}},
		{"combined", Filter{Origins: []string{"push"}, States: []string{"queued"}, Text: "off"}, []int64{d}},
	} {
		var got []int64
		for _, r := range must(l.Runs(ctx, tc.f))(t) {
			got = append(got, r.ID)
		}
		equal(t, tc.name, got, tc.want)
	}
}

func TestFindRun(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	acc := must(l.SaveAccount(ctx, Account{Username: "sam-roe", Kind: "kaggle"}))(t)
	const kernel = "sam-roe/x"
	old := must(l.CreateRun(ctx, Run{Kernel: kernel, Version: 1, CreatedAt: t0}))(t)
	mine := must(l.CreateRun(ctx, Run{Kernel: kernel, Version: 2, CreatedAt: t0.Add(time.Minute), Account: acc.ID}))(t)
	again := must(l.CreateRun(ctx, Run{Kernel: kernel, Version: 1, CreatedAt: t0.Add(time.Hour)}))(t)
	for _, tc := range []struct {
		name    string
		account int64
		version int
		want    int64
	}{
		{"newest", 0, 0, again.ID},
		{"a version that exists twice: the later one", 0, 1, again.ID},
		{"the other version", 0, 2, mine.ID},
		{"of one account", acc.ID, 0, mine.ID},
	} {
		if got := must(l.FindRun(ctx, tc.account, kernel, tc.version))(t); got.ID != tc.want {
			t.Errorf("%s: got run %d, want %d (first was %d)", tc.name, got.ID, tc.want, old.ID)
		}
	}
	if _, err := l.FindRun(ctx, acc.ID, kernel, 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestDeleteRunTakesItsRowsAlong(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	keep, gone := must(l.CreateRun(ctx, Run{}))(t), must(l.CreateRun(ctx, Run{}))(t)
	for _, id := range []int64{keep.ID, gone.ID} {
		check(t, l.PutTask(ctx, id, Task{Job: "train"}))
		check(t, l.AddPoints(ctx, id, SeriesRun, Curve{Job: "train", Points: []Point{{Epoch: 1}}}))
		check(t, l.AddUtil(ctx, id, []UtilSample{{Device: "gpu0", T: 1}}))
		check(t, l.SetFindings(ctx, id, []Finding{{Code: "x"}}))
		check(t, l.SetFiles(ctx, id, []File{{Path: "a"}}))
	}
	check(t, l.DeleteRun(ctx, gone.ID))
	check(t, l.DeleteRun(ctx, gone.ID))
	for _, table := range []string{"runs", "tasks", "curves", "points", "util", "findings", "files"} {
		var n int
		check(t, l.r.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n))
		if n != 1 {
			t.Errorf("%s: %d rows are left, want 1", table, n)
		}
	}
	if err := l.PutTask(ctx, gone.ID, Task{Job: "train"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a task of a run that is gone: got %v, want ErrNotFound", err)
	}
	if next := must(l.CreateRun(ctx, Run{}))(t); next.ID <= gone.ID {
		t.Errorf("id %d was given twice", next.ID)
	}
}

func TestAccounts(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	want := filled[Account](10)
	want.ID = 0
	a := must(l.SaveAccount(ctx, want))(t)
	want.ID = a.ID
	equal(t, "saved", a, want)

	again := must(l.SaveAccount(ctx, Account{Username: "TEXT " + want.Username[5:], Kind: want.Kind, Endpoint: want.Endpoint, Store: "file"}))(t)
	if again.ID != a.ID || again.AddedAt != a.AddedAt || again.Store != "file" {
		t.Errorf("the same person in other letters: got %+v, want row %d changed and its age kept", again, a.ID)
	}
	b := must(l.SaveAccount(ctx, Account{Username: "sandy", Kind: "sandbox", UsedAt: t0.Add(100 * time.Hour)}))(t)
	list := must(l.Accounts(ctx))(t)
	if len(list) != 2 || list[0].ID != b.ID {
		t.Errorf("got %+v, want the last used first", list)
	}
	if _, err := l.Account(ctx, 99); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := l.SaveAccount(ctx, Account{ID: 99}); !errors.Is(err, ErrNotFound) {
		t.Errorf("saving an unknown id: got %v, want ErrNotFound", err)
	}
	must(l.CreateRun(ctx, Run{Account: b.ID}))(t)
	if err := l.DeleteAccount(ctx, b.ID); !errors.Is(err, ErrHasRuns) {
		t.Errorf("deleting an account with runs: got %v, want ErrHasRuns", err)
	}
	check(t, l.AddQuota(ctx, a.ID, QuotaReading{At: t0}))
	check(t, l.DeleteAccount(ctx, a.ID))
	if got := must(l.Accounts(ctx))(t); len(got) != 1 {
		t.Errorf("got %d accounts, want 1", len(got))
	}
	if _, err := l.CreateRun(ctx, Run{Account: 99}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a run of an unknown account: got %v, want ErrNotFound", err)
	}
}

func TestTasks(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	run := must(l.CreateRun(ctx, Run{}))(t).ID
	two := filled[Task](5)
	two.Fold = ptr(0)
	one := Task{Job: "zz", State: "running"}
	check(t, l.PutTask(ctx, run, one))
	check(t, l.PutTask(ctx, run, two))
	one.State, one.Best, one.Epochs = "done", ptr(0.5), 7
	check(t, l.PutTask(ctx, run, one))
	equal(t, "tasks", must(l.Tasks(ctx, run))(t), []Task{one, two})
	if err := l.PutTask(ctx, run, Task{Job: "x", Fold: ptr(-1)}); err == nil {
		t.Error("fold -1 was taken for a job without folds")
	}
	check(t, l.PutTask(ctx, run, Task{Job: "zz", Best: ptr(math.NaN())}))
	if got := must(l.Tasks(ctx, run))(t)[0].Best; got != nil {
		t.Errorf("best of a diverged task: got %v, want none", *got)
	}
}

func TestCurvesMergeByEpoch(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	run := must(l.CreateRun(ctx, Run{}))(t).ID
	check(t, l.AddPoints(ctx, run, SeriesRun, Curve{Job: "b", Fold: 1, Epochs: 3, Greater: true, Points: []Point{{2, 0.5, 20}, {1, 0.4, 10}}}))
	check(t, l.AddPoints(ctx, run, SeriesRun, Curve{Job: "b", Fold: 0}))
	check(t, l.AddPoints(ctx, run, SeriesRun, Curve{Job: "a", Fold: 7, Points: []Point{{1, math.NaN(), math.NaN()}, {2, math.Inf(1), 3}}}))
	check(t, l.AddPoints(ctx, run, SeriesBaseline, Curve{Job: "b", Fold: 1, Points: []Point{{1, 0.3, 1}}}))
	check(t, l.AddPoints(ctx, run, SeriesRun, Curve{Job: "b", Fold: 1, Greater: true, Points: []Point{{2, 0.6, 21}, {3, 0.7, 30}}}))
	got := must(l.Curves(ctx, run, SeriesRun))(t)
	if len(got) != 3 || len(got[0].Points) != 2 || !math.IsNaN(got[0].Points[0].Score) || !math.IsNaN(got[0].Points[0].Seconds) || !math.IsInf(got[0].Points[1].Score, 1) {
		t.Fatalf("got %+v, want a diverged curve first", got)
	}
	equal(t, "curves", got[1:], []Curve{
		{Job: "b", Fold: 0},
		{Job: "b", Fold: 1, Epochs: 3, Greater: true, Points: []Point{{1, 0.4, 10}, {2, 0.6, 21}, {3, 0.7, 30}}},
	})
	equal(t, "baseline", must(l.Curves(ctx, run, SeriesBaseline))(t), []Curve{{Job: "b", Fold: 1, Points: []Point{{1, 0.3, 1}}}})
}

func TestUtilIsBoundedAndKeepsItsMean(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	run := must(l.CreateRun(ctx, Run{}))(t).ID
	const n = 3*MaxUtil + 5
	batch := make([]UtilSample, 0, 100)
	for i := range n {
		s := UtilSample{Device: "gpu0", T: float64(i) * 10, Util: float64(i % 101), Mem: 100, Power: math.NaN()}
		if i == 17 {
			s.Mem = 15000
		}
		batch = append(batch, s, UtilSample{Device: "gpu1", T: float64(i) * 10, Util: math.NaN(), Mem: 1, Power: 70})
		if len(batch) >= 100 || i == n-1 {
			check(t, l.AddUtil(ctx, run, batch))
			check(t, l.AddUtil(ctx, run, batch)) // a repeat
			batch = batch[:0]
		}
	}
	count := map[string]int{}
	var peak, last float64
	for _, s := range must(l.Util(ctx, run))(t) {
		count[s.Device]++
		if s.Device == "gpu0" {
			peak, last = max(peak, s.Mem), s.T
			if !math.IsNaN(s.Power) {
				t.Fatalf("power %v appeared from nowhere", s.Power)
			}
		} else if !math.IsNaN(s.Util) || s.Power != 70 {
			t.Fatalf("gpu1: got %+v, want only power 70", s)
		}
	}
	for device, c := range count {
		if c > MaxUtil || c < MaxUtil/2 {
			t.Errorf("%s keeps %d samples, want between %d and %d", device, c, MaxUtil/2, MaxUtil)
		}
	}
	if peak != 15000 || last != (n-1)*10 {
		t.Errorf("peak memory %v and last time %v, want 15000 and %v", peak, last, (n-1)*10)
	}
	var sum, weight, want float64
	check(t, l.r.QueryRowContext(ctx, "SELECT sum(util*n), sum(n) FROM util WHERE device = 'gpu0'").Scan(&sum, &weight))
	for i := range n {
		want += float64(i % 101)
	}
	if weight != n || math.Abs(sum-want) > 1e-6*want {
		t.Errorf("the samples stand for %v with sum %v, want %v with %v", weight, sum, n, want)
	}
}

func TestFindingsAndFilesAreReplaced(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	run := must(l.CreateRun(ctx, Run{}))(t).ID
	check(t, l.SetFindings(ctx, run, []Finding{{Code: "old"}, {Code: "older"}}))
	want := []Finding{filled[Finding](1), {Code: "a"}}
	check(t, l.SetFindings(ctx, run, want))
	equal(t, "findings", must(l.Findings(ctx, run))(t), want)
	check(t, l.SetFiles(ctx, run, []File{{Path: "gone"}}))
	f := filled[File](1)
	check(t, l.SetFiles(ctx, run, []File{f, {Path: "a", Size: 1}, {Path: "a", Size: 2}}))
	equal(t, "files", must(l.Files(ctx, run))(t), []File{{Path: "a", Size: 2}, f})
	if err := l.SetFiles(ctx, run+1, []File{{Path: "a"}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("files of an unknown run: got %v, want ErrNotFound", err)
	}
}

func TestQuotaKeepsWhereAValueBeganAndEnded(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	acc := must(l.SaveAccount(ctx, Account{Username: "sam-roe"}))(t).ID
	if _, err := l.LastQuota(ctx, acc); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	reading := func(minute int, used time.Duration) QuotaReading {
		return QuotaReading{At: t0.Add(time.Duration(minute) * time.Minute), GPU: &PoolReading{Used: used, Reserved: time.Hour, Total: 30 * time.Hour}, RefreshAt: t0.Add(99 * time.Hour)}
	}
	for _, q := range []QuotaReading{reading(0, 1), reading(1, time.Second), reading(2, time.Second), reading(3, time.Second), reading(4, time.Second), reading(5, 2*time.Second)} {
		check(t, l.AddQuota(ctx, acc, q))
	}
	want := []QuotaReading{reading(0, 0), reading(1, time.Second), reading(4, time.Second), reading(5, 2*time.Second)}
	equal(t, "history", must(l.QuotaHistory(ctx, acc, time.Time{}))(t), want)
	equal(t, "history since", must(l.QuotaHistory(ctx, acc, t0.Add(4*time.Minute)))(t), want[2:])
	equal(t, "last", must(l.LastQuota(ctx, acc))(t), want[3])

	full := filled[QuotaReading](50)
	full.At = t0.Add(time.Hour * 1000)
	check(t, l.AddQuota(ctx, acc, full))
	equal(t, "every field", must(l.LastQuota(ctx, acc))(t), full)
	none := QuotaReading{At: full.At.Add(time.Minute)}
	for i := range 3 {
		none.At = none.At.Add(time.Duration(i) * time.Minute)
		check(t, l.AddQuota(ctx, acc, none))
	}
	equal(t, "nothing reported is not zero", must(l.LastQuota(ctx, acc))(t), none)
	if n := len(must(l.QuotaHistory(ctx, acc, full.At))(t)); n != 3 {
		t.Errorf("%d readings, want the full one and the ends of the empty stretch", n)
	}
}

func TestEvents(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	if seq := must(l.LastEvent(ctx))(t); seq != 0 {
		t.Errorf("last event of a new log: %d, want 0", seq)
	}
	want := filled[Event](1)
	want.Seq = must(l.AppendEvent(ctx, want))(t)
	equal(t, "events", must(l.EventsAfter(ctx, 0))(t), []Event{want})
	if _, err := l.w.ExecContext(ctx, "UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'", KeepEvents+10); err != nil {
		t.Fatal(err)
	}
	seq := must(l.AppendEvent(ctx, Event{Kind: "b"}))(t)
	got := must(l.EventsAfter(ctx, 0))(t)
	equal(t, "the old one went", got, []Event{{Seq: seq, Kind: "b", At: t0}})
	if last := must(l.LastEvent(ctx))(t); last != seq {
		t.Errorf("last event %d, want %d", last, seq)
	}
}

func TestOnceAndSettings(t *testing.T) {
	l := openTemp(t)
	ctx := t.Context()
	for i, want := range []bool{true, false, false} {
		if got := must(l.Once(ctx, "run 7 finished"))(t); got != want {
			t.Errorf("time %d: got %v, want %v", i, got, want)
		}
	}
	if !must(l.Once(ctx, "run 8 finished"))(t) {
		t.Error("another key counts as told")
	}
	if got := must(l.Get(ctx, "poll"))(t); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
	check(t, l.Set(ctx, "poll", "10"))
	check(t, l.Set(ctx, "poll", "20"))
	if got := must(l.Get(ctx, "poll"))(t); got != "20" {
		t.Errorf("got %q, want 20", got)
	}
}

func TestDataVersionSeesOthersOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	a, b := openAt(t, path), openAt(t, path)
	ctx := t.Context()
	before := must(a.DataVersion(ctx))(t)
	check(t, a.Set(ctx, "x", "1"))
	if must(a.Get(ctx, "x"))(t); must(a.DataVersion(ctx))(t) != before {
		t.Error("a log's own write counts as another's")
	}
	check(t, b.Set(ctx, "x", "2"))
	if must(a.DataVersion(ctx))(t) == before {
		t.Error("another's write was not seen")
	}
}

func TestCancelledContext(t *testing.T) {
	l := openTemp(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Runs(ctx, Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("read: got %v, want the context's error", err)
	}
	if err := l.Set(ctx, "a", "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("write: got %v, want the context's error", err)
	}
}
