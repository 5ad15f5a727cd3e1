package runlog

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// The types below stand between a Go field and its column in both directions,
// so that one list of fields serves for reading and for writing.

// asTime is milliseconds since 1970 UTC; 0 is the zero time.
type asTime struct{ t *time.Time }

func (c asTime) Value() (driver.Value, error) { return toMillis(*c.t), nil }

func (c asTime) Scan(src any) error {
	ms, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", src)
	}
	*c.t = fromMillis(ms)
	return nil
}

func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// asMillis is a duration in milliseconds, rounded.
type asMillis struct{ d *time.Duration }

func (c asMillis) Value() (driver.Value, error) {
	return c.d.Round(time.Millisecond).Milliseconds(), nil
}

func (c asMillis) Scan(src any) error {
	ms, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a duration is stored as %T", src)
	}
	*c.d = time.Duration(ms) * time.Millisecond
	return nil
}

// asID is a reference to another row; 0 is NULL.
type asID struct{ id *int64 }

func (c asID) Value() (driver.Value, error) {
	if *c.id == 0 {
		return nil, nil
	}
	return *c.id, nil
}

func (c asID) Scan(src any) error {
	*c.id, _ = src.(int64)
	return nil
}

// asReal is a number that may be NaN, which SQLite has no room for: NULL.
type asReal struct{ f *float64 }

func (c asReal) Value() (driver.Value, error) {
	if math.IsNaN(*c.f) {
		return nil, nil
	}
	return *c.f, nil
}

func (c asReal) Scan(src any) error {
	switch v := src.(type) {
	case float64:
		*c.f = v
	case int64:
		*c.f = float64(v)
	default:
		*c.f = math.NaN()
	}
	return nil
}

// asFold is a fold; -1 is a job without folds.
type asFold struct{ f **int }

func (c asFold) Value() (driver.Value, error) {
	if *c.f == nil {
		return int64(-1), nil
	}
	if **c.f < 0 {
		return nil, fmt.Errorf("fold %d is below zero", **c.f)
	}
	return int64(**c.f), nil
}

func (c asFold) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a fold is stored as %T", src)
	}
	*c.f = nil
	if n >= 0 {
		k := int(n)
		*c.f = &k
	}
	return nil
}

// asJSON is a list; a nil list stays nil.
type asJSON[T any] struct{ list *[]T }

func (c asJSON[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(*c.list)
	return string(b), err
}

func (c asJSON[T]) Scan(src any) error {
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("a list is stored as %T", src)
	}
	*c.list = nil
	return json.Unmarshal([]byte(s), c.list)
}
