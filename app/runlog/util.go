package runlog

import (
	"context"
	"database/sql"
	"fmt"
	"math"
)

// MaxUtil is how many samples of one device a run keeps. A nine-hour session
// sampled every ten seconds has twice as many, and a chart shows about 1,000.
const MaxUtil = 1600

// utilRow is a stored sample and how many samples it stands for.
type utilRow struct {
	UtilSample
	t int64 // milliseconds
	n int64
}

// AddUtil appends samples. A sample that is not later than the device's last one
// is a repeat and is left out. Beyond MaxUtil samples of a device neighbours are
// merged (mean utilisation and power, largest memory, time of the later one).
func (l *Log) AddUtil(ctx context.Context, run int64, samples []UtilSample) error {
	return l.write(ctx, fmt.Sprintf("log utilisation of run %d", run), func(tx *sql.Tx) error {
		touched, err := appendUtil(ctx, tx, run, samples)
		if err != nil {
			return err
		}
		for device := range touched {
			if err := thinUtil(ctx, tx, run, device); err != nil {
				return err
			}
		}
		return nil
	})
}

// appendUtil stores what is new and says which devices had something new.
func appendUtil(ctx context.Context, tx *sql.Tx, run int64, samples []UtilSample) (map[string]bool, error) {
	last := map[string]int64{}
	touched := map[string]bool{}
	for _, s := range samples {
		newest, known := last[s.Device]
		if !known {
			var m sql.NullInt64
			if err := tx.QueryRowContext(ctx, "SELECT max(t) FROM util WHERE run = ? AND device = ?", run, s.Device).Scan(&m); err != nil {
				return nil, err
			}
			newest = math.MinInt64
			if m.Valid {
				newest = m.Int64
			}
		}
		if math.IsNaN(s.T) || math.IsInf(s.T, 0) {
			return nil, fmt.Errorf("a utilisation sample of %s has no time", s.Device)
		}
		row := utilRow{UtilSample: s, t: int64(math.Round(s.T * 1000)), n: 1}
		if row.t > newest {
			if err := row.insert(ctx, tx, run); err != nil {
				return nil, err
			}
			newest, touched[s.Device] = row.t, true
		}
		last[s.Device] = newest
	}
	return touched, nil
}

func (u *utilRow) insert(ctx context.Context, tx *sql.Tx, run int64) error {
	const q = "INSERT INTO util (run, device, t, util, mem, power, n) VALUES (?, ?, ?, ?, ?, ?, ?)"
	_, err := tx.ExecContext(ctx, q, run, u.Device, u.t, asReal{&u.Util}, asReal{&u.Mem}, asReal{&u.Power}, u.n)
	return err
}

// thinUtil halves a device's samples, as often as it takes, when there are too many.
func thinUtil(ctx context.Context, tx *sql.Tx, run int64, device string) error {
	var count int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM util WHERE run = ? AND device = ?", run, device).Scan(&count); err != nil || count <= MaxUtil {
		return err
	}
	rows, err := readUtil(ctx, tx, run, device)
	if err != nil {
		return err
	}
	for len(rows) > MaxUtil {
		rows = halve(rows)
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM util WHERE run = ? AND device = ?", run, device); err != nil {
		return err
	}
	for i := range rows {
		if err := rows[i].insert(ctx, tx, run); err != nil {
			return err
		}
	}
	return nil
}

func readUtil(ctx context.Context, tx *sql.Tx, run int64, device string) ([]utilRow, error) {
	const q = "SELECT t, util, mem, power, n FROM util WHERE run = ? AND device = ? ORDER BY t"
	res, err := tx.QueryContext(ctx, q, run, device)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var rows []utilRow
	for res.Next() {
		u := utilRow{UtilSample: UtilSample{Device: device}}
		if err := res.Scan(&u.t, asReal{&u.Util}, asReal{&u.Mem}, asReal{&u.Power}, &u.n); err != nil {
			return nil, err
		}
		rows = append(rows, u)
	}
	return rows, res.Err()
}

// halve merges neighbours two by two; an odd last one stays.
func halve(rows []utilRow) []utilRow {
	out := make([]utilRow, 0, (len(rows)+1)/2)
	for ; len(rows) >= 2; rows = rows[2:] {
		a, b := rows[0], rows[1]
		m := b
		m.n = a.n + b.n
		m.Util = weighted(a.Util, a.n, b.Util, b.n)
		m.Power = weighted(a.Power, a.n, b.Power, b.n)
		m.Mem = a.Mem
		if math.IsNaN(a.Mem) || b.Mem > a.Mem {
			m.Mem = b.Mem
		}
		out = append(out, m)
	}
	return append(out, rows...)
}

// weighted is the mean of two means. What was not measured has no say.
func weighted(a float64, an int64, b float64, bn int64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return (a*float64(an) + b*float64(bn)) / float64(an+bn)
}

// Util lists a run's samples by device and time.
func (l *Log) Util(ctx context.Context, run int64) ([]UtilSample, error) {
	const q = "SELECT device, t, util, mem, power FROM util WHERE run = ? ORDER BY device, t"
	var list []UtilSample
	err := l.query(ctx, "list utilisation", q, []any{run}, func(rows *sql.Rows) error {
		var s UtilSample
		var ms int64
		if err := rows.Scan(&s.Device, &ms, asReal{&s.Util}, asReal{&s.Mem}, asReal{&s.Power}); err != nil {
			return err
		}
		s.T = float64(ms) / 1000
		list = append(list, s)
		return nil
	})
	return list, err
}
