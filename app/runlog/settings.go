package runlog

import (
	"context"
	"database/sql"
	"errors"
)

// Change replaces a setting by what change makes of it, in one transaction, so
// that two windows that add to the same list lose nothing. A setting that was
// never set is "". When change fails nothing is stored.
func (l *Log) Change(ctx context.Context, key string, change func(old string) (string, error)) error {
	return l.write(ctx, "change the setting "+key, func(tx *sql.Tx) error {
		var old string
		err := tx.QueryRowContext(ctx, "SELECT value FROM settings WHERE key = ?", key).Scan(&old)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		value, err := change(old)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
		return err
	})
}
