package kaggle

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Quota is the weekly accelerator quota at FetchedAt. A nil pool was not reported, which is not the same as zero.
type Quota struct {
	RefreshAt time.Time // when the week resets; zero: not said
	GPU, TPU  *PoolQuota
	FetchedAt time.Time
	Raw       string // the answer as it came, without credentials
}

// PoolQuota is one pool of hours. Queued sessions are in neither Used nor Reserved.
type PoolQuota struct {
	Used, Reserved, Total, Minimum time.Duration
	HasEverRun                     bool
}

// Left is what the week has not used yet: never below zero.
func (p PoolQuota) Left() time.Duration { return max(0, p.Total-p.Used) }

// Free is what can be planned with: Left without what running sessions have reserved.
func (p PoolQuota) Free() time.Duration { return max(0, p.Total-p.Used-p.Reserved) }

// Overdrawn is by how much Used is over Total: never below zero.
func (p PoolQuota) Overdrawn() time.Duration { return max(0, p.Used-p.Total) }

// Quota reads the weekly quota. A duration that cannot be read gives an error of kind ErrMalformed together with the
// quota as far as it was readable and Raw: keep the last good one and log Raw.
func (c *Client) Quota(ctx context.Context) (Quota, error) {
	const op = "read the quota"
	var raw json.RawMessage
	if err := c.call(ctx, rpc{op: op, path: PathQuota, in: struct{}{}, out: &raw, retry: true}); err != nil {
		return Quota{}, err
	}
	q, err := decodeQuota(raw)
	q.FetchedAt = c.now()
	q.Raw = scrub(string(raw))
	if err != nil {
		c.log.Warn("the quota cannot be read", "error", err, "body", q.Raw)
		return q, malformed(op, err.Error(), raw, nil)
	}
	return q, nil
}

// decodeQuota reads what it can; the error names the field that is wrong.
func decodeQuota(raw json.RawMessage) (Quota, error) {
	var doc QuotaResponse
	if err := json.Unmarshal(raw, &doc); err != nil {
		return Quota{}, fmt.Errorf("the quota is not an object of the expected form: %w", err)
	}
	q := Quota{RefreshAt: doc.QuotaRefreshTime.Time}
	var err, tpuErr error
	q.GPU, err = decodePool("gpuQuota", doc.GPUQuota)
	q.TPU, tpuErr = decodePool("tpuQuota", doc.TPUQuota)
	if err == nil {
		err = tpuErr
	}
	return q, err
}

// decodePool gives nil for a pool whose allowance was not reported. Used and reserved hours that were left out are zero:
// the service omits defaults.
func decodePool(name string, doc *QuotaPoolDoc) (*PoolQuota, error) {
	if doc == nil {
		return nil, nil
	}
	p := &PoolQuota{HasEverRun: doc.HasEverRun}
	for _, f := range []struct {
		name string
		raw  json.RawMessage
		to   *time.Duration
	}{
		{"timeUsed", doc.TimeUsed, &p.Used}, {"timeReserved", doc.TimeReserved, &p.Reserved},
		{"totalTimeAllowed", doc.TotalTimeAllowed, &p.Total}, {"minimumTimeAllowed", doc.MinimumTimeAllowed, &p.Minimum},
	} {
		if isNull(f.raw) {
			continue
		}
		d, err := ParseDuration(f.raw)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, f.name, err)
		}
		*f.to = d
	}
	if isNull(doc.TotalTimeAllowed) {
		return nil, nil
	}
	return p, nil
}
