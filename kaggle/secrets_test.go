package kaggle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// The credentials of this test; none may be found in anything that is printed.
const (
	leakKey     = "fedcba9876543210fedcba9876543210"
	leakToken   = "KGAT_leakleakleakleak"
	leakOpaque  = "opaque.Access-Token~leak"
	leakRefresh = "opaque/Refresh+Token=leak"
	leakCode    = "login-code-leak"
	leakSig     = "signature-of-a-url-leak"
)

// everyWay prints a value in all the ways a careless line of code could.
func everyWay(v any) string {
	var b strings.Builder
	nested := struct{ V any }{v}
	for _, x := range []any{v, []any{v}, map[string]any{"v": v}, &nested, nested, inPrivate(v)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&b, verb+"\n", x)
		}
	}
	js := slog.New(slog.NewJSONHandler(&b, nil))
	tx := slog.New(slog.NewTextHandler(&b, nil))
	js.Info("m", "v", v)
	tx.Info("m", "v", v)
	if _, wire := v.(slog.LogValuer); !wire || isSecret(v) { // the bodies of the sign-in calls carry it in JSON, that is their use
		out, _ := json.Marshal(v)
		b.Write(out)
	}
	return b.String()
}

// inPrivate puts what holds a credential for long into a private field, where fmt asks no methods. A bare Secret cannot
// defend itself there; see its comment.
func inPrivate(v any) any {
	switch v.(type) {
	case Authorizer, *Client, *Login, error:
		return &struct{ p any }{v}
	}
	return nil
}

func isSecret(v any) bool {
	_, ok := v.(Secret)
	return ok
}

// secretForms are the credentials as they could be seen, in hex and base64 too.
func secretForms() []string {
	var out []string
	for _, s := range []string{leakKey, leakToken, leakOpaque, leakRefresh, leakCode, leakSig} {
		basic, _ := Basic(testUser, Secret(s)).Authorization(context.Background())
		out = append(out, s, fmt.Sprintf("%x", s), fmt.Sprintf("%X", s), strings.TrimPrefix(basic.Reveal(), "Basic "))
	}
	return out
}

func findLeak(t *testing.T, what, text string) {
	t.Helper()
	for _, s := range secretForms() {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("%s shows a credential: %.200q", what, text[max(0, i-80):])
		}
	}
}

// Trap 41: no value of this package shows a credential however it is printed.
func TestValuesHideSecrets(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) {}, func(c *Config) { c.Auth = Basic(testUser, leakKey) })
	login, err := c.StartLogin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer login.Close()
	tok := OAuthToken{Access: leakOpaque, Refresh: leakRefresh, Username: testUser}
	for name, v := range map[string]any{
		"secret": Secret(leakToken), "wire secret": WireSecret(leakToken), "token": tok, "basic": Basic(testUser, leakKey), "bearer": Bearer(leakToken),
		"oauth": OAuth(tok, nil, nil, nil), "client": c, "config": Config{Auth: Bearer(leakToken)}, "login": login,
		"introspect": IntrospectRequest{Token: leakToken}, "exchange": ExchangeTokenRequest{Code: leakCode, CodeVerifier: leakToken, RefreshToken: leakRefresh},
		"exchanged": ExchangeTokenResponse{AccessToken: leakOpaque, RefreshToken: leakRefresh}, "generate": GenerateAccessTokenRequest{RefreshToken: leakRefresh},
		"generated": GenerateAccessTokenResponse{Token: leakOpaque}, "expire": ExpireTokenRequest{Token: leakRefresh},
	} {
		text := everyWay(v)
		findLeak(t, name, text)
		if name == "login" && strings.Contains(text, login.verifier().Reveal()) {
			t.Error("the login shows its verifier")
		}
	}
	if b, _ := encodeBody(IntrospectRequest{Token: leakToken}); !strings.Contains(string(b), leakToken) {
		t.Errorf("the body itself must carry the token: %s", b)
	}
	if b, err := (Secret(leakToken)).MarshalText(); err != nil || string(b) != redacted {
		t.Error(string(b))
	}
}

// A server that echoes credentials in every kind of answer cannot make errors, logs or the quota's raw body show them.
func TestErrorsAndLogsHideSecrets(t *testing.T) {
	echo := func(format string) string {
		all := strings.Join([]string{leakKey, leakToken, leakOpaque, leakRefresh, leakCode}, " and ")
		return fmt.Sprintf(format, strings.ReplaceAll(all, `"`, ``))
	}
	answers := []struct {
		status int
		body   string
	}{
		{401, echo(`{"error":{"code":401,"message":"bad token %s"}}`)}, {400, echo(`{"code":400,"message":"%s"}`)}, {500, echo(`<html>Authorization: %s</html>`)},
		{200, echo(`<html>%s</html>`)}, {200, echo(`{"code":403,"message":"%s"}`)}, {200, echo(`[%s]`)}, {200, echo(`{"status":"x %s`)}, {403, echo(`plain %s`)},
		{200, echo(`{"errorMessage":"%s"}`)}, {200, echo(`{"gpuQuota":{"timeUsed":"%s"}}`)}, {502, strings.Repeat("x", bodyLimit-10) + echo(`%s`)},
	}
	for _, auth := range []Authorizer{Basic(testUser, leakKey), Bearer(leakToken), Bearer(leakOpaque)} {
		for _, a := range answers {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var logged bytes.Buffer
				log := slog.New(slog.NewTextHandler(lockedWriter{&mu, &logged}, &slog.HandlerOptions{Level: slog.LevelDebug}))
				c := inBubble(t, func(w http.ResponseWriter, r *http.Request) {
					// Only what this call itself carried is unknown to the patterns; the others have a telling shape or are removed.
					own, _ := io.ReadAll(r.Body)
					body := a.body
					if auth := r.Header.Get("Authorization"); !strings.Contains(auth, leakOpaque) {
						body = strings.ReplaceAll(body, leakOpaque, "")
					}
					for _, s := range []string{leakRefresh, leakCode} {
						if !bytes.Contains(own, []byte(s)) {
							body = strings.ReplaceAll(body, s, "")
						}
					}
					reply(w, a.status, body+" "+r.Header.Get("Authorization"))
				}, func(cfg *Config) { cfg.Auth, cfg.Log = auth, log })
				ctx := t.Context()
				var errs []error
				add := func(err error) { errs = append(errs, err) }
				q, err := c.Quota(ctx)
				add(err)
				findLeak(t, "quota", everyWay(q))
				_, err = c.Status(ctx, testRef, 0)
				add(err)
				resp, err := c.SaveKernel(ctx, script)
				add(err)
				findLeak(t, "verdict", everyWay(ClassifyPush(resp, err)))
				add(c.DeleteKernel(ctx, testRef))
				_, err = c.Introspect(ctx, leakToken)
				add(err)
				_, err = c.RefreshToken(ctx, leakRefresh)
				add(err)
				add(c.Revoke(ctx, leakRefresh, "x"))
				_, err = c.exchangeCode(ctx, leakCode, leakToken)
				add(err)
				_, err = c.FollowLog(ctx, testRef, 0, 0, func(LogRecord) error { return nil })
				add(err)
				_, err = c.Download(ctx, c.base+"/f?sig="+leakSig, filepath.Join(t.TempDir(), "a"), DownloadOptions{SHA256: strings.Repeat("0", 64)})
				add(err)
				failed := 0
				for _, err := range errs {
					if err == nil {
						continue
					}
					failed++
					findLeak(t, "error", everyWay(err)+everyWay(fmt.Errorf("wrapped: %w", err)))
					var e *Error
					if errors.As(err, &e) {
						findLeak(t, "error value", everyWay(*e))
					}
				}
				if failed == 0 {
					t.Errorf("nothing failed for %d %q", a.status, a.body)
				}
				mu.Lock()
				if logged.Len() == 0 {
					t.Error("nothing was logged")
				}
				findLeak(t, "log", logged.String())
				mu.Unlock()
				synctest.Wait()
			})
		}
	}
}

// A connection that fails names no address that carries a signature.
func TestNetworkErrorsHideAddresses(t *testing.T) {
	c, err := New(Config{Endpoint: "http://127.0.0.1:1", Auth: Bearer(leakToken), Limiter: free(), Rand: func() float64 { return -0.5 }})
	if err != nil {
		t.Fatal(err)
	}
	_, err1 := c.Status(t.Context(), testRef, 0)
	_, err2 := c.Download(t.Context(), "http://127.0.0.1:1/x?sig="+leakSig, filepath.Join(t.TempDir(), "a"), DownloadOptions{})
	for _, err := range []error{err1, err2} {
		asError(t, err, ErrOffline)
		findLeak(t, "network error", everyWay(err))
	}
}

func TestScrub(t *testing.T) {
	for in, want := range map[string]string{
		`{"accessToken":"abc","n":1}`: `{"accessToken":[redacted],"n":1}`, `Authorization: Bearer abcdefgh`: `Authorization: [redacted]`,
		`x?sig=abcdefgh&y=1`: `x?sig=[redacted]&y=1`, `key ` + leakKey: `key [redacted]`, `No runs found for this kernel.`: `No runs found for this kernel.`,
		`{"code":404,"message":"m"}`: `{"code":404,"message":"m"}`, `KGAT_x1`: `[redacted]`,
	} {
		if got := scrub(in); got != want {
			t.Errorf("%s becomes %s", in, got)
		}
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
