package sandbox

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle"
)

// stream opens the live log in process.
func (w web) stream(ctx context.Context, slug string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://sandbox/api/v1/"+kaggle.PathLogStreamGET+"sam-roe/"+slug, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.auth(r)
	res, err := w.s.Transport().RoundTrip(r)
	if err != nil {
		w.t.Fatalf("stream of %s: %v", slug, err)
	}
	return res
}

// ticks logs n lines, one every so often.
func ticks(n int, every time.Duration) scripted {
	return func(ctx context.Context, job Job) Result {
		for i := range n {
			job.Log("stdout", "epoch "+string(rune('0'+i))+"\n")
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return Result{Status: StatusError}
			}
		}
		return Result{Status: StatusComplete}
	}
}

func TestLiveStreamInProcess(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := use(t, open(t, Options{Home: home, StartDelay: 30 * time.Second, Executor: ticks(3, time.Hour)}))
		w.pushed("leaf-fold-0", nil)
		res := w.stream(t.Context(), "leaf-fold-0") // held until the session starts
		want(t, "type", res.Header.Get("Content-Type"), "text/event-stream; charset=utf-8")
		lines := bufio.NewReader(res.Body)
		began := time.Now()
		for i, expected := range []string{
			`data: {"stream_name":"stdout","time":0,"data":"epoch 0\n"}`,
			`data: {"stream_name":"stdout","time":3600,"data":"epoch 1\n"}`,
			`data: {"stream_name":"stdout","time":7200,"data":"epoch 2\n"}`,
			`data: END_OF_LOG`,
		} {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			want(t, "event", strings.TrimSpace(line), expected)
			want(t, "it came when it was written", time.Since(began), time.Duration(i)*time.Hour)
			if blank, _ := lines.ReadString('\n'); blank != "\n" {
				t.Errorf("after an event: got %q, want a blank line", blank)
			}
			if i == 1 {
				// A second connection starts from the first record.
				again := w.stream(t.Context(), "leaf-fold-0")
				first, _ := bufio.NewReader(again.Body).ReadString('\n')
				wantText(t, "replay", first, "epoch 0")
				again.Body.Close()
			}
		}
		if _, err := lines.ReadByte(); err != io.EOF {
			t.Errorf("after the end: got %v, want EOF", err)
		}
		synctest.Wait()
		over := w.stream(t.Context(), "leaf-fold-0")
		raw, _ := io.ReadAll(over.Body)
		want(t, "type once it is over", over.Header.Get("Content-Type"), "application/json")
		want(t, "the whole log", string(raw), `[{"stream_name":"stdout","time":0,"data":"epoch 0\n"}
,{"stream_name":"stdout","time":3600,"data":"epoch 1\n"}
,{"stream_name":"stdout","time":7200,"data":"epoch 2\n"}
]`)
		rpc, rpcRaw := w.call(kaggle.PathLogsStream, kaggle.LogsStreamRequest{UserName: "sam-roe", KernelSlug: "leaf-fold-0", VersionLabel: "v1"})
		want(t, "as an RPC", rpc, 200)
		want(t, "as an RPC", rpcRaw, string(raw))
	})
}

func TestStreamOfQueuedSession(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := use(t, open(t, Options{Home: home, TPUQueue: 13 * time.Hour, Executor: ticks(1, time.Hour)}))
		w.pushed("tpu-fold-0", tpu)
		began := time.Now()
		raw, err := io.ReadAll(w.stream(t.Context(), "tpu-fold-0").Body)
		want(t, "held", time.Since(began), logWait)
		if len(raw) != 0 || err != nil {
			t.Errorf("a stream of a queued session: got %q, %v, want it to end empty", raw, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://sandbox/api/v1/"+kaggle.PathLogStreamGET+"sam-roe/tpu-fold-0", nil)
		w.auth(r)
		if _, err := w.s.Transport().RoundTrip(r); err != context.DeadlineExceeded {
			t.Errorf("a client that gives up: got %v, want its deadline", err)
		}
	})
}

func TestStreamRefusals(t *testing.T) {
	w := use(t, open(t, Options{Executor: scripted(done)}))
	want(t, "unknown kernel", w.stream(t.Context(), "no-kernel").StatusCode, 403)
	w.pushed("draft-only", map[string]any{"kernelExecutionType": kaggle.ExecQuickSave})
	want(t, "never run", w.stream(t.Context(), "draft-only").StatusCode, 404)
	want(t, "no credential", w.as(anonymous).stream(t.Context(), "draft-only").StatusCode, 401)
}

// The client merges what dropped and replayed connections give, and loses and doubles nothing.
func TestClientFollowsThroughFaults(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Home: home, Executor: ticks(6, time.Minute)})
		w := use(t, s)
		for _, f := range []Fault{{Kind: FaultCutStream, Match: methodLogs, Records: 2}, {Kind: FaultReplayLog, Records: 4}} {
			if _, err := s.Faults().Add(f); err != nil {
				t.Fatal(err)
			}
		}
		c, err := kaggle.New(kaggle.Config{Endpoint: "http://sandbox", Auth: kaggle.Basic("sam-roe", testKey), Transport: s.Transport()})
		if err != nil {
			t.Fatal(err)
		}
		w.pushed("leaf-fold-0", nil)
		var text strings.Builder
		n := 0
		for range 10 {
			end, err := c.FollowLog(t.Context(), kaggle.Ref{Owner: "sam-roe", Slug: "leaf-fold-0"}, 1, n, func(r kaggle.LogRecord) error {
				text.WriteString(r.Data)
				n++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if end == kaggle.LogEnded {
				break
			}
		}
		want(t, "merged", text.String(), "epoch 0\nepoch 1\nepoch 2\nepoch 3\nepoch 4\nepoch 5\n")
		for _, f := range s.Faults().List() {
			want(t, f.Kind+" struck", f.Hits, 1)
		}
	})
}
