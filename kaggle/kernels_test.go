package kaggle

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Traps 49, 50 and 51: a failure inside HTTP 200 is one; what is already gone is no failure.
func TestDeleteAndCancel(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		del    error
		cancel error
	}{
		{200, `{}`, nil, nil}, {200, ``, nil, nil}, {404, `{"message":"gone"}`, nil, ErrNotFound},
		{200, `{"errorMessage":"Session is not active"}`, ErrRejected, ErrRejected}, {403, `{}`, ErrForbidden, ErrForbidden},
		{500, `{}`, ErrUnavailable, ErrUnclear},
	} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body := bodyOf(t, r)
			if strings.HasSuffix(r.URL.Path, PathDeleteKernel) && (body["userName"] != testUser || body["kernelSlug"] != "leaf-fold-0") ||
				strings.HasSuffix(r.URL.Path, PathCancelSession) && body["kernelSessionId"] != 341475263.0 {
				t.Errorf("%s %v", r.URL.Path, body)
			}
			reply(w, tc.status, tc.body)
		})
		if err := c.DeleteKernel(t.Context(), testRef); tc.del == nil && err != nil || tc.del != nil && !errors.Is(err, tc.del) {
			t.Errorf("delete, %d %s: %v", tc.status, tc.body, err)
		}
		if err := c.CancelSession(t.Context(), 341475263); tc.cancel == nil && err != nil || tc.cancel != nil && !errors.Is(err, tc.cancel) {
			t.Errorf("cancel, %d %s: %v", tc.status, tc.body, err)
		}
	}
}

// Traps 6, 7 and 30: listing and pulling; the shape that was really used is read back.
func TestListAndGetKernel(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := bodyOf(t, r)
		if strings.HasSuffix(r.URL.Path, PathListKernels) {
			if body["group"] != "PROFILE" || body["sortBy"] != "DATE_RUN" || body["pageSize"] != 100.0 {
				t.Errorf("%v", body)
			}
			reply(w, 200, `{"kernels":[{"id":"4242","ref":"sam-roe/leaf-fold-0","title":"Leaf","lastRunTime":"2026-10-01T02:03:04.5Z","isPrivate":true},{"ref":null,"title":null}],"nextPageToken":"p2"}`)
			return
		}
		if body["versionLabel"] != "v2" {
			t.Errorf("%v", body)
		}
		reply(w, 200, `{"metadata":{"ref":"/code/sam-roe/leaf-fold-0","currentVersionNumber":3,"machineShape":"NvidiaTeslaT4","datasetDataSources":null,"competitionDataSources":["titanic"]},
			"blob":{"source":"print(1)\n","language":"python","kernelType":"script"}}`)
	})
	list, next, err := c.ListKernels(t.Context(), ListKernelsRequest{Group: GroupProfile, SortBy: SortDateRun})
	if err != nil || next != "p2" || len(list) != 2 || list[0].ID != 4242 || list[0].Ref != testRef || !list[0].IsPrivate ||
		!list[0].LastRunTime.Equal(time.Date(2026, 10, 1, 2, 3, 4, 5e8, time.UTC)) || !list[1].Ref.IsZero() {
		t.Errorf("%+v %q %v", list, next, err)
	}
	k, err := c.GetKernel(t.Context(), testRef, 2)
	if err != nil || k.Source != "print(1)\n" || k.Meta.Ref != testRef || k.Meta.CurrentVersion != 3 || k.Meta.MachineShape != "NvidiaTeslaT4" ||
		k.Meta.Language != "python" || k.Meta.KernelType != "script" || len(k.Meta.CompetitionSources) != 1 {
		t.Errorf("%+v %v", k, err)
	}
}

// Traps 27, 28 and 29: all pages; prose for a date; no files is not an error; a later failure keeps what was listed.
func TestKernelFilesAndOutputs(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch body := bodyOf(t, r); body["pageToken"] {
		case nil:
			reply(w, 200, `{"files":[{"name":"a","size":"12","creationDate":"3:38 pm, Saturday 6 June 2026 UTC"}],"nextPageToken":"2"}`)
		default:
			reply(w, 200, `{"files":[{"name":"b","size":3000000000}]}`)
		}
	})
	files, err := c.KernelFiles(t.Context(), testRef, 1)
	if err != nil || len(files) != 2 || files[0].Size != 12 || files[1].Size != 3000000000 || !strings.Contains(files[0].Created, "June") {
		t.Errorf("%+v %v", files, err)
	}
	c = serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{}`) })
	if l, err := c.Outputs(t.Context(), testRef, 0); err != nil || len(l.Files) != 0 || DecodeLog([]byte(l.Log)).Condition != LogEmpty {
		t.Errorf("%+v %v", l, err)
	}
	c = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if bodyOf(t, r)["pageToken"] != nil {
			reply(w, 403, `{}`)
			return
		}
		reply(w, 200, `{"files":[{"fileName":"a","url":"u"}],"nextPageToken":"2","log":"[]"}`)
	})
	l, err := c.Outputs(t.Context(), testRef, 0)
	if asError(t, err, ErrForbidden); !l.Incomplete || len(l.Files) != 1 {
		t.Errorf("%+v", l)
	}
	if _, err := l.Match("["); err == nil {
		t.Error("a bad pattern is accepted")
	}
}

// Trap 30: one file by name has other field names and answers with a redirect, which is not followed with a credential.
func TestOutputURL(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := bodyOf(t, r)
		if body["ownerSlug"] != testUser || body["kernelSlug"] != "leaf-fold-0" || body["filePath"] != "sub/b.bin" || body["versionNumber"] != 3.0 {
			t.Errorf("%v", body)
		}
		http.Redirect(w, r, "https://storage.invalid/x?sig=1", http.StatusFound)
	})
	if u, err := c.OutputURL(t.Context(), testRef, 3, "sub/b.bin"); err != nil || u != "https://storage.invalid/x?sig=1" {
		t.Errorf("%q %v", u, err)
	}
	c = serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{}`) })
	if _, err := c.OutputURL(t.Context(), testRef, 3, "x"); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

// Traps 6, 29, 30 and 31: datasets and competitions.
func TestInputs(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := bodyOf(t, r)
		switch strings.TrimPrefix(r.URL.Path, "/api/v1/") {
		case PathListDatasets:
			if body["search"] != "leaf" || body["page"] != 1.0 || body["group"] != DatasetGroupMy {
				t.Errorf("%v", body)
			}
			reply(w, 200, `{"datasets":[{"id":1,"ref":"sam-roe/leaf","totalBytes":"12","lastUpdated":"2026-10-01T00:00:00Z","ownerName":"Sam"},{"ref":null}]}`)
		case PathGetDataset:
			if body["ownerSlug"] != "sam-roe" || body["datasetSlug"] != "leaf" {
				t.Errorf("%v", body)
			}
			reply(w, 200, `{"title":"Leaf","currentVersionNumber":4}`)
		case PathListDatasetFiles:
			if body["pageToken"] == nil {
				reply(w, 200, `{"datasetFiles":[{"name":"a.csv","totalBytes":5,"creationDate":"2026-10-01T00:00:00Z"}],"nextPageToken":"n"}`)
				return
			}
			reply(w, 200, `{"datasetFiles":[{"ref":"b.csv"}]}`)
		case PathListCompetitions:
			if body["group"] != CompetitionEntered || body["category"] != HostUnspecified {
				t.Errorf("%v", body)
			}
			reply(w, 200, `{"competitions":[{"ref":"https://www.kaggle.com/competitions/titanic","userHasEntered":true,"deadline":"2030-01-01T00:00:00Z"},{"ref":"house-prices"}]}`)
		case PathListDataFiles:
			reply(w, 200, `{"files":[{"name":"train.csv","totalBytes":61194}]}`)
		default:
			t.Errorf("%s", r.URL.Path)
		}
	})
	ctx := t.Context()
	list, err := c.SearchDatasets(ctx, DatasetQuery{Search: "leaf", Mine: true})
	if err != nil || len(list) != 2 || list[0].Ref != (Ref{"sam-roe", "leaf"}) || list[0].TotalBytes != 12 || list[0].Owner != "Sam" {
		t.Errorf("%+v %v", list, err)
	}
	d, err := c.Dataset(ctx, "sam-roe", "leaf")
	if err != nil || d.Ref.Slug != "leaf" || d.CurrentVersion != 4 {
		t.Errorf("%+v %v", d, err)
	}
	files, err := c.DatasetFiles(ctx, "sam-roe", "leaf")
	if err != nil || len(files) != 2 || files[0].Created.IsZero() || files[1].Name != "b.csv" {
		t.Errorf("%+v %v", files, err)
	}
	comps, err := c.SearchCompetitions(ctx, CompetitionQuery{Entered: true})
	if err != nil || len(comps) != 2 || comps[0].Slug != "titanic" || !comps[0].UserHasEntered || comps[1].Slug != "house-prices" {
		t.Errorf("%+v %v", comps, err)
	}
	if files, err = c.CompetitionFiles(ctx, "titanic"); err != nil || len(files) != 1 || files[0].Size != 61194 {
		t.Errorf("%+v %v", files, err)
	}
}

func TestDatasetStatus(t *testing.T) {
	for body, want := range map[string]string{`{}`: "NOT_YET_PERSISTED", `{"status":null}`: "NOT_YET_PERSISTED", `{"status":"READY"}`: "READY", `{"status":"ready"}`: "READY",
		`{"status":5}`: "READY", `{"status":"blobsReceived"}`: "BLOBS_RECEIVED", `{"status":"DATABUNDLE_VERSION_STATUS_READY"}`: "READY", `{"status":"NEW_WORD"}`: "NEW_WORD", `{"status":77}`: "77"} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, body) })
		if got, err := c.DatasetStatus(t.Context(), "sam-roe", "leaf"); err != nil || got != want {
			t.Errorf("%s: %q %v", body, got, err)
		}
	}
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{"errorMessage":"no such dataset"}`) })
	if _, err := c.DatasetFiles(t.Context(), "sam-roe", "leaf"); !errors.Is(err, ErrRejected) {
		t.Error(err)
	}
}

// Every call ends with the context's error when it is cancelled, and not with a state of the network.
func TestEveryCallCanBeCancelled(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a cancelled call was sent") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"quota":    func() error { _, err := c.Quota(ctx); return err },
		"status":   func() error { _, err := c.Status(ctx, testRef, 0); return err },
		"outputs":  func() error { _, err := c.Outputs(ctx, testRef, 0); return err },
		"files":    func() error { _, err := c.KernelFiles(ctx, testRef, 0); return err },
		"list":     func() error { _, _, err := c.ListKernels(ctx, ListKernelsRequest{}); return err },
		"get":      func() error { _, err := c.GetKernel(ctx, testRef, 0); return err },
		"delete":   func() error { return c.DeleteKernel(ctx, testRef) },
		"cancel":   func() error { return c.CancelSession(ctx, 1) },
		"check":    func() error { _, err := c.Introspect(ctx, "x"); return err },
		"refresh":  func() error { _, err := c.RefreshToken(ctx, "x"); return err },
		"revoke":   func() error { return c.Revoke(ctx, "x", "") },
		"datasets": func() error { _, err := c.SearchDatasets(ctx, DatasetQuery{}); return err },
		"log":      func() error { _, err := c.FollowLog(ctx, testRef, 0, 0, nil); return err },
		"download": func() error { _, err := c.Download(ctx, c.base, t.TempDir()+"/a", DownloadOptions{}); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) || errors.Is(err, ErrOffline) || errors.Is(err, ErrUnclear) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
