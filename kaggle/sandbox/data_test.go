package sandbox

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/kaggle"
)

// upload sends one blob whole and returns its token.
func (w web) upload(name string, data []byte) string {
	w.t.Helper()
	b := into[kaggle.StartBlobUploadResponse](w, kaggle.PathStartBlobUpload, kaggle.StartBlobUploadRequest{Type: "DATASET", Name: name, ContentLength: int64(len(data)), LastModifiedEpochSeconds: 1796078710})
	res, _, err := w.as(anonymous).do("PUT", b.CreateURL, bytes.NewReader(data))
	if err != nil || res.StatusCode != 200 {
		w.t.Fatalf("upload %s: %v %v", name, res, err)
	}
	return b.Token
}

func (w web) dataNames(slug string) string {
	w.t.Helper()
	var names []string
	for _, f := range into[kaggle.ListDatasetFilesResponse](w, kaggle.PathListDatasetFiles, kaggle.ListDatasetFilesRequest{OwnerSlug: "sam-roe", DatasetSlug: slug}).DatasetFiles {
		names = append(names, fmt.Sprintf("%s:%d", f.Name, f.TotalBytes))
	}
	return strings.Join(names, " ")
}

func TestCreateDataset(t *testing.T) {
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, Options{Executor: scripted(done), StartDelay: time.Minute, Now: func() time.Time { return now }})
	w := use(t, s)
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	f, _ := z.Create("deep/1.txt")
	f.Write([]byte("one"))
	z.Close()
	create := func(change func(*kaggle.CreateDatasetRequest)) kaggle.CreateDatasetResponse {
		req := kaggle.CreateDatasetRequest{OwnerSlug: "sam-roe", Slug: "leaf-scans", Title: "Leaf Scans", LicenseName: "CC0-1.0", IsPrivate: true}
		change(&req)
		return into[kaggle.CreateDatasetResponse](w, kaggle.PathCreateDataset, req)
	}
	for says, change := range map[string]func(*kaggle.CreateDatasetRequest){
		"title":              func(r *kaggle.CreateDatasetRequest) { r.Title = "Leaf" },
		"slug":               func(r *kaggle.CreateDatasetRequest) { r.Slug = "leaf" },
		"license":            func(r *kaggle.CreateDatasetRequest) { r.LicenseName = "" },
		"subtitle":           func(r *kaggle.CreateDatasetRequest) { r.Subtitle = "short" },
		"at least one file":  func(r *kaggle.CreateDatasetRequest) {},
		"no upload with one": func(r *kaggle.CreateDatasetRequest) { r.Files = []kaggle.NewFile{{Token: "x"}} },
	} {
		ans := create(change)
		if ans.Status == "ok" {
			t.Errorf("taken, want a refusal about %s", says)
		}
		wantText(t, "refusal", ans.Error, says)
	}
	code, _ := w.call(kaggle.PathDatasetStatus, kaggle.DatasetRefRequest{OwnerSlug: "sam-roe", DatasetSlug: "leaf-scans"})
	want(t, "the name is still free", code, 404)

	files := []kaggle.NewFile{{Token: w.upload("d.csv", []byte("a,b\n"))}, {Token: w.upload("imgs.zip", archive.Bytes())}, {Token: w.upload("not.zip", []byte("text"))}}
	ans := create(func(r *kaggle.CreateDatasetRequest) { r.Files = files })
	want(t, "created", ans.Status+ans.Error, "ok")
	want(t, "archives are unpacked, what only looks like one is not", w.dataNames("leaf-scans"), "d.csv:4 imgs/deep/1.txt:3 not.zip:4")
	state := func() string {
		return string(into[kaggle.DatasetStatusResponse](w, kaggle.PathDatasetStatus, kaggle.DatasetRefRequest{OwnerSlug: "sam-roe", DatasetSlug: "leaf-scans"}).Status)
	}
	want(t, "being processed", state(), kaggle.DatasetBlobsReceived)
	now = now.Add(time.Minute)
	want(t, "processed", state(), kaggle.DatasetReady)
	wantText(t, "again", create(func(r *kaggle.CreateDatasetRequest) { r.Files = files }).Error, "already in use")

	v2 := into[kaggle.CreateDatasetResponse](w, kaggle.PathCreateDatasetVersion, map[string]any{"ownerSlug": "sam-roe", "datasetSlug": "leaf-scans",
		"body": map[string]any{"versionNotes": "v2", "directories": []any{map[string]any{"name": "sub", "files": []any{map[string]any{"token": w.upload("e.csv", []byte("c\n"))}}}}}})
	want(t, "second version", v2.Status, "ok")
	want(t, "its files, in their folder", w.dataNames("leaf-scans"), "sub/e.csv:2")
	old := into[kaggle.ListDatasetFilesResponse](w, kaggle.PathListDatasetFiles, kaggle.ListDatasetFilesRequest{OwnerSlug: "sam-roe", DatasetSlug: "leaf-scans", DatasetVersionNumber: "1"})
	want(t, "the first version is still there", len(old.DatasetFiles), 3)

	into[struct{}](w, kaggle.PathDeleteDataset, kaggle.DatasetRefRequest{OwnerSlug: "sam-roe", DatasetSlug: "leaf-scans"})
	code, _ = w.call(kaggle.PathGetDataset, kaggle.DatasetRefRequest{OwnerSlug: "sam-roe", DatasetSlug: "leaf-scans"})
	want(t, "deleted", code, 404)
}

func TestUploadResumes(t *testing.T) {
	w := use(t, open(t, Options{Executor: scripted(done)}))
	b := into[kaggle.StartBlobUploadResponse](w, kaggle.PathStartBlobUpload, kaggle.StartBlobUploadRequest{Type: "DATASET", Name: "d.csv", ContentLength: 10})
	put := func(body, span string) (int, string) {
		head := []string{}
		if span != "" {
			head = []string{"Content-Range", span}
		}
		res, _, err := w.as(anonymous).do("PUT", b.CreateURL, strings.NewReader(body), head...)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("Range")
	}
	for _, c := range []struct {
		body, span string
		code       int
		have       string
	}{
		{"", "bytes */10", 308, ""},
		{"01234", "bytes 0-4/10", 308, "bytes=0-4"},
		{"", "bytes */10", 308, "bytes=0-4"},
		{"x", "bytes 7-7/10", 416, ""},
		{"x", "bytes 5-5/99", 400, ""},
		{"x", "lines 5", 400, ""},
		{"567890", "bytes 5-10/10", 400, ""},
		{"56789", "bytes 5-9/10", 200, ""},
		{"", "bytes */10", 200, ""},
	} {
		code, have := put(c.body, c.span)
		want(t, c.span+" "+c.body, row(code, have), row(c.code, c.have))
	}
	ans := into[kaggle.CreateDatasetResponse](w, kaggle.PathCreateDataset, kaggle.CreateDatasetRequest{OwnerSlug: "sam-roe", Slug: "leaf-scans", Title: "Leaf Scans", LicenseName: "CC0-1.0", Files: []kaggle.NewFile{{Token: b.Token}}})
	want(t, "created", ans.Status+ans.Error, "ok")
	code, _ := put("x", "")
	want(t, "a token is for one upload", code, 404)
	for _, bad := range []kaggle.StartBlobUploadRequest{{Type: "MODEL", Name: "d.csv"}, {Type: "DATASET", Name: "../d.csv"}, {Type: "DATASET", Name: ""}, {Type: "DATASET", Name: `a\b`}, {Type: "DATASET", Name: "d", ContentLength: -1}} {
		code, _ := w.call(kaggle.PathStartBlobUpload, bad)
		want(t, fmt.Sprintf("%+v", bad), code, 400)
	}
}

func TestUnzipStaysInside(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "evil.zip")
	out, _ := os.Create(file)
	z := zip.NewWriter(out)
	f, _ := z.Create("../escaped.txt")
	f.Write([]byte("x"))
	z.Close()
	out.Close()
	if err := unzip(file, filepath.Join(dir, "in")); err == nil {
		t.Error("an archive with ../ was unpacked")
	}
	if _, err := os.Stat(filepath.Join(dir, "escaped.txt")); !os.IsNotExist(err) {
		t.Errorf("a file escaped: %v", err)
	}
}

func TestDatasetsAndCompetitions(t *testing.T) {
	s := open(t, Options{Executor: scripted(done)})
	w := use(t, s)
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "sub"), 0o700)
	os.WriteFile(filepath.Join(dir, "train.csv"), []byte("id\n"), 0o600)
	os.WriteFile(filepath.Join(dir, "sub", "a b.csv"), []byte("id\n"), 0o600)
	for _, err := range []error{s.AddDataset("kim-poe", "leaf-scans", dir), s.AddDataset("", "own-scans", dir), s.AddDataset("", "own-scans", dir),
		s.AddCompetition("leaf-cup", dir, true), s.AddCompetition("closed-cup", dir, false), s.AddModel("google/gemma/pyTorch/2b/1", dir)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	refs := func(req kaggle.ListDatasetsRequest) string {
		var out []string
		for _, d := range into[kaggle.ListDatasetsResponse](w, kaggle.PathListDatasets, req).Datasets {
			out = append(out, fmt.Sprintf("%s %d v%d", d.Ref, d.TotalBytes, d.CurrentVersionNumber))
		}
		return strings.Join(out, ", ")
	}
	want(t, "public", refs(kaggle.ListDatasetsRequest{Search: "scans"}), "kim-poe/leaf-scans 6 v1")
	want(t, "mine", refs(kaggle.ListDatasetsRequest{Group: kaggle.DatasetGroupMy}), "sam-roe/own-scans 6 v1")
	want(t, "nothing", refs(kaggle.ListDatasetsRequest{Search: "moss"}), "")
	want(t, "files without a credential", len(into[kaggle.ListDatasetFilesResponse](w.as(anonymous), kaggle.PathListDatasetFiles,
		kaggle.ListDatasetFilesRequest{OwnerSlug: "kim-poe", DatasetSlug: "leaf-scans"}).DatasetFiles), 2)
	code, _ := w.as(anonymous).call(kaggle.PathListDatasetFiles, kaggle.ListDatasetFilesRequest{OwnerSlug: "sam-roe", DatasetSlug: "own-scans"})
	want(t, "a private one without a credential", code, 403)
	tree := into[kaggle.ListTreeDatasetFilesResponse](w, kaggle.PathListTreeDatasetFiles, kaggle.ListDatasetFilesRequest{OwnerSlug: "kim-poe", DatasetSlug: "leaf-scans"})
	want(t, "top of the tree", row(tree.TotalDirectories, tree.TotalFiles, tree.Directories[0].Name), "1 1 sub")

	fetch := func(path string, req any) (int, []byte) {
		raw := mustJSON(req)
		res, body, err := w.do("POST", "/api/v1/"+path, bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusFound {
			return res.StatusCode, body
		}
		if u, _ := url.Parse(res.Header.Get("Location")); u.Host != "sandbox" || !strings.Contains(u.Path, ".") {
			t.Errorf("%s: redirected to %s, want a file on the same host", path, u)
		}
		res, body, _ = w.as(anonymous).do("GET", res.Header.Get("Location"), nil)
		return res.StatusCode, body
	}
	_, body := fetch(kaggle.PathDownloadDataset, kaggle.DownloadDatasetRequest{OwnerSlug: "kim-poe", DatasetSlug: "leaf-scans", FileName: "sub/a b.csv"})
	want(t, "one file", string(body), "id\n")
	for _, c := range []struct {
		path string
		req  any
	}{{kaggle.PathDownloadDataset, kaggle.DownloadDatasetRequest{OwnerSlug: "kim-poe", DatasetSlug: "leaf-scans"}},
		{kaggle.PathDownloadDataFiles, kaggle.DownloadDataFileRequest{CompetitionName: "leaf-cup"}}} {
		_, body = fetch(c.path, c.req)
		z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil || len(z.File) != 2 || z.File[0].Name != "sub/a b.csv" {
			t.Errorf("%s: %v, want a zip of two files", c.path, err)
		}
	}
	code, _ = fetch(kaggle.PathDownloadDataFile, kaggle.DownloadDataFileRequest{CompetitionName: "leaf-cup", FileName: "../state.json"})
	want(t, "outside the folder", code, 404)
	code, body = fetch(kaggle.PathDownloadDataFiles, kaggle.DownloadDataFileRequest{CompetitionName: "closed-cup"})
	want(t, "rules not accepted", code, 403)
	wantText(t, "rules not accepted", string(body), "accept this competition's rules")
	comps := into[kaggle.ListCompetitionsResponse](w, kaggle.PathListCompetitions, kaggle.ListCompetitionsRequest{Group: kaggle.CompetitionEntered})
	want(t, "entered", len(comps.Competitions), 1)
	want(t, "a competition's ref is a URL", comps.Competitions[0].Ref, "https://www.kaggle.com/competitions/leaf-cup")
	models := into[kaggle.ListModelsResponse](w, kaggle.PathListModels, kaggle.ListModelsRequest{Search: "gemma"})
	want(t, "model", models.Models[0].Ref+" "+models.Models[0].Instances[0].Framework, "google/gemma pyTorch")
}

func TestOAuth(t *testing.T) {
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, Options{Executor: scripted(done), Now: func() time.Time { return now }})
	w := use(t, s).as(anonymous)
	verifier := strings.Repeat("v", 86)
	sum := sha256.Sum256([]byte(verifier))
	login := func(change func(url.Values)) (int, *url.URL) {
		q := url.Values{"response_type": {"code"}, "client_id": {"kagglesdk"}, "redirect_uri": {"http://localhost:8123"}, "scope": {"resources.admin:*"},
			"state": {"s t"}, "code_challenge": {base64.URLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "response_mode": {"query"}}
		change(q)
		res, _, err := w.do("GET", "/api/v1/oauth2/authorize?"+q.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		to, _ := url.Parse(res.Header.Get("Location"))
		return res.StatusCode, to
	}
	for name, change := range map[string]func(url.Values){
		"elsewhere":    func(q url.Values) { q.Set("redirect_uri", "https://evil.invalid/") },
		"no redirect":  func(q url.Values) { q.Del("redirect_uri") },
		"no challenge": func(q url.Values) { q.Del("code_challenge") },
		"plain":        func(q url.Values) { q.Set("code_challenge_method", "plain") },
		"token flow":   func(q url.Values) { q.Set("response_type", "token") },
	} {
		code, _ := login(change)
		want(t, name, code, 400)
	}
	_, to := login(func(url.Values) {})
	want(t, "redirect", to.Host+" "+to.Query().Get("state"), "localhost:8123 s t")
	exchange := func(code, verifier string) (int, string) {
		return w.call(kaggle.PathExchangeToken, kaggle.ExchangeTokenRequest{Code: kaggle.WireSecret(code), CodeVerifier: kaggle.WireSecret(verifier), GrantType: "authorization_code"})
	}
	code, _ := exchange(to.Query().Get("code"), "wrong")
	want(t, "wrong verifier", code, 400)
	code, _ = exchange(to.Query().Get("code"), verifier)
	want(t, "a code works once", code, 400)
	_, to = login(func(q url.Values) { q.Set("code_challenge", strings.TrimRight(q.Get("code_challenge"), "=")) })
	tok := into[kaggle.ExchangeTokenResponse](w, kaggle.PathExchangeToken, kaggle.ExchangeTokenRequest{Code: kaggle.WireSecret(to.Query().Get("code")), CodeVerifier: kaggle.WireSecret(verifier), GrantType: "authorization_code"})
	want(t, "tokens", row(tok.Username, tok.TokenType, tok.ExpiresIn), "sam-roe Bearer 43200")
	who := func(token string) kaggle.IntrospectResponse {
		// A dead token in the header does not hide the answer about the one in the body.
		return into[kaggle.IntrospectResponse](w.as(bearer("dead")), kaggle.PathIntrospect, kaggle.IntrospectRequest{Token: kaggle.WireSecret(token)})
	}
	me := who(string(tok.AccessToken))
	want(t, "introspection", row(me.Active, me.Username, me.ClientID, me.Exp), row(true, "sam-roe", "kagglesdk", now.Add(12*time.Hour).Unix()))
	want(t, "API token", who(s.Token()).Username, "sam-roe")
	want(t, "nonsense", who("nonsense").Active, false)
	quota := func(token string) int { code, _ := w.as(bearer(token)).call(kaggle.PathQuota, "{}"); return code }
	want(t, "access token", quota(string(tok.AccessToken)), 200)
	want(t, "a refresh token is no header", quota(string(tok.RefreshToken)), 401)
	now = now.Add(12*time.Hour + time.Second)
	want(t, "after twelve hours", quota(string(tok.AccessToken)), 401)
	gen := into[kaggle.GenerateAccessTokenResponse](w, kaggle.PathGenerateAccessToken, kaggle.GenerateAccessTokenRequest{RefreshToken: tok.RefreshToken, APIVersion: "API_VERSION_V1", ExpirationDuration: "43200s"})
	want(t, "refreshed", quota(string(gen.Token)), 200)
	into[struct{}](w.as(bearer(string(gen.Token))), kaggle.PathExpireToken, kaggle.ExpireTokenRequest{Token: tok.RefreshToken, Reason: "test"})
	want(t, "revoked", quota(string(gen.Token)), 401)
	code, _ = w.call(kaggle.PathGenerateAccessToken, kaggle.GenerateAccessTokenRequest{RefreshToken: tok.RefreshToken})
	want(t, "refresh after that", code, 401)
}
