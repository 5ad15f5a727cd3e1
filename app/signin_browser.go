package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sandglass/kaggle"
)

// BrowserSignIn is a sign-in that waits for the browser. Close it.
type BrowserSignIn struct {
	URL      string // open this
	PasteURL string // or this, also on another computer: it ends with a code to paste

	app      *App
	login    *kaggle.Login
	endpoint string

	mu   sync.Mutex
	good *credential // verified and waiting for a place to be stored
}

// BrowserSignIn begins a sign-in through Kaggle's page. Nothing is stored until
// Wait or Code succeeds.
func (a *App) BrowserSignIn(ctx context.Context) (*BrowserSignIn, error) {
	endpoint := a.endpoint()
	c, err := a.newClient(endpoint, nil)
	if err != nil {
		return nil, err
	}
	login, err := c.StartLogin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin the browser sign-in: %w", err)
	}
	return &BrowserSignIn{URL: login.URL, PasteURL: login.PasteURL, app: a, login: login, endpoint: endpoint}, nil
}

// Wait waits until the person has agreed in the browser, and stores the sign-in in
// the keychain. When there is none (NeedsStore) the sign-in is not lost: ask where
// to put it and call Keep.
func (b *BrowserSignIn) Wait(ctx context.Context) (Account, error) {
	tok, err := b.login.Wait(ctx)
	return b.finish(ctx, tok, err)
}

// Code does the same with the code that the page at PasteURL showed.
func (b *BrowserSignIn) Code(ctx context.Context, code string) (Account, error) {
	tok, err := b.login.Exchange(ctx, code)
	return b.finish(ctx, tok, err)
}

// Keep stores a sign-in that found no keychain: store is "file" or "memory".
func (b *BrowserSignIn) Keep(ctx context.Context, store string) (Account, error) {
	b.mu.Lock()
	good := b.good
	b.mu.Unlock()
	if good == nil {
		return Account{}, errors.New("the browser sign-in has not succeeded yet")
	}
	return b.app.keep(ctx, b.endpoint, *good, store)
}

// Close ends the wait and gives the port back.
func (b *BrowserSignIn) Close() { b.login.Close() }

func (b *BrowserSignIn) finish(ctx context.Context, tok kaggle.OAuthToken, err error) (Account, error) {
	if err != nil {
		return Account{}, fmt.Errorf("sign in with the browser: %w", err)
	}
	cred := credential{username: tok.Username, oauth: &tok, ownOAuth: true}
	if cred.username == "" {
		if err := b.app.verify(ctx, b.endpoint, &cred); err != nil {
			return Account{}, err
		}
	}
	b.mu.Lock()
	b.good = &cred
	b.mu.Unlock()
	return b.app.keep(ctx, b.endpoint, cred, "")
}
