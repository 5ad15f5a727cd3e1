package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Listener is a port the sandbox owns but does not answer on yet.
type Listener struct {
	s  *Sandbox
	ln net.Listener
}

// Listen takes addr, e.g. "127.0.0.1:0", so that the caller can print the URL before the first request. Only loopback
// addresses are taken: a pushed kernel runs with the rights of whoever started the sandbox.
func (s *Sandbox) Listen(addr string) (*Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the sandbox's address %q is not host:port, e.g. 127.0.0.1:8765: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the sandbox runs what is pushed to it, so it listens on loopback only: use 127.0.0.1 instead of %q", host)
	}
	ln, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port taken: another program listens on %s; stop it, or use port 0 for a free one: %w", addr, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return &Listener{s: s, ln: ln}, nil
}

// URL is the endpoint to give to clients, e.g. "http://127.0.0.1:8765"; the API is below /api/v1.
func (l *Listener) URL() string { return "http://" + l.ln.Addr().String() }

// Addr is the address taken.
func (l *Listener) Addr() net.Addr { return l.ln.Addr() }

// Close gives the port back without having served.
func (l *Listener) Close() error { return l.ln.Close() }

// Serve answers until ctx ends, then stops within seconds; running sessions go on until [Sandbox.Close]. It returns
// nil after ctx ended.
func (l *Listener) Serve(ctx context.Context) error {
	srv := &http.Server{
		Handler:           l.s.http,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return l.s.ctx },
		ErrorLog:          nil,
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l.ln) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve the sandbox on %s: %w", l.ln.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if srv.Shutdown(grace) != nil {
		srv.Close() // what is left are log streams, which have no end of their own
	}
	<-done
	return nil
}

// Serve is Listen and Listener.Serve in one.
func (s *Sandbox) Serve(ctx context.Context, addr string) error {
	l, err := s.Listen(addr)
	if err != nil {
		return err
	}
	return l.Serve(ctx)
}
