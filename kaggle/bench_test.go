package kaggle

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// BenchmarkClientCall measures a status call of the client and, in the same run and against the same server, a bare
// net/http call of the same bytes. "ratio" is client time over bare time, "extra-us" their difference a call.
func BenchmarkClientCall(b *testing.B) {
	const answer = `{"status":"RUNNING"}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, 200, answer)
	}))
	defer srv.Close()
	c, err := New(Config{Endpoint: srv.URL, Auth: Basic(testUser, testKey), Limiter: free(), Transport: &http.Transport{}})
	if err != nil {
		b.Fatal(err)
	}
	bare := &http.Client{Transport: &http.Transport{}}
	plainCall := func() {
		req, err := http.NewRequest(http.MethodPost, srv.URL+"/api/v1/"+PathStatus, strings.NewReader(`{"userName":"sam-roe","kernelSlug":"leaf-fold-0"}`))
		if err != nil {
			b.Fatal(err)
		}
		req.SetBasicAuth(testUser, testKey)
		resp, err := bare.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	clientCall := func() {
		if _, err := c.Status(b.Context(), testRef, 0); err != nil {
			b.Fatal(err)
		}
	}
	plainCall()
	clientCall()
	var ours, theirs time.Duration
	b.ReportAllocs()
	for b.Loop() { // one after the other, so that both meet the same machine
		start := time.Now()
		clientCall()
		middle := time.Now()
		plainCall()
		ours += middle.Sub(start)
		theirs += time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	b.ReportMetric(float64(ours-theirs)/float64(time.Microsecond)/float64(b.N), "extra-us")
}
