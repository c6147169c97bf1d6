package oci

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
)

// ServeOptions of the embedded registry. The zero value listens on a free port of
// loopback and keeps what is pushed until it stops.
type ServeOptions struct {
	Addr    string // HOST:PORT, default 127.0.0.1:0
	Dir     string // where content is kept; empty makes a temporary folder, which goes when Serve returns
	Token   string // when set, a write needs it, as bearer token or as basic auth's password
	Private bool   // reading needs the token too
	// Quota is how many bytes the registry may hold, uploads under way counted. Default
	// 10 GiB in Dir, 1 GiB in a temporary folder.
	Quota int64
	Idle  time.Duration // how long a push may be silent; default a minute
	Ready func(addr string)
}

const (
	shutdownTimeout = 5 * time.Second
	maxConnections  = 512
)

// Serve runs an OCI registry until ctx ends.
func Serve(ctx context.Context, o ServeOptions) error {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	return during("serving a registry on", o.Addr, serve(ctx, o))
}

func serve(ctx context.Context, o ServeOptions) error {
	if o.Private && o.Token == "" {
		return fail(KindInvalid, "set AIR_REGISTRY_TOKEN", "a private registry needs a token")
	}
	store, closeStore, err := openStore(ctx, o)
	if err != nil {
		return err
	}
	defer closeStore()
	listener, err := listen(ctx, o.Addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           newGuard(newEndpoints(store), listener.Addr(), o),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         atMost(maxConnections),
		ErrorLog:          log.New(io.Discard, "", 0), // what a client did wrong, the client is told
	}
	if o.Ready != nil {
		o.Ready(listener.Addr().String())
	}
	return runUntil(ctx, server, listener)
}

// atMost closes connections beyond so many at one time, before they ask for anything.
func atMost(limit int64) func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > limit {
				_ = c.Close()
			}
		case http.StateClosed:
			open.Add(-1)
		}
	}
}

// writeError says of a full registry why.
func writeError(w http.ResponseWriter, _ *http.Request, err error) {
	var full *fullError
	switch {
	case errors.As(err, &full):
		refuse(w, http.StatusRequestEntityTooLarge, ociregistry.ErrDenied, full.Error())
	case fault.IsDiskFull(err):
		refuse(w, http.StatusInsufficientStorage, ociregistry.ErrDenied, "the registry's disk is full")
	default:
		_ = ociregistry.WriteError(w, err) // the client is gone
	}
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fail(KindConflict, "choose another address with --addr HOST:PORT; port 0 takes a free one", "%w", err)
	case ctx.Err() != nil:
		return nil, localError(ctx.Err())
	case err != nil:
		return nil, fail(KindInvalid, "--addr takes HOST:PORT of this machine", "%w", err)
	}
	return listener, nil
}

// runUntil lets requests under way finish for a while when ctx ends.
func runUntil(ctx context.Context, server *http.Server, listener net.Listener) error {
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fail(KindLocal, "", "%w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return ignoreDeadline(errors.Join(err, server.Close()))
	}
	return nil
}

// ignoreDeadline: a client that keeps its request open beyond the grace period is cut
// off, and that is no failure of the registry.
func ignoreDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// openStore keeps a folder from being served twice: each would count for itself.
func openStore(ctx context.Context, o ServeOptions) (_ *dirStore, closeStore func(), err error) {
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "air-registry-")
		if err != nil {
			return nil, nil, localError(err)
		}
		closeStore = func() { _ = os.RemoveAll(dir) } // the system empties its folder of temporary files
		o.Dir, o.Quota = dir, cmp.Or(o.Quota, defaultTemporaryQuota)
	} else if closeStore, err = lockFolder(o.Dir); err != nil {
		return nil, nil, err
	}
	store, err := newDirStore(ctx, o.Dir, cmp.Or(o.Quota, defaultQuota))
	if err != nil {
		closeStore()
		return nil, nil, err
	}
	return store, closeStore, nil
}

func lockFolder(dir string) (unlock func(), err error) {
	unlock, free, err := home.TryLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, localError(err)
	}
	if !free {
		return nil, fail(KindConflict, "stop it, or name another folder", "another registry serves %s", dir)
	}
	return unlock, nil
}
