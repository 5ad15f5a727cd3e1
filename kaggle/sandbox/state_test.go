package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle"
)

// What a sandbox held is there after a restart; what was going is marked as stopped, and its slot is free.
func TestRestart(t *testing.T) {
	home := t.TempDir()
	data := t.TempDir()
	os.WriteFile(filepath.Join(data, "train.csv"), []byte("id\n"), 0o600)
	synctest.Test(t, func(t *testing.T) {
		opt := Options{Home: home, Username: "sam-roe", Executor: scripted(func(ctx context.Context, job Job) Result {
			job.Log("stdout", "started\n")
			os.WriteFile(filepath.Join(job.Working, "half.txt"), []byte("half"), 0o600)
			return lasts(2*time.Hour)(ctx, job)
		})}
		s, err := New(opt)
		if err != nil {
			t.Fatal(err)
		}
		w := use(t, s)
		if err := s.AddDataset("", "leaf-scans", data); err != nil {
			t.Fatal(err)
		}
		w.pushed("leaf-fold-0", map[string]any{"text": "print('kept')"})
		w.pushed("gpu-fold-0", gpu)
		time.Sleep(3 * time.Hour)
		w.pushed("gpu-fold-1", gpu)
		w.pushed("gpu-fold-2", gpu)
		synctest.Wait()
		time.Sleep(time.Hour)
		key, token := s.Key(), s.Token()
		if len(key) != 32 || !strings.HasPrefix(token, "KGAT_") {
			t.Errorf("made up key %d characters, token %.5s", len(key), token)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		want(t, "closing twice", s.Close(), nil)

		opt.Username = ""
		s, err = New(opt)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w = use(t, s)
		want(t, "the account", s.Username()+s.Key()+s.Token(), "sam-roe"+key+token)
		want(t, "finished run", w.status("leaf-fold-0", ""), StatusComplete)
		_, log := w.output("leaf-fold-0")
		want(t, "its log", log, "started\nstarted\ndone\n")
		pulled := into[kaggle.GetKernelResponse](w, kaggle.PathGetKernel, kaggle.GetKernelRequest{UserName: "sam-roe", KernelSlug: "leaf-fold-0"})
		want(t, "its source", pulled.Blob.Source, "print('kept')")
		st := into[kaggle.StatusResponse](w, kaggle.PathStatus, kaggle.StatusRequest{UserName: "sam-roe", KernelSlug: "gpu-fold-1"})
		want(t, "run that was going", string(st.Status)+st.FailureMessage, `"ERROR"the sandbox was stopped`)
		want(t, "its files", w.file("gpu-fold-1", "half.txt"), "half")
		use, _, _ := w.pools()
		want(t, "quota", use, [3]time.Duration{4 * time.Hour, 0, 30 * time.Hour})
		files := into[kaggle.ListDatasetFilesResponse](w, kaggle.PathListDatasetFiles, kaggle.ListDatasetFilesRequest{OwnerSlug: "sam-roe", DatasetSlug: "leaf-scans"})
		want(t, "dataset", fmt.Sprintf("%d %s", len(files.DatasetFiles), files.DatasetFiles[0].Name), "1 train.csv")
		w.pushed("gpu-fold-3", gpu)
		w.pushed("gpu-fold-4", gpu)
	})
}

// A process that was killed leaves sessions in the state as running: the next start settles them and ends what is
// left of their processes.
func TestCrash(t *testing.T) {
	s, w := real(t, Options{Home: t.TempDir()})
	w.pushed("leaf-fold-0", map[string]any{"text": `
import os, time
with open("pid.tmp", "w") as f: f.write(str(os.getpid()))
os.rename("pid.tmp", "pid.txt")
time.sleep(600)`})
	var pid int
	s.mu.Lock()
	var id int64
	for id = range s.st.Sessions {
	}
	l := s.live[id]
	s.mu.Unlock()
	<-l.started
	for end := time.Now().Add(30 * time.Second); pid == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		raw, _ := os.ReadFile(filepath.Join(s.workingDir(id), "pid.txt"))
		pid, _ = strconv.Atoi(string(raw))
	}
	if pid == 0 {
		t.Fatal("the session did not start")
	}
	// What a crash leaves: the folder as it is now, without the lock.
	crashed := filepath.Join(t.TempDir(), "home")
	if err := os.CopyFS(crashed, os.DirFS(s.home)); err != nil {
		t.Fatal(err)
	}
	again := open(t, Options{Home: crashed})
	want(t, "session", use(t, again).status("leaf-fold-0", ""), StatusError)
	select {
	case <-l.done:
	case <-time.After(20 * time.Second):
		t.Error("the process of the crashed sandbox still runs")
	}
}

func TestOpenRefusals(t *testing.T) {
	home := t.TempDir()
	open(t, Options{Home: home})
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	damaged := t.TempDir()
	os.WriteFile(filepath.Join(damaged, "state.json"), []byte(`{"Schema":`), 0o600)
	newer := t.TempDir()
	os.WriteFile(filepath.Join(newer, "state.json"), []byte(`{"Schema":99}`), 0o600)
	for _, c := range []struct {
		name string
		opt  Options
		says string
	}{
		{"folder in use", Options{Home: home}, "another sandbox is using the folder"},
		{"a file for a folder", Options{Home: file}, "cannot use its folder"},
		{"damaged state", Options{Home: damaged}, "is damaged, nothing was changed"},
		{"newer state", Options{Home: newer}, "newer version"},
		{"speed", Options{Speed: -1}, "speed"},
		{"layout", Options{Layout: "flat"}, "layout"},
		{"name", Options{Username: "Sam Roe"}, "username"},
		{"key", Options{Key: "x"}, "key"},
		{"queue", Options{TPUQueue: -time.Second}, "negative"},
	} {
		s, err := New(c.opt)
		if err == nil {
			s.Close()
			t.Errorf("%s: no error", c.name)
			continue
		}
		wantText(t, c.name, err.Error(), c.says)
	}
	raw, _ := os.ReadFile(filepath.Join(damaged, "state.json"))
	want(t, "the damaged state is left alone", string(raw), `{"Schema":`)
}

func TestTemporaryHome(t *testing.T) {
	s, err := New(Options{Executor: scripted(done)})
	if err != nil {
		t.Fatal(err)
	}
	home := s.home
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("the temporary folder %s is still there: %v", home, err)
	}
}

func TestListen(t *testing.T) {
	s := open(t, Options{Executor: scripted(done)})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for addr, says := range map[string]string{
		ln.Addr().String(): "port taken", "0.0.0.0:0": "loopback only", ":0": "loopback only", "example.invalid:1": "loopback only", "8080": "not host:port",
	} {
		if l, err := s.Listen(addr); err == nil {
			l.Close()
			t.Errorf("%s: no error", addr)
		} else {
			wantText(t, addr, err.Error(), says)
		}
	}
	l, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx) }()
	c, err := kaggle.New(kaggle.Config{Endpoint: l.URL(), Auth: kaggle.Bearer(kaggle.Secret(s.Token()))})
	if err != nil {
		t.Fatal(err)
	}
	q, err := c.Quota(t.Context())
	if err != nil || q.GPU == nil || q.GPU.Total != 30*time.Hour {
		t.Errorf("quota over a socket: %+v, %v", q, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestUnreadableSources(t *testing.T) {
	s := open(t, Options{Executor: scripted(done)})
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	for _, c := range []struct {
		err  error
		says string
	}{
		{s.AddDataset("", "leaf-scans", filepath.Join(file, "none")), "dataset sam-roe/leaf-scans"},
		{s.AddDataset("", "leaf-scans", "/no/such/folder"), "there is no folder"},
		{s.AddDataset("", "leaf-scans", file), "is a file, not a folder"},
		{s.AddDataset("", "Leaf Scans", t.TempDir()), "lower-case"},
		{s.AddCompetition("leaf-cup", file, true), "is a file"},
		{s.AddModel("google/gemma", t.TempDir()), "owner/model/framework/variation/version"},
		{s.AddModel("google/gemma/pyTorch/2b/x", t.TempDir()), "version"},
		{s.AddKernel(KernelSeed{Slug: "a"}), "slug"},
		{s.AddKernel(KernelSeed{Slug: "leaf-prep", Output: file}), "is a file"},
	} {
		if c.err == nil {
			t.Errorf("no error, want one that says %q", c.says)
			continue
		}
		wantText(t, "error", c.err.Error(), c.says)
	}
}

// With a full disk a push is refused, says so, and leaves nothing half done; the rest goes on.
func TestFullDisk(t *testing.T) {
	home := smallDisk(t)
	s := open(t, Options{Home: home, Executor: scripted(done)})
	w := use(t, s)
	w.pushed("leaf-fold-0", nil)
	w.ended("leaf-fold-0")
	filler := filepath.Join(home, "filler")
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	code, raw := w.call(kaggle.PathSaveKernel, pushBody("leaf-fold-1", map[string]any{"text": strings.Repeat("#", 100_000)}))
	want(t, "status", code, 500)
	wantText(t, "words", message(raw), "disk", "nothing was")
	list := into[kaggle.ListKernelsResponse](w, kaggle.PathListKernels, kaggle.ListKernelsRequest{Group: kaggle.GroupProfile})
	want(t, "kernels", len(list.Kernels), 1)
	os.Remove(filler)
	w.pushed("leaf-fold-1", nil)
	want(t, "with room again", w.ended("leaf-fold-1"), StatusComplete)
}
