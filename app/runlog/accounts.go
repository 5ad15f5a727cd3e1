package runlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// accountColumns and Account.fields are in the same order.
var accountColumns = []string{"username", "kind", "endpoint", "auth_kind", "store", "speed", "added_at", "used_at", "signed_out_at"}

func (a *Account) fields() []any {
	return []any{&a.Username, &a.Kind, &a.Endpoint, &a.AuthKind, &a.Store, &a.Speed, asTime{&a.AddedAt}, asTime{&a.UsedAt}, asTime{&a.SignedOutAt}}
}

var (
	selectAccount = "SELECT id, " + strings.Join(accountColumns, ", ") + " FROM accounts "
	insertAccount = "INSERT INTO accounts (" + strings.Join(accountColumns, ", ") + ") VALUES (" + marks(len(accountColumns)) + ")"
	updateAccount = "UPDATE accounts SET " + strings.Join(accountColumns, " = ?, ") + " = ? WHERE id = ?"
)

func (a *Account) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(append([]any{&a.ID}, a.fields()...)...)
}

// SaveAccount stores an account. With ID 0 an existing account of the same kind,
// endpoint and username (in any letter case) is updated, else one is added. The
// stored row comes back.
func (l *Log) SaveAccount(ctx context.Context, a Account) (Account, error) {
	var stored Account
	err := l.write(ctx, "save the account "+a.Username, func(tx *sql.Tx) error {
		id, err := l.putAccount(ctx, tx, a)
		if err != nil {
			return err
		}
		return stored.scan(tx.QueryRowContext(ctx, selectAccount+"WHERE id = ?", id))
	})
	return stored, err
}

func (l *Log) putAccount(ctx context.Context, tx *sql.Tx, a Account) (int64, error) {
	if a.ID == 0 {
		const same = "SELECT id, added_at FROM accounts WHERE kind = ? AND endpoint = ? AND username = ?"
		err := tx.QueryRowContext(ctx, same, a.Kind, a.Endpoint, a.Username).Scan(&a.ID, asTime{&a.AddedAt})
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
	}
	if a.AddedAt.IsZero() {
		a.AddedAt = l.now()
	}
	if a.ID == 0 {
		res, err := tx.ExecContext(ctx, insertAccount, a.fields()...)
		if err != nil {
			return 0, err
		}
		return res.LastInsertId()
	}
	res, err := tx.ExecContext(ctx, updateAccount, append(a.fields(), a.ID)...)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return 0, errors.Join(ErrNotFound, err)
	}
	return a.ID, nil
}

// Accounts lists all accounts, the last used first, signed-out ones included.
func (l *Log) Accounts(ctx context.Context) ([]Account, error) {
	var list []Account
	err := l.query(ctx, "list accounts", selectAccount+"ORDER BY used_at DESC, id DESC", nil, func(rows *sql.Rows) error {
		var a Account
		if err := a.scan(rows); err != nil {
			return err
		}
		list = append(list, a)
		return nil
	})
	return list, err
}

// Account gives one account, or ErrNotFound.
func (l *Log) Account(ctx context.Context, id int64) (Account, error) {
	var a Account
	err := a.scan(l.r.QueryRowContext(ctx, selectAccount+"WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return a, l.fail(fmt.Sprintf("read account %d", id), err)
}

// ErrHasRuns is the refusal of DeleteAccount.
var ErrHasRuns = errors.New("the account has runs in the log; sign it out to keep them")

// DeleteAccount removes an account without runs, with its quota readings. One
// that has runs is refused with ErrHasRuns: sign it out instead.
func (l *Log) DeleteAccount(ctx context.Context, id int64) error {
	_, err := l.w.ExecContext(ctx, "DELETE FROM accounts WHERE id = ?", id)
	var se sqlite3.Error
	if errors.As(err, &se) && se.ExtendedCode == sqlite3.ErrConstraintForeignKey {
		err = ErrHasRuns
	}
	return l.fail(fmt.Sprintf("remove account %d", id), err)
}
