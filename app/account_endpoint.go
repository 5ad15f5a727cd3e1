package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// endpoint is where SANDGLASS_ENDPOINT points, "" = production.
func (a *App) endpoint() string {
	return strings.TrimRight(strings.TrimSpace(a.getenv("SANDGLASS_ENDPOINT")), "/")
}

// sandboxInfo is what a sandbox says about itself.
type sandboxInfo struct {
	Sandbox  bool    `json:"sandglass_sandbox"`
	Speed    float64 `json:"speed"`
	Username string  `json:"username"`
}

// infoLimit is how long an endpoint may take to say what it is.
const infoLimit = 3 * time.Second

// askInfo asks an endpoint whether it is a sandbox. Production is never asked. An
// endpoint that answers, but not like a sandbox, is not one.
func (a *App) askInfo(ctx context.Context, endpoint string) (sandboxInfo, error) {
	if endpoint == "" {
		return sandboxInfo{}, nil
	}
	base := strings.TrimSuffix(strings.TrimSuffix(endpoint, "/v1"), "/api")
	ctx, cancel := context.WithTimeout(ctx, infoLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/sandbox/info", nil)
	if err != nil {
		return sandboxInfo{}, errors.New("the endpoint is not an address")
	}
	client := &http.Client{Transport: a.transportTo(endpoint)}
	resp, err := client.Do(req)
	if err != nil {
		return sandboxInfo{}, err
	}
	defer resp.Body.Close()
	var info sandboxInfo
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return sandboxInfo{}, err
	}
	if resp.StatusCode != http.StatusOK || json.Unmarshal(raw, &info) != nil {
		return sandboxInfo{}, nil
	}
	return info, nil
}

// kindOf says what is at an endpoint, asking it once per process. One that does
// not answer counts as Kaggle until it does.
func (a *App) kindOf(ctx context.Context, endpoint string) (kind string, speed float64) {
	a.accounts.mu.Lock()
	info, known := a.accounts.infos[endpoint]
	a.accounts.mu.Unlock()
	if !known {
		var err error
		if info, err = a.askInfo(ctx, endpoint); err == nil {
			a.accounts.mu.Lock()
			if a.accounts.infos == nil {
				a.accounts.infos = map[string]sandboxInfo{}
			}
			a.accounts.infos[endpoint] = info
			a.accounts.mu.Unlock()
		}
	}
	if info.Sandbox {
		return kindSandbox, info.Speed
	}
	return kindKaggle, 0
}
