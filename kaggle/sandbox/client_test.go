package sandbox

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/kaggle"
)

// The product's own client goes through the whole loop against the sandbox, over a socket, with a real process.
func TestClientLoop(t *testing.T) {
	s, _ := real(t, Options{Speed: 60})
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "train.csv"), []byte("id\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.AddDataset("", "leaf-scans", data); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	defer srv.Close()
	c, err := kaggle.New(kaggle.Config{Endpoint: srv.URL, Auth: kaggle.Bearer(kaggle.Secret(s.Token()))})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	ref := kaggle.Ref{Owner: "sam-roe", Slug: "leaf-fold-0"}
	verdict := kaggle.ClassifyPush(c.SaveKernel(ctx, kaggle.SaveKernelRequest{
		Slug: ref.String(), NewTitle: "Leaf Fold 0", Language: "python", KernelType: "script", IsPrivate: true, EnableGPU: true, MachineShape: "NvidiaTeslaT4",
		DatasetDataSources: []string{"sam-roe/leaf-scans", "datasets/sam-roe/leaf-scans"}, SessionTimeoutSeconds: 600,
		Text: "import os\nrows = open(os.environ['KAGGLE_INPUT'] + '/datasets/sam-roe/leaf-scans/train.csv').read()\nprint('rows', len(rows))\nos.makedirs('out')\nopen('out/b.bin', 'w').write(rows * 1000)\n",
	}))
	want(t, "a push with a wrong input", verdict.State, kaggle.PushAcceptedWrong)
	want(t, "version", verdict.Version, 1)
	want(t, "ref", verdict.Ref, ref)
	var log strings.Builder
	n := 0
	for range 10 {
		end, err := c.FollowLog(ctx, ref, 1, n, func(r kaggle.LogRecord) error { n++; log.WriteString(r.Data); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if end == kaggle.LogEnded {
			break
		}
	}
	want(t, "log", log.String(), "rows 5\n")
	use(t, s).ended("leaf-fold-0")
	st, err := c.Status(ctx, ref, 1)
	if err != nil || st.State != kaggle.StateComplete {
		t.Fatalf("status: %+v, %v", st, err)
	}
	out, err := c.Outputs(ctx, ref, 1)
	if err != nil || len(out.Files) != 1 {
		t.Fatalf("outputs: %+v, %v", out, err)
	}
	dest := filepath.Join(t.TempDir(), "b.bin")
	if _, err := c.Download(ctx, out.Files[0].URL, dest, kaggle.DownloadOptions{}); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(dest)
	want(t, "downloaded", len(raw), 5000)
	q, err := c.Quota(ctx)
	if err != nil || q.GPU == nil || q.GPU.Used <= 0 || q.GPU.Reserved != 0 {
		t.Errorf("quota: %+v, %v", q, err)
	}
	if err := c.DeleteKernel(ctx, ref); err != nil {
		t.Error(err)
	}
	list, _, err := c.ListKernels(context.WithoutCancel(ctx), kaggle.ListKernelsRequest{Group: kaggle.GroupProfile})
	if err != nil || len(list) != 0 {
		t.Errorf("after the deletion: %v, %v", list, err)
	}
}
