package keychain

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// defaultTimeout is long against the few milliseconds a call takes and short for a person.
const defaultTimeout = 3 * time.Second

// Option changes what OS gives.
type Option func(*osStore)

// OSPrompt lets a call wait up to limit instead, because the system may be
// asking the person to unlock the keychain. waiting, if not nil, is called when
// the ordinary time is over, so that a face can say so; cancelling the context
// gives up at once.
func OSPrompt(limit time.Duration, waiting func()) Option {
	return func(s *osStore) { s.prompt, s.waiting = limit, waiting }
}

// OS is the operating system's keychain. A call that takes longer than timeout
// (0 = 3 s) gives ErrUnavailable.
//
// The system's call cannot be interrupted: one that was given up may still take
// effect when the person unlocks the keychain later. Until it returns every
// further call is refused, so that no two are ever under way.
func OS(timeout time.Duration, opts ...Option) Store {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	s := &osStore{timeout: timeout, slot: make(chan struct{}, 1), ring: goKeyring{}}
	for _, o := range opts {
		o(s)
	}
	return s
}

// ring is the part of go-keyring that is used.
type ring interface {
	Set(service, user, secret string) error
	Get(service, user string) (string, error)
	Delete(service, user string) error
}

type goKeyring struct{}

func (goKeyring) Set(service, user, secret string) error   { return keyring.Set(service, user, secret) }
func (goKeyring) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (goKeyring) Delete(service, user string) error        { return keyring.Delete(service, user) }

type osStore struct {
	timeout time.Duration
	prompt  time.Duration // 0 = no longer than timeout
	waiting func()
	slot    chan struct{} // taken while a call is under way
	ring    ring
}

func (s *osStore) Name() string { return "keychain" }

func (s *osStore) Set(ctx context.Context, account, secret string) error {
	if secret == "" {
		return s.Delete(ctx, account)
	}
	if err := checkSize(secret); err != nil {
		return err
	}
	back, err := s.call(ctx, secret, func() (string, error) {
		if err := s.ring.Set(Service, account, secret); err != nil {
			return "", err
		}
		return s.ring.Get(Service, account)
	})
	switch {
	case err == nil && back == secret:
		return nil
	case err == nil || errors.Is(err, ErrNotFound):
		// Half a secret is worse than none: it would be sent, and refused, for ever.
		_ = s.Delete(ctx, account)
		return &Error{Kind: ErrNoReadBack, Reason: "what it gave back is not what was stored, so the entry was removed again"}
	}
	return err
}

func (s *osStore) Get(ctx context.Context, account string) (string, error) {
	return s.call(ctx, "", func() (string, error) { return s.ring.Get(Service, account) })
}

func (s *osStore) Delete(ctx context.Context, account string) error {
	_, err := s.call(ctx, "", func() (string, error) { return "", s.ring.Delete(Service, account) })
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// call runs f on a goroutine of its own and waits for it as long as is decent.
func (s *osStore) call(ctx context.Context, secret string, f func() (string, error)) (string, error) {
	patience := time.NewTimer(s.timeout)
	defer patience.Stop()
	select {
	case s.slot <- struct{}{}:
	case <-patience.C:
		return "", unavailable("an earlier question to it is still unanswered; unlock it, or close what asks for its password")
	case <-ctx.Done():
		return "", gaveUp(ctx)
	}
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() { <-s.slot }()
		text, err := f()
		done <- answer{text, err}
	}()
	asked := s.prompt <= s.timeout
	for {
		select {
		case a := <-done:
			return a.text, plain(a.err, secret)
		case <-ctx.Done():
			return "", gaveUp(ctx)
		case <-patience.C:
			if asked {
				return "", unavailable("it did not answer within %s; it may be locked and waiting for its password in another window", max(s.timeout, s.prompt))
			}
			asked = true
			if s.waiting != nil {
				s.waiting()
			}
			patience.Reset(s.prompt - s.timeout)
		}
	}
}

func gaveUp(ctx context.Context) error {
	return &Error{Kind: ErrUnavailable, Reason: "waiting for it was given up", Err: ctx.Err()}
}

// plain puts an error of go-keyring into plain words. The texts are those that
// were seen on Linux; whatever is not known is passed on as it is.
func plain(err error, secret string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, keyring.ErrSetDataTooBig):
		return &Error{Kind: ErrTooLarge, Reason: "the system refused its length"}
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return unavailable("Sandglass knows no keychain on %s", runtime.GOOS)
	}
	text := hide(err.Error(), secret)
	var ee *exec.Error
	switch {
	case errors.As(err, &ee) && strings.Contains(ee.Name, "dbus-launch"), errors.Is(err, os.ErrNotExist), strings.Contains(text, "DBUS_SESSION_BUS_ADDRESS"), strings.HasPrefix(text, "dial unix"):
		return unavailable("there is no session bus (D-Bus), as is usual over ssh and on servers")
	case strings.Contains(text, ".service files"), strings.Contains(text, "ServiceUnknown"):
		return unavailable("no Secret Service runs here; install and start one (GNOME Keyring, KWallet, KeePassXC)")
	case strings.Contains(text, "failed to unlock"):
		return unavailable("it is locked and could not be unlocked; log in to the desktop, or unlock it in its own program")
	case strings.Contains(text, "dismissed"):
		return unavailable("its password was asked for and not given")
	}
	return unavailable("%s", text)
}
