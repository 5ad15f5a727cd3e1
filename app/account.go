package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
)

// Kinds of account.
const (
	kindKaggle  = "kaggle"
	kindSandbox = "sandbox"
)

// Kinds of sign-in, and the places where a secret may be.
const (
	authKey         = "key"
	authToken       = "token"
	authOAuth       = "oauth"
	authEnvironment = "environment"
	authSandbox     = "sandbox"

	storeKeychain    = "keychain"
	storeFile        = "file"
	storeMemory      = "memory"
	storeEnvironment = "environment"
	storeSandbox     = "sandbox"
)

// settingAccount holds the id of the account that was chosen last.
const settingAccount = "account"

// ErrNoAccount is the answer of everything that needs an account when there is none.
var ErrNoAccount = errors.New("nobody is signed in")

// accounts is the state of the account files. Its zero value is ready.
type accounts struct {
	mu       sync.Mutex
	chosen   int64          // account signed in to by this process; it beats the environment
	memory   keychain.Store // secrets that end with this process
	env      *envIdentity   // whose the credentials in the environment are
	clients  map[clientKey]*kaggle.Client
	infos    map[string]sandboxInfo // by endpoint, asked once
	box      *sandboxBox            // the embedded sandbox while it runs here
	boxMu    sync.Mutex             // one start at a time
	attached string                 // URL of the embedded sandbox that another process runs
}

// Account gives who we are now: the account this process signed in to, else the
// embedded sandbox when it was chosen last, else the credentials in the
// environment, else the account that was used last. SANDGLASS_ENDPOINT confines
// the choice to accounts at that endpoint. Without any, ErrNoAccount.
func (a *App) Account(ctx context.Context) (Account, error) {
	acc, _, err := a.resolveAccount(ctx)
	return acc, err
}

// resolveAccount also says what was passed over on the way.
func (a *App) resolveAccount(ctx context.Context) (Account, string, error) {
	list, err := a.usableAccounts(ctx)
	if err != nil {
		return Account{}, "", err
	}
	if acc, ok := a.firstChoice(ctx, list); ok {
		return acc, "", nil
	}
	acc, note, err := a.environmentAccount(ctx)
	if err == nil || !errors.Is(err, ErrNoAccount) {
		return acc, note, err
	}
	if len(list) > 0 {
		return fromRow(list[0]), note, nil
	}
	if note != "" {
		return Account{}, note, fmt.Errorf("%w: %s", ErrNoAccount, note)
	}
	return Account{}, "", ErrNoAccount
}

// firstChoice is what beats the environment: what this process signed in to, and
// the sandbox, because taking real quota when the sandbox was chosen would be the
// worse mistake.
func (a *App) firstChoice(ctx context.Context, list []runlog.Account) (Account, bool) {
	a.accounts.mu.Lock()
	chosen := a.accounts.chosen
	a.accounts.mu.Unlock()
	for _, row := range list {
		if chosen != 0 && row.ID == chosen {
			return fromRow(row), true
		}
	}
	if len(list) > 0 && list[0].Store == storeSandbox && strconv.FormatInt(list[0].ID, 10) == a.Setting(ctx, settingAccount) {
		return fromRow(list[0]), true
	}
	return Account{}, false
}

// usableAccounts are the stored accounts one could be now, the preferred one first.
func (a *App) usableAccounts(ctx context.Context) ([]runlog.Account, error) {
	rows, err := a.store.Accounts(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the account: %w", err)
	}
	endpoint := a.endpoint()
	preferred := a.Setting(ctx, settingAccount)
	var list []runlog.Account
	for _, row := range rows {
		if !a.usable(ctx, row, endpoint) {
			continue
		}
		list = append(list, row)
		if strconv.FormatInt(row.ID, 10) == preferred {
			list[0], list[len(list)-1] = list[len(list)-1], list[0]
		}
	}
	return list, nil
}

func (a *App) usable(ctx context.Context, row runlog.Account, endpoint string) bool {
	switch {
	case !row.SignedOutAt.IsZero() || row.Store == storeEnvironment:
		return false
	case row.Store == storeSandbox:
		return endpoint == ""
	case row.Endpoint != endpoint:
		return false
	case row.Store == storeMemory: // of another process, or of one that ended
		_, err := a.memoryStore().Get(ctx, secretName(row.Username, row.Endpoint, secretMain(row.AuthKind)))
		return err == nil
	}
	return true
}

func fromRow(r runlog.Account) Account {
	return Account{ID: r.ID, Username: r.Username, Kind: r.Kind, Endpoint: r.Endpoint, AuthKind: r.AuthKind, Store: r.Store, Speed: r.Speed}
}

// enter makes an account the current one, here and for the next start.
func (a *App) enter(ctx context.Context, row runlog.Account) (Account, error) {
	if err := a.SetSetting(ctx, settingAccount, strconv.FormatInt(row.ID, 10)); err != nil {
		return Account{}, fmt.Errorf("remember the account: %w", err)
	}
	a.accounts.mu.Lock()
	a.accounts.chosen = row.ID
	a.accounts.clients = nil
	a.accounts.mu.Unlock()
	a.hub.emit(Event{Kind: EventAccount})
	return fromRow(row), nil
}

// SignOut forgets the current account's secret. Its runs stay in the log. A
// sandbox that runs here ends. When the keychain cannot be reached the account is
// signed out all the same and the error says what is left where.
func (a *App) SignOut(ctx context.Context) error {
	acc, err := a.Account(ctx)
	if err != nil {
		return err
	}
	if acc.AuthKind == authEnvironment {
		return &EnvironmentError{Variables: a.environment().variables()}
	}
	row, err := a.store.Account(ctx, acc.ID)
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	a.revokeOwn(ctx, row)
	forgot := a.forget(ctx, row)
	row.SignedOutAt = a.now()
	if _, err := a.store.SaveAccount(ctx, row); err != nil {
		return errors.Join(fmt.Errorf("sign out: %w", err), forgot)
	}
	if row.Store == storeSandbox {
		forgot = errors.Join(forgot, a.stopSandbox())
	}
	a.accounts.mu.Lock()
	a.accounts.chosen, a.accounts.clients = 0, nil
	a.accounts.mu.Unlock()
	a.hub.emit(Event{Kind: EventAccount})
	if forgot != nil {
		return fmt.Errorf("%s is signed out here, but its secret could not be removed: %w", acc.Username, forgot)
	}
	return nil
}

// EnvironmentError is a sign-out that only the person can make.
type EnvironmentError struct{ Variables []string }

func (e *EnvironmentError) Error() string {
	return "the sign-in comes from the environment (" + strings.Join(e.Variables, ", ") + ") and is not stored anywhere; unset it to sign out"
}

// forget removes every secret of an account from its store.
func (a *App) forget(ctx context.Context, row runlog.Account) error {
	if row.Store == storeSandbox || row.Store == storeEnvironment {
		return nil // the sandbox's key is part of the sandbox, the environment is not ours
	}
	st, err := a.secretStore(row.Store)
	if err != nil {
		return err
	}
	var errs []error
	for _, part := range secretParts(row.AuthKind) {
		errs = append(errs, st.Delete(ctx, secretName(row.Username, row.Endpoint, part)))
	}
	return errors.Join(errs...)
}

// revokeOwn tells Kaggle that a browser sign-in of ours is over, if it can be
// told soon. One that was imported belongs to the program that made it.
func (a *App) revokeOwn(ctx context.Context, row runlog.Account) {
	if row.AuthKind != authOAuth || a.Setting(ctx, settingOAuthOwn(row.ID)) == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, revokeLimit)
	defer cancel()
	st, err := a.secretStore(row.Store)
	if err != nil {
		return
	}
	refresh, err := st.Get(ctx, secretName(row.Username, row.Endpoint, partRefresh))
	if err != nil {
		return
	}
	c, err := a.clientFor(ctx, fromRow(row))
	if err == nil {
		err = c.Revoke(ctx, kaggle.Secret(refresh), "signed out of Sandglass")
	}
	if err != nil {
		a.log.Warn("browser sign-in not revoked at Kaggle", "op", "sign out", "err", err)
	}
}

// closeAccounts ends what the account files started. App.Close calls it.
func (a *App) closeAccounts() error { return a.stopSandbox() }
