package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/kaggle"
)

// done is an executor that ends at once.
func done(ctx context.Context, job Job) Result { return Result{Status: StatusComplete} }

func TestCredentials(t *testing.T) {
	s := open(t, Options{Executor: scripted(done)})
	w := use(t, s)
	for _, c := range []struct {
		name string
		auth func(*http.Request)
		code int
	}{
		{"key", w.auth, 200},
		{"key, name in capitals", func(r *http.Request) { r.SetBasicAuth("Sam-Roe", testKey) }, 200},
		{"token", bearer(s.Token()), 200},
		{"no credential", anonymous, 401},
		{"wrong key", func(r *http.Request) { r.SetBasicAuth("sam-roe", "nope") }, 401},
		{"empty key", func(r *http.Request) { r.SetBasicAuth("sam-roe", "") }, 401},
		{"wrong name", func(r *http.Request) { r.SetBasicAuth("kim-poe", testKey) }, 401},
		{"wrong token", bearer("KGAT_x"), 401},
		{"key as token", bearer(testKey), 401},
		{"nonsense", func(r *http.Request) { r.Header.Set("Authorization", "Magic x") }, 401},
	} {
		code, raw := w.as(c.auth).call(kaggle.PathQuota, "{}")
		want(t, c.name, code, c.code)
		if code == 401 {
			want(t, c.name+": words", message(raw), "Unauthenticated")
		}
	}
}

func TestTransportRules(t *testing.T) {
	w := use(t, open(t, Options{Executor: scripted(done)}))
	for _, c := range []struct {
		name, method, path, body string
		code                     int
	}{
		{"api base", "POST", "/api/v1/" + kaggle.PathQuota, "{}", 200},
		{"production base", "POST", "/v1/" + kaggle.PathQuota, "{}", 200},
		{"reads are POST too", "GET", "/api/v1/" + kaggle.PathQuota, "", 405},
		{"unknown method", "POST", "/api/v1/kernels.KernelsApiService/Nope", "{}", 404},
		{"unknown page", "GET", "/nope", "", 404},
		{"empty body", "POST", "/api/v1/" + kaggle.PathQuota, "", 400},
		{"a list", "POST", "/api/v1/" + kaggle.PathStatus, "[]", 400},
		{"cut off", "POST", "/api/v1/" + kaggle.PathStatus, `{"userName":`, 400},
		{"wrong type", "POST", "/api/v1/" + kaggle.PathStatus, `{"userName":7}`, 400},
		{"two objects", "POST", "/api/v1/" + kaggle.PathQuota, "{}{}", 400},
		{"log stream is GET", "POST", "/api/v1/" + kaggle.PathLogStreamGET + "sam-roe/abcde", "{}", 404},
	} {
		res, raw, err := w.do(c.method, c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		want(t, c.name, res.StatusCode, c.code)
		if c.code >= 400 {
			var e kaggle.ErrorEnvelope
			if err := json.Unmarshal(raw, &e); err != nil || int(e.Error.Code) != c.code || e.Error.Status == "" {
				t.Errorf("%s: got %s, want envelope (a)", c.name, raw)
			}
		}
	}
}

func TestPushRefusals(t *testing.T) {
	w := use(t, open(t, Options{Executor: scripted(done)}))
	w.pushed("taken-title", nil)
	for _, c := range []struct {
		name   string
		change map[string]any
		code   int
		words  string // of the envelope, or of error inside 200
	}{
		{"unknown field", map[string]any{"enable_gpu": true}, 400, "unknown field"},
		{"string for a bool", map[string]any{"enableGpu": "true"}, 400, "Invalid JSON payload"},
		{"string id", map[string]any{"id": "12"}, 400, "Invalid JSON payload"},
		{"neither id nor slug", map[string]any{"slug": nil}, 400, "id or slug"},
		{"short title", map[string]any{"newTitle": "Leaf"}, 400, "5 to 50"},
		{"long title: no reason given", map[string]any{"newTitle": strings.Repeat("a", 51)}, 500, "Internal error"},
		{"short slug", map[string]any{"slug": "sam-roe/leaf"}, 400, "5 to 50"},
		{"long slug", map[string]any{"slug": "sam-roe/" + strings.Repeat("a", 51)}, 400, "5 to 50"},
		{"underscores", map[string]any{"slug": "sam-roe/leaf_fold__0"}, 400, "slug must be"},
		{"version in the slug", map[string]any{"slug": "sam-roe/leaf-fold-0/3"}, 400, "slug must be"},
		{"no owner", map[string]any{"slug": "leaf-fold-0"}, 400, "slug must be"},
		{"title of signs", map[string]any{"newTitle": "- - - -"}, 400, "shorter than 5"},
		{"source of a megabyte: no body", map[string]any{"text": strings.Repeat("a", 1_000_000)}, 400, ""},
		{"language", map[string]any{"language": "cobol"}, 400, "language"},
		{"no language", map[string]any{"language": nil}, 400, "language"},
		{"type", map[string]any{"kernelType": "book"}, 400, "kernelType"},
		{"execution type", map[string]any{"kernelExecutionType": "SaveAndRunAll"}, 400, "unknown"},
		{"interactive", map[string]any{"kernelExecutionType": "INTER_ACTIVE"}, 400, "interactive"},
		{"negative time limit", map[string]any{"sessionTimeoutSeconds": -1}, 400, "negative"},
		{"image policy", map[string]any{"dockerImagePinningType": "newest"}, 400, "dockerImagePinningType"},
		{"notebook that is none", map[string]any{"kernelType": "notebook"}, 400, "not valid JSON"},
		{"cell source as a list", map[string]any{"kernelType": "notebook", "text": `{"cells":[{"source":["a"]}]}`}, 500, "Internal error"},
		{"another's kernel", map[string]any{"slug": "kim-poe/leaf-fold-0"}, 200, "Kernel not found"},
		{"unknown id", map[string]any{"id": 99}, 200, "Kernel not found"},
		{"new without a title", map[string]any{"newTitle": nil}, 200, "Notebook not found"},
		{"title of another kernel", map[string]any{"newTitle": "Taken Title"}, 409, "different kernels"},
		{"type of an existing kernel", map[string]any{"slug": "sam-roe/taken-title", "newTitle": "Taken Title", "kernelType": "notebook",
			"text": `{"cells":[]}`}, 200, "type"},
	} {
		code, raw := w.call(kaggle.PathSaveKernel, pushBody("leaf-fold-0", c.change))
		want(t, c.name, code, c.code)
		if code == 200 {
			var ans kaggle.SaveKernelResponse
			json.Unmarshal([]byte(raw), &ans)
			wantText(t, c.name, ans.Error, c.words)
			if ans.Ref != "" || ans.URL != "" || ans.VersionNumber != 0 || ans.KernelID != 0 {
				t.Errorf("%s: got %s, want an answer without ref, version and id", c.name, raw)
			}
			continue
		}
		if c.words == "" {
			want(t, c.name+": body", raw, "")
		}
		wantText(t, c.name, message(raw), c.words)
	}
	list := into[kaggle.ListKernelsResponse](w, kaggle.PathListKernels, kaggle.ListKernelsRequest{Group: kaggle.GroupProfile})
	want(t, "kernels after the refusals", len(list.Kernels), 1)
}

func TestPushAddress(t *testing.T) {
	w := use(t, open(t, Options{Executor: scripted(done)}))
	first := w.pushed("leaf-fold-0", map[string]any{"newTitle": "Blätter Fold 0 (v2)"})
	want(t, "the title decides", first.Ref, "/code/sam-roe/blatter-fold-0-v2")
	want(t, "url", first.URL, "https://www.kaggle.com/code/sam-roe/blatter-fold-0-v2")
	code, _ := w.call(kaggle.PathSaveKernel, pushBody("leaf-fold-0", map[string]any{"newTitle": "Blätter Fold 0 (v2)"}))
	want(t, "the same push again", code, 409)
	again := w.pushed("blatter-fold-0-v2", map[string]any{"newTitle": "A Newer Title"})
	want(t, "a rename keeps the kernel", again.KernelID, first.KernelID)
	want(t, "next version", again.VersionNumber, 2)
	byID := w.pushed("x", map[string]any{"id": first.KernelID, "slug": nil, "newTitle": nil})
	want(t, "by id", byID.VersionNumber, 3)
	other := w.push("a-newer-title", map[string]any{"newTitle": "A Newer Title"})
	wantText(t, "a title in use", other.Error, `The requested title "A Newer Title" is already in use`)
}

func TestShapes(t *testing.T) {
	w := use(t, open(t, Options{Executor: scripted(done)}))
	for i, c := range []struct {
		asked    any
		gpu, tpu bool
		shape    string
		pool     string
	}{
		{nil, false, false, "", poolCPU},
		{"", false, false, "", poolCPU},
		{nil, true, false, "NvidiaTeslaT4", poolGPU},
		{nil, false, true, "TpuV5E8", poolTPU},
		{"NvidiaTeslaT4", true, false, "NvidiaTeslaT4", poolGPU},
		{"nvidiateslat4", false, false, "NvidiaTeslaT4", poolGPU},
		{"NvidiaTeslaP100", true, false, "NvidiaTeslaT4", poolGPU},
		{"NvidiaTeslaT4x2", true, false, "Gpu", poolGPU},
		{"gpu", true, false, "Gpu", poolGPU},
		{"TpuV38", false, true, "TpuV5E8", poolTPU},
		{"Tpu1VmV38", false, true, "TpuV5E8", poolTPU},
		{"TpuV232", false, true, "", poolCPU},
		{"TpuV6E8", false, false, "TpuV6E8", poolTPU},
	} {
		slug := fmt.Sprintf("shape-run-%d", i)
		w.pushed(slug, map[string]any{"machineShape": c.asked, "enableGpu": c.gpu, "enableTpu": c.tpu})
		m := into[kaggle.GetKernelResponse](w, kaggle.PathGetKernel, kaggle.GetKernelRequest{UserName: "sam-roe", KernelSlug: slug}).Metadata
		name := fmt.Sprintf("asked %v", c.asked)
		want(t, name, m.MachineShape, c.shape)
		want(t, name+": gpu", m.EnableGPU, c.pool == poolGPU)
		want(t, name+": tpu", m.EnableTPU, c.pool == poolTPU)
		w.ended(slug) // one TPU at a time
	}
}

func TestInvalidSources(t *testing.T) {
	s := open(t, Options{Executor: scripted(done)})
	w := use(t, s)
	dir := t.TempDir()
	for _, err := range []error{
		s.AddDataset("", "leaf-scans", dir), s.AddDataset("kim-poe", "open-scans", dir),
		s.AddCompetition("leaf-cup", dir, true), s.AddCompetition("closed-cup", dir, false),
		s.AddKernel(KernelSeed{Owner: "kim-poe", Slug: "leaf-prep"}), s.AddKernel(KernelSeed{Owner: "kim-poe", Slug: "secret-prep", Private: true}),
		s.AddModel("google/gemma/pyTorch/2b/1", dir),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ans := w.pushed("leaf-fold-0", map[string]any{
		"datasetDataSources":     []string{"sam-roe/leaf-scans", "kim-poe/open-scans/1", "datasets/sam-roe/leaf-scans", "sam-roe/leaf-scans/9", "kim-poe/none"},
		"competitionDataSources": []string{"leaf-cup", "closed-cup", "no-cup"},
		"kernelDataSources":      []string{"kim-poe/leaf-prep", "code/kim-poe/leaf-prep", "kim-poe/secret-prep"},
		"modelDataSources":       []string{"google/gemma/pyTorch/2b/1", "google/gemma/pyTorch/2b", "google/gemma/pyTorch/7b/1"},
	})
	want(t, "version all the same", ans.VersionNumber, 1)
	want(t, "datasets", fmt.Sprint(ans.InvalidDatasetSources), "[datasets/sam-roe/leaf-scans sam-roe/leaf-scans/9 kim-poe/none]")
	want(t, "competitions", fmt.Sprint(ans.InvalidCompetitionSources), "[closed-cup no-cup]")
	want(t, "kernels", fmt.Sprint(ans.InvalidKernelSources), "[code/kim-poe/leaf-prep kim-poe/secret-prep]")
	want(t, "models", fmt.Sprint(ans.InvalidModelSources), "[google/gemma/pyTorch/7b/1]")
}

func TestStatusWords(t *testing.T) {
	s := open(t, Options{Executor: scripted(func(ctx context.Context, job Job) Result {
		return Result{Status: StatusError, Message: "ran out of memory"}
	})})
	w := use(t, s)
	if err := s.AddKernel(KernelSeed{Owner: "kim-poe", Slug: "secret-prep", Private: true}); err != nil {
		t.Fatal(err)
	}
	w.pushed("draft-only", map[string]any{"kernelExecutionType": kaggle.ExecQuickSave})
	w.pushed("leaf-fold-0", nil)
	w.ended("leaf-fold-0")
	w.pushed("leaf-fold-0", map[string]any{"kernelExecutionType": kaggle.ExecQuickSave})
	w.pushed("gone-kernel", nil)
	into[struct{}](w, kaggle.PathDeleteKernel, kaggle.DeleteKernelRequest{UserName: "sam-roe", KernelSlug: "gone-kernel"})
	for _, c := range []struct {
		name, owner, slug, label string
		code                     int
		words                    string
	}{
		{"never run", "sam-roe", "draft-only", "", 404, "No runs found for this kernel."},
		{"never was", "sam-roe", "no-kernel", "", 403, "Permission 'kernels.get' was denied"},
		{"another's private one", "kim-poe", "secret-prep", "", 403, "Permission 'kernels.get' was denied"},
		{"deleted", "sam-roe", "gone-kernel", "", 404, "Kernel not found"},
		{"version saved without a run", "sam-roe", "leaf-fold-0", "v2", 404, "No runs found for this kernel."},
		{"version that is not there", "sam-roe", "leaf-fold-0", "v3", 404, "No runs found for this kernel."},
		{"label that is none", "sam-roe", "leaf-fold-0", "newest", 400, "versionLabel"},
		{"no kernel named", "", "", "", 400, "required"},
		{"newest run", "sam-roe", "leaf-fold-0", "", 200, ""},
		{"pinned", "sam-roe", "leaf-fold-0", "v1", 200, ""},
		{"pinned, bare number", "sam-roe", "leaf-fold-0", "1", 200, ""},
		{"any case", "Sam-Roe", "Leaf-Fold-0", "", 200, ""},
	} {
		code, raw := w.call(kaggle.PathStatus, kaggle.StatusRequest{UserName: c.owner, KernelSlug: c.slug, VersionLabel: c.label})
		want(t, c.name, code, c.code)
		if code == 200 {
			want(t, c.name, raw, `{"status":"ERROR","failureMessage":"ran out of memory"}`)
		} else {
			wantText(t, c.name, message(raw), c.words)
		}
	}
}

func TestOutputPages(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	s := open(t, Options{Now: func() time.Time { return now }, Executor: scripted(func(ctx context.Context, job Job) Result {
		for i := range 45 {
			name := filepath.Join(job.Working, fmt.Sprintf("f %02d.txt", i))
			if err := os.WriteFile(name, []byte(strings.Repeat("x", i)), 0o600); err != nil {
				return Result{Status: StatusError, Message: err.Error()}
			}
			os.Chtimes(name, now, time.Date(2026, 6, 6, 15, 38, 0, 0, time.UTC))
		}
		os.Symlink("/etc/hostname", filepath.Join(job.Working, "outside"))
		job.Log("stdout", "hi\n")
		return Result{Status: StatusComplete}
	})})
	w := use(t, s)
	w.pushed("leaf-fold-0", nil)
	w.ended("leaf-fold-0")
	req := kaggle.OutputsRequest{UserName: "sam-roe", KernelSlug: "leaf-fold-0"}
	var names []string
	var first kaggle.OutputsResponse
	for pages := 1; ; pages++ {
		ans := into[kaggle.OutputsResponse](w, kaggle.PathOutputs, req)
		if pages == 1 {
			first = ans
		}
		for _, f := range ans.Files {
			names = append(names, f.FileName)
		}
		wantText(t, "the log comes with every page", ans.Log, `{"stream_name":"stdout","time":0,"data":"hi\n"}`)
		if req.PageToken = ans.NextPageToken; req.PageToken == "" {
			want(t, "pages of 20", pages, 3)
			break
		}
	}
	want(t, "files, none outside the folder", len(names), 45)
	for _, bad := range []kaggle.OutputsRequest{{PageSize: 501}, {PageToken: "page-99"}, {PageToken: "x"}, {PageSize: -1}} {
		bad.UserName, bad.KernelSlug = req.UserName, req.KernelSlug
		code, raw := w.call(kaggle.PathOutputs, bad)
		want(t, fmt.Sprintf("%+v: %s", bad, raw), code, 400)
	}
	files := into[kaggle.KernelFilesResponse](w, kaggle.PathKernelFiles, kaggle.KernelFilesRequest{UserName: "sam-roe", KernelSlug: "leaf-fold-0", PageSize: 500})
	want(t, "a size", files.Files[7].Size, 7)
	want(t, "a date in prose", files.Files[7].CreationDate, "3:38 pm, Saturday 6 June 2026 UTC")

	plain := w.as(anonymous)
	link := first.Files[19].URL
	res, raw, _ := plain.do("GET", link, nil)
	want(t, "a signed URL needs no credential", string(raw), strings.Repeat("x", 19))
	want(t, "ranges", res.Header.Get("Accept-Ranges"), "bytes")
	want(t, "length", res.ContentLength, 19)
	res, raw, _ = plain.do("GET", link, nil, "Range", "bytes=15-")
	want(t, "a part", fmt.Sprintf("%d %d %s", res.StatusCode, len(raw), res.Header.Get("Content-Range")), "206 4 bytes 15-18/19")
	res, _, _ = plain.do("GET", strings.Replace(link, "19.txt", "18.txt", 1), nil)
	want(t, "signed for one file", res.StatusCode, 403)
	now = now.Add(time.Hour + 2*time.Second)
	res, _, _ = plain.do("GET", link, nil)
	want(t, "after its hour", res.StatusCode, 403)
}

func TestDownloadRedirects(t *testing.T) {
	s := open(t, Options{Executor: scripted(func(ctx context.Context, job Job) Result {
		os.MkdirAll(filepath.Join(job.Working, "sub"), 0o700)
		os.WriteFile(filepath.Join(job.Working, "sub", "b.bin"), []byte("abc"), 0o600)
		return Result{Status: StatusComplete}
	})})
	w := use(t, s)
	w.pushed("leaf-fold-0", nil)
	w.ended("leaf-fold-0")
	get := func(file string, version int) (int, string) {
		body, _ := json.Marshal(kaggle.DownloadOutputRequest{OwnerSlug: "sam-roe", KernelSlug: "leaf-fold-0", FilePath: file, VersionNumber: version})
		res, _, err := w.do("POST", "/api/v1/"+kaggle.PathDownloadOutput, strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusFound {
			return res.StatusCode, ""
		}
		res, raw, _ := w.as(anonymous).do("GET", res.Header.Get("Location"), nil)
		return res.StatusCode, string(raw)
	}
	code, raw := get("sub/b.bin", 1)
	want(t, "one file", fmt.Sprintf("%d %s", code, raw), "200 abc")
	code, raw = get("", 0)
	want(t, "everything", fmt.Sprintf("%d %.2s", code, raw), "200 PK")
	code, _ = get("../log.jsonl", 0)
	want(t, "outside the outputs", code, 404)
	code, _ = get("sub/b.bin", 2)
	want(t, "another version", code, 404)
}

func TestListAndPull(t *testing.T) {
	s := open(t, Options{Executor: scripted(done)})
	w := use(t, s)
	if err := s.AddKernel(KernelSeed{Owner: "kim-poe", Slug: "leaf-prep", Source: "print('prep')"}); err != nil {
		t.Fatal(err)
	}
	w.pushed("leaf-fold-0", map[string]any{"text": "print('one')"})
	w.pushed("leaf-fold-0", map[string]any{"text": "print('two')"})
	w.pushed("rust-fold-0", map[string]any{"isPrivate": false})
	list := func(req kaggle.ListKernelsRequest) string {
		var refs []string
		for _, k := range into[kaggle.ListKernelsResponse](w, kaggle.PathListKernels, req).Kernels {
			refs = append(refs, k.Ref)
		}
		return strings.Join(refs, " ")
	}
	want(t, "mine", list(kaggle.ListKernelsRequest{Group: kaggle.GroupProfile}), "sam-roe/rust-fold-0 sam-roe/leaf-fold-0")
	want(t, "page 2 of 1", list(kaggle.ListKernelsRequest{Group: kaggle.GroupProfile, Page: 2, PageSize: 1}), "sam-roe/leaf-fold-0")
	want(t, "past the end", list(kaggle.ListKernelsRequest{Group: kaggle.GroupProfile, Page: 9, PageSize: 1}), "")
	want(t, "search", list(kaggle.ListKernelsRequest{Group: kaggle.GroupEveryone, Search: "prep", Language: "all", KernelType: "all"}), "kim-poe/leaf-prep")
	want(t, "another's", list(kaggle.ListKernelsRequest{User: "kim-poe"}), "kim-poe/leaf-prep")
	for slug, text := range map[string]string{"leaf-fold-0": "print('two')", "leaf-fold-0/1": "print('one')"} {
		ans := into[kaggle.GetKernelResponse](w, kaggle.PathGetKernel, kaggle.GetKernelRequest{UserName: "sam-roe", KernelSlug: slug})
		want(t, slug, ans.Blob.Source, text)
		want(t, slug+": newest", ans.Metadata.CurrentVersionNumber, 2)
	}
	old := into[kaggle.GetKernelResponse](w, kaggle.PathGetKernel, kaggle.GetKernelRequest{UserName: "sam-roe", KernelSlug: "leaf-fold-0", VersionLabel: "v1"})
	want(t, "by label", old.Blob.Source, "print('one')")
}
