package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
	"sandglass/planner"
	"sandglass/runnerpack"
)

// queueDay is one random evening before the weekly reset: runs are queued and
// pushed by hand, moved, removed, paused; sessions, inputs and answers come and go;
// the program is restarted. It watches every push that reaches Kaggle.
type queueDay struct {
	t    *testing.T
	rnd  *rand.Rand
	w    *world
	home string
	n    int
	went int // runs that the queue pushed
	cut  int // pushes with a shorter cap than the run's own

	mu      sync.Mutex // what follows is read while a request of the app is answered
	a       *App
	queued  map[string]runlog.Run // by kernel: authorised for the queue
	dirs    map[string]string
	sources map[string]string // of those that may be shortened
	byHand  map[string]bool
	removed map[string]bool
	changed map[string]bool
	paused  time.Time // zero = not
	ready   map[string]bool
	gone    map[string]bool
	tries   map[string]int
	reset   time.Time
}

// Never twice, never out of order, never what was not authorised.
func TestQueueInRandomWorlds(t *testing.T) {
	worlds, steps, went, cut := 6, 40, 0, 0
	if testing.Short() {
		worlds, steps = 2, 17
	}
	if s := os.Getenv("SANDGLASS_TEST_WORLDS"); s != "" {
		worlds, _ = strconv.Atoi(s)
	}
	for seed := range worlds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newQueueDay(t, uint64(seed))
				for range steps {
					d.step()
				}
				d.settle()
				went, cut = went+d.went, cut+d.cut
			})
		})
	}
	if went < 2*worlds || cut == 0 {
		t.Errorf("only %d runs went out of the queue in %d worlds, %d with a shorter cap: these prove little", went, worlds, cut)
	}
}

func newQueueDay(t *testing.T, seed uint64) *queueDay {
	d := &queueDay{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), home: t.TempDir(), queued: map[string]runlog.Run{}, dirs: map[string]string{}, sources: map[string]string{}, byHand: map[string]bool{},
		removed: map[string]bool{}, changed: map[string]bool{}, ready: map[string]bool{}, gone: map[string]bool{}, tries: map[string]int{}}
	length := rand.New(rand.NewPCG(seed, 8))
	var runs = make(chan time.Duration, 1000)
	for range cap(runs) {
		runs <- time.Duration(2+length.IntN(25)) * time.Minute
	}
	d.w = newWorld(t, sandbox.Options{GPUTotal: 90 * time.Minute, TPUTotal: time.Hour, TPUQueue: 10 * time.Minute}, func(ctx context.Context, job sandbox.Job) sandbox.Result {
		return works(<-runs)(ctx, job)
	})
	d.w.answer = d.answer
	d.reset = time.Now().Add(7 * 24 * time.Hour)
	time.Sleep(6*24*time.Hour + 22*time.Hour) // the bubble begins on a Saturday: some hours to the reset
	d.open()
	return d
}

func (d *queueDay) open() {
	a := d.w.open(d.t, d.home)
	d.note(func() { d.a = a })
	if err := d.a.StartWatcher(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// note writes something down that answer reads.
func (d *queueDay) note(write func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	write()
}

// answer plays the inputs and watches the pushes.
func (d *queueDay) answer(method string, body []byte) (int, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch method {
	case "GetDatasetStatus":
		var q struct{ DatasetSlug string }
		json.Unmarshal(body, &q) //nolint:errcheck // ours
		switch {
		case d.gone[q.DatasetSlug]:
			return http.StatusNotFound, `{"error":{"code":404,"message":"Not found"}}`, nil
		case d.ready[q.DatasetSlug]:
			return 200, `{"status":"READY"}`, nil
		}
		return 200, `{"status":"PENDING"}`, nil
	case "SaveKernel":
		d.watch(body)
	}
	return 0, "", nil
}

// watch judges a push at the moment it reaches Kaggle.
func (d *queueDay) watch(body []byte) {
	var req kaggle.SaveKernelRequest
	if err := json.Unmarshal(body, &req); err != nil {
		d.t.Error(err)
		return
	}
	d.tries[req.Slug]++
	if d.byHand[req.Slug] {
		if d.tries[req.Slug] > 1 {
			d.t.Errorf("%s was pushed by hand and is sent again by itself", req.Slug)
		}
		return
	}
	r, ok := d.queued[req.Slug]
	switch {
	case !ok:
		return // the call that authorises it is still going on
	case d.removed[req.Slug]:
		d.t.Errorf("%s was taken out and is pushed", req.Slug)
	case !d.agreedTo(req, r):
		d.t.Errorf("%s is not what was authorised: cap %d s", req.Slug, req.SessionTimeoutSeconds)
	case !d.paused.IsZero() && time.Since(d.paused) > 5*time.Second:
		d.t.Errorf("%s is pushed while the queue is paused", req.Slug)
	}
	r.Cap = time.Duration(req.SessionTimeoutSeconds) * time.Second
	d.checkOrder(r)
}

// agreedTo says that a push is what was authorised, or the same with a shorter cap that was allowed.
func (d *queueDay) agreedTo(req kaggle.SaveKernelRequest, r runlog.Run) bool {
	limit := time.Duration(req.SessionTimeoutSeconds) * time.Second
	if textSHA256(req.Text) == r.SourceSHA256 && limit == r.Cap {
		return true
	}
	long := d.sources[req.Slug]
	text, err := runnerpack.WithHours(long, scriptHours(limit))
	d.cut++
	return textSHA256(long) == r.SourceSHA256 && err == nil && text == req.Text && limit >= dayLeast && limit < r.Cap
}

// dayLeast is the shortest cap of the runs of the day that may be shortened.
const dayLeast = 17 * time.Minute

// checkOrder: what stands ahead in the same pool waits for something that may be passed.
func (d *queueDay) checkOrder(r runlog.Run) {
	q, err := d.a.store.Queue(context.Background(), r.Account)
	if err != nil {
		return // it is being closed
	}
	for _, x := range q {
		if x.Run.ID == r.ID {
			return
		}
		if x.Run.State != StateWaiting || !x.Entry.StoppedAt.IsZero() || poolOf(x.Run) != poolOf(r) {
			continue
		}
		switch x.Entry.Code {
		case planner.WaitInputs, planner.WaitMissing, planner.WaitFill:
		case planner.WaitQuota:
			last, err := d.a.store.LastQuota(context.Background(), r.Account)
			toReset := time.Until(d.reset)
			if toReset <= 0 { // the day went on into the new week
				toReset += 7 * 24 * time.Hour
			}
			if err != nil || poolOf(r) != PoolGPU || toReset < r.Cap || cmp.Or(x.Entry.Least, x.Run.Cap) <= last.GPU.Total-last.GPU.Used {
				d.t.Errorf("%s (%s) passes %s, which waits for %s of quota with %s to the reset", r.Kernel, r.Cap, x.Run.Kernel, x.Run.Cap, toReset)
			}
		default:
			if x.Entry.Since.Before(r.CreatedAt) || x.Entry.TriedAt.After(r.CreatedAt) {
				d.t.Errorf("%s passes %s, which waits: %s (%s)", r.Kernel, x.Run.Kernel, x.Entry.Code, x.Entry.Why)
			}
		}
	}
}

func (d *queueDay) step() {
	time.Sleep(time.Duration(d.rnd.IntN(600)) * time.Second)
	switch n := d.rnd.IntN(20); {
	case n < 7:
		d.push()
	case n < 9:
		d.move()
	case n < 10:
		d.remove()
	case n < 11:
		d.pause()
	case n < 13:
		closeApp(d.t, d.a)
		time.Sleep(time.Duration(d.rnd.IntN(900)) * time.Second)
		d.open()
	case n < 15:
		d.input()
	case n < 16:
		d.change()
	default:
		d.fault()
	}
}

func (d *queueDay) push() {
	d.n++
	slug := fmt.Sprintf("random-run-%02d", d.n)
	kernel := "sam-roe/" + slug
	shape := []string{"NvidiaTeslaT4", "NvidiaTeslaT4", "NvidiaTeslaT4", "TpuV5E8", "none"}[d.rnd.IntN(5)]
	more := map[string]any{}
	if d.rnd.IntN(3) == 0 {
		more["dataset_sources"] = []string{"sam-roe/" + fmt.Sprint("data-", d.rnd.IntN(3))}
	}
	dir := kernelFolder(d.t, slug, shape, more)
	opt := PushOptions{Hours: float64(1+d.rnd.IntN(6)) / 10, QueueIfFull: d.rnd.IntN(4) > 0}
	source := ""
	if shape == "NvidiaTeslaT4" && opt.QueueIfFull && d.rnd.IntN(3) == 0 {
		dir, opt.Hours, opt.LeastHours = packedFolder(d.t, d.a, slug, 1), 0.7, dayLeast.Hours()
		f, err := runnerpack.ReadFolder(dir)
		if err != nil {
			d.t.Fatal(err)
		}
		source = f.Source
	}
	d.note(func() { d.sources[kernel] = source })
	d.note(func() { d.byHand[kernel] = !opt.QueueIfFull })
	row, err := tryPush(d.a, dir, opt)
	if err != nil || !opt.QueueIfFull {
		return
	}
	r := getRun(d.t, d.a, row.ID)
	d.note(func() { d.queued[kernel], d.dirs[kernel] = r, dir })
}

// waiting picks a run that waits; ok is false when none does.
func (d *queueDay) waiting() (q QueueRow, ok bool) {
	rows := queueOf(d.t, d.a)
	for _, i := range d.rnd.Perm(len(rows)) {
		if rows[i].State == StateWaiting {
			return rows[i], true
		}
	}
	return q, false
}

func (d *queueDay) move() {
	if q, ok := d.waiting(); ok {
		d.a.QueueMove(d.t.Context(), q.ID, d.rnd.IntN(7)-3) //nolint:errcheck // it may have gone out meanwhile
	}
}

func (d *queueDay) remove() {
	if q, ok := d.waiting(); ok && d.a.QueueRemove(d.t.Context(), q.ID) == nil {
		d.note(func() { d.removed[q.Kernel] = true })
	}
}

func (d *queueDay) pause() {
	on := d.paused.IsZero()
	if !on {
		d.note(func() { d.paused = time.Time{} })
	}
	if err := d.a.QueuePause(d.t.Context(), on); err != nil {
		d.t.Fatal(err)
	}
	if on {
		d.note(func() { d.paused = time.Now() })
	}
}

func (d *queueDay) input() {
	slug := fmt.Sprint("data-", d.rnd.IntN(3))
	gone := d.rnd.IntN(5) == 0
	d.note(func() { d.ready[slug], d.gone[slug] = !d.ready[slug], gone })
}

func (d *queueDay) change() {
	q, ok := d.waiting()
	if dir := d.dirs[q.Kernel]; ok && dir != "" { // none: pushed by hand with an unclear outcome
		d.note(func() { d.changed[q.Kernel] = true })
		f, err := runnerpack.ReadFolder(dir)
		if err != nil {
			d.t.Fatal(err)
		}
		writeAll(d.t, dir, map[string]string{f.Metadata.CodeFile: "print('not what was agreed to')\n"})
	}
}

func (d *queueDay) fault() {
	kind := []string{sandbox.FaultCutBefore, sandbox.FaultCutAfter, sandbox.Fault429, sandbox.Fault500, sandbox.Fault502HTML, sandbox.FaultEmpty}[d.rnd.IntN(6)]
	match := []string{"SaveKernel", "SaveKernel", "GetKernel", "GetKernelSessionStatus", "*"}[d.rnd.IntN(5)]
	if _, err := d.w.box.Faults().Add(sandbox.Fault{Match: match, Kind: kind, Times: 1 + d.rnd.IntN(6)}); err != nil {
		d.t.Fatal(err)
	}
}

// settle lets the world be good, and looks at what there is: one version at most of
// each kernel, and everything that was authorised and may go has gone.
func (d *queueDay) settle() {
	d.w.box.Faults().Clear()
	d.note(func() {
		for i := range 3 {
			d.ready[fmt.Sprint("data-", i)], d.gone[fmt.Sprint("data-", i)] = true, false
		}
	})
	if !d.paused.IsZero() {
		d.pause()
	}
	settled := 4 * time.Hour
	if testing.Short() {
		settled = 75 * time.Minute
	}
	time.Sleep(settled)
	defer closeApp(d.t, d.a)
	for i := 1; i <= d.n; i++ {
		slug := fmt.Sprintf("random-run-%02d", i)
		v := versionAt(d.t, d.a, slug)
		if v > 1 {
			d.t.Errorf("%s was pushed %d times", slug, v)
		}
		r, ok := d.queued["sam-roe/"+slug]
		if !ok {
			continue
		}
		now := getRun(d.t, d.a, r.ID)
		d.went += v
		if v == 1 != (now.Version == 1) {
			d.t.Errorf("%s: version %d at Kaggle and %d here, %s", slug, v, now.Version, now.State)
		}
		if v == 0 && !d.removed[r.Kernel] && now.State != StateWaiting && !strings.HasPrefix(now.Failure, "left the queue: ") {
			d.t.Errorf("%s never went out and is %s: %q", slug, now.State, now.Failure)
		}
	}
	for _, q := range queueOf(d.t, d.a) {
		if q.Stopped || q.Code == planner.WaitQuota || q.Code == planner.WaitSlots || q.Code == planner.WaitBehind {
			continue
		}
		d.t.Errorf("%s still waits: %s, %s", q.Kernel, q.Code, q.Why)
	}
}
