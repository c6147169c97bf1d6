package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/aircoding/air/internal/lazyregexp"
)

const (
	maxHelperAnswer = 64 << 10 // bytes
	helperGrace     = 100 * time.Millisecond
	// identityUser is the user name with which a helper says that its secret is an
	// identity token.
	identityUser = "<token>"
)

// A helper's name becomes part of a program's name, and must not become a path.
var helperGrammar = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

var errNoCredentials = errors.New("no credentials")

// credentialHelper is a program that keeps passwords, by Docker's protocol: one verb as
// argument, a request on stdin, an answer on stdout.
type credentialHelper struct {
	name    string        // without docker-credential-
	timeout time.Duration // of one question
}

func (h credentialHelper) program() string { return "docker-credential-" + h.name }

// secretOf is what a helper keeps of one registry.
type secretOf struct {
	ServerURL string
	Username  string
	Secret    string
}

// get returns errNoCredentials when the helper knows nothing of key.
func (h credentialHelper) get(ctx context.Context, key string) (authn.AuthConfig, error) {
	out, err := h.ask(ctx, "get", []byte(key))
	if err != nil {
		return authn.AuthConfig{}, err
	}
	var s secretOf
	if json.Unmarshal(out, &s) != nil || s.Secret == "" {
		return authn.AuthConfig{}, fmt.Errorf("%s gave an answer that holds no credentials", h.program())
	}
	if s.Username == identityUser {
		return authn.AuthConfig{Username: s.Username, IdentityToken: s.Secret}, nil
	}
	return authn.AuthConfig{Username: s.Username, Password: s.Secret}, nil
}

func (h credentialHelper) store(ctx context.Context, key, user, password string) error {
	request, err := json.Marshal(secretOf{key, user, password})
	if err != nil {
		return err
	}
	_, err = h.ask(ctx, "store", request)
	return err
}

// erase returns errNoCredentials when there was nothing to erase.
func (h credentialHelper) erase(ctx context.Context, key string) error {
	if _, err := h.get(ctx, key); errors.Is(err, errNoCredentials) {
		return err
	}
	_, err := h.ask(ctx, "erase", []byte(key))
	return err
}

// ask runs the helper once. What it prints is never repeated: it may be a secret.
func (h credentialHelper) ask(ctx context.Context, verb string, request []byte) ([]byte, error) {
	if !helperGrammar.MatchString(h.name) {
		return nil, fmt.Errorf("%.100q is no name of a credential helper", h.name)
	}
	limited, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, h.program(), verb) //#nosec G204 -- the person's own configuration names it, and only a name
	cmd.Stdin = bytes.NewReader(request)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AIR_") }) // some are secrets
	out := &cappedBuffer{limit: maxHelperAnswer, full: cancel}
	cmd.Stdout = out
	cmd.WaitDelay = helperGrace
	// What the helper starts ends with it, and holds no pipe open.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	return out.content, h.explain(ctx, limited, out, err)
}

func (h credentialHelper) explain(ctx, limited context.Context, out *cappedBuffer, err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case out.over:
		return fmt.Errorf("%s answered more than %d bytes", h.program(), maxHelperAnswer)
	case limited.Err() != nil:
		return fmt.Errorf("%s did not answer for %v", h.program(), h.timeout)
	case errors.As(err, &exit) && string(bytes.TrimSpace(out.content)) == "credentials not found in native keychain":
		return errNoCredentials // as docker's own helpers say it
	case errors.As(err, &exit):
		return fmt.Errorf("%s failed: %s", h.program(), exit.ProcessState)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not installed", h.program())
	}
	return fmt.Errorf("%s does not run: %w", h.program(), err)
}

// cappedBuffer refuses what is more than limit, and says so with full. It embeds no
// bytes.Buffer, whose ReadFrom would go past the limit.
type cappedBuffer struct {
	content []byte
	limit   int
	full    func()
	over    bool
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	if len(b.content)+len(p) > b.limit {
		b.over = true
		b.full()
		return 0, io.ErrShortWrite
	}
	b.content = append(b.content, p...)
	return len(p), nil
}
