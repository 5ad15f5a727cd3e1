package desktop

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestSecondStartRaisesTheFirst: also after a crash left the socket behind, and in a folder whose path is too long for one.
func TestSecondStartRaisesTheFirst(t *testing.T) {
	for name, home := range map[string]string{"short": t.TempDir(), "long": t.TempDir() + "/" + strings.Repeat("very-long/", 12)} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(socketPath(home), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			first, err := claim(t.Context(), home)
			if err != nil || first == nil || first.listen == nil {
				t.Fatal(first, err)
			}
			raised := make(chan bool)
			go first.serve(func() { raised <- true })
			if second, err := claim(t.Context(), home); second != nil || err != nil {
				t.Fatal("a second window", second, err)
			}
			<-raised
			first.close()
			next, err := claim(t.Context(), home)
			if err != nil || next == nil {
				t.Fatal("the first is gone", next, err)
			}
			next.close()
		})
	}
}

func TestSecondStartGivesUp(t *testing.T) {
	home := t.TempDir()
	first, err := claim(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	first.listen.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if second, err := claim(gone, home); second != nil || err == nil {
		t.Error(second, err)
	}
}
