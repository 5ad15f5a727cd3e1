package keychain

import (
	"context"
	"sync"
)

// Memory keeps secrets until the program ends.
func Memory() Store { return &memoryStore{secrets: map[string]string{}} }

type memoryStore struct {
	mu      sync.Mutex
	secrets map[string]string
}

func (s *memoryStore) Name() string { return "memory" }

func (s *memoryStore) Set(_ context.Context, account, secret string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret == "" {
		delete(s.secrets, account)
		return nil
	}
	s.secrets[account] = secret
	return nil
}

func (s *memoryStore) Get(_ context.Context, account string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, ok := s.secrets[account]
	if !ok {
		return "", ErrNotFound
	}
	return secret, nil
}

func (s *memoryStore) Delete(ctx context.Context, account string) error {
	return s.Set(ctx, account, "")
}
