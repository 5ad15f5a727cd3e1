package desktop

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// instance is the one window of a home folder. The lock says that there is one, the socket is how a second start reaches it; the
// lock goes with its process however that ends, so a socket left behind by a crash deceives nobody.
type instance struct {
	lock   *flock.Flock
	listen net.Listener
}

// answerIn is how long a first start may take to listen before a second one gives up on it.
const answerIn = 5 * time.Second

// claim makes this process the window of home. When another one is, that one is asked to come up, and claim returns nil and no
// error. Where locks or sockets do not work at all the window opens as if it were alone.
func claim(ctx context.Context, home string) (*instance, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return &instance{}, nil // opening the core says why, and what to do
	}
	lock := flock.New(filepath.Join(home, "window.lock"))
	got, err := lock.TryLock()
	if err != nil {
		return &instance{}, nil
	}
	at := socketPath(home)
	if !got {
		return nil, raiseOther(ctx, at)
	}
	_ = os.Remove(at)
	l, err := net.Listen("unix", at)
	if err != nil {
		return &instance{lock: lock}, nil
	}
	return &instance{lock: lock, listen: l}, nil
}

// socketPath is in the home folder where the system's limit of about 100 bytes allows.
func socketPath(home string) string {
	if at := filepath.Join(home, "window.sock"); len(at) < 100 {
		return at
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("sandglass-%x.sock", sha256.Sum256([]byte(home)))[:34])
}

// raiseOther reaches the window that has the lock. It may have begun only just now.
func raiseOther(ctx context.Context, at string) error {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", at)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return errors.New("another Sandglass is open already, but its window does not answer")
		case <-tick.C:
		}
	}
}

// serve calls raise for every later start, until close.
func (i *instance) serve(raise func()) {
	if i.listen == nil {
		return
	}
	for {
		conn, err := i.listen.Accept()
		if err != nil {
			return
		}
		_ = conn.Close()
		raise()
	}
}

// close lets the next start be the first.
func (i *instance) close() {
	if i.listen != nil {
		_ = i.listen.Close()
	}
	if i.lock != nil {
		_ = i.lock.Unlock()
	}
}
