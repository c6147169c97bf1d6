// Package secret keeps a person's secrets: values that are used under their names, and
// that capabilities never see. Each is a file that nobody but its owner can read.
package secret

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/regular"
)

const (
	// MaxValue is the most bytes that a secret has; it has at least one.
	MaxValue = 64 << 10
	// maxSecrets bounds what Values reads.
	maxSecrets = 256
)

// Store keeps secrets in a folder. Its zero value has none and keeps none.
type Store struct {
	dir string
}

// Open returns the store in a folder, ~/.air/secrets, which Set creates.
func Open(dir string) *Store { return &Store{dir: dir} }

// Info describes a secret, but for its value.
type Info struct {
	Name    string    `json:"name"`
	Changed time.Time `json:"changed_at"`
	// Problem is why the secret is not used, "" when it is.
	Problem string `json:"problem,omitempty"`
}

var nameForm = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// CheckName refuses what is no name of a secret.
func CheckName(name string) error {
	if nameForm.MatchString(name) {
		return nil
	}
	return fault.New(fault.InvalidInput, "bad_name", "%.80q is no name of a secret", name).
		WithHint("1 to 64 lower-case letters, digits, - and _ are wanted, a letter or digit first")
}

// Set stores a secret, in place of the one that has its name.
func (s *Store) Set(ctx context.Context, name, value string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if len(value) == 0 || len(value) > MaxValue {
		return fault.New(fault.InvalidInput, "bad_secret", "the value of %s has %d bytes: 1 to %d are wanted", name, len(value), MaxValue)
	}
	if s.dir == "" {
		return fault.New(fault.Unavailable, "no_secrets", "there is no folder for secrets")
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fault.IO("making the folder of secrets", err)
	}
	if err := private(s.dir, true); err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.room(name); err != nil {
		return err
	}
	return fault.IO("storing the secret "+name, atomicfile.Write(s.path(name), []byte(value), 0o600))
}

// lock keeps other writers out, and removes the values that those left behind that were
// killed.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = home.Lock(ctx, filepath.Join(s.dir, ".lock"))
	if err != nil {
		return nil, err
	}
	if err := atomicfile.RemoveStale(s.dir, 0); err != nil {
		unlock()
		return nil, fault.IO("removing what is left of secrets", err)
	}
	return unlock, nil
}

// room refuses one secret too many.
func (s *Store) room(name string) error {
	have, err := s.List()
	if err != nil {
		return err
	}
	for _, i := range have {
		if i.Name == name {
			return nil
		}
	}
	if len(have) >= maxSecrets {
		return fault.New(fault.ResourceExhausted, "too_many_secrets", "there are %d secrets, the limit", len(have)).WithHint("air secret rm NAME removes one")
	}
	return nil
}

// List describes the secrets, sorted by name.
func (s *Store) List() ([]Info, error) {
	entries, err := os.ReadDir(s.dir)
	if s.dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.IO("listing secrets", err)
	}
	var all []Info
	for _, e := range entries { // sorted by name
		if !e.Type().IsRegular() || !nameForm.MatchString(e.Name()) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return nil, fault.IO("listing secrets", err)
		}
		found := Info{Name: e.Name(), Changed: info.ModTime().UTC().Truncate(time.Second)}
		if err := s.usable(e.Name()); err != nil {
			found.Problem = err.Error()
		}
		all = append(all, found)
	}
	return all, nil
}

// Names lists the names of the secrets, sorted.
func (s *Store) Names() ([]string, error) {
	all, err := s.List()
	var names []string
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names, err
}

// Value returns a secret. One that others can read, or could change, is refused: it is
// none.
func (s *Store) Value(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if s.dir == "" {
		return "", unknown(name)
	}
	err := s.usable(name)
	if err == nil {
		var value string
		if value, err = s.read(name); err == nil {
			return value, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", unknown(name)
	}
	return "", fault.IO("reading the secret "+name, err)
}

// usable refuses a secret that is missing or not private.
func (s *Store) usable(name string) error {
	if err := private(s.dir, true); err != nil {
		return err
	}
	return private(s.path(name), false)
}

// Values returns the values of all secrets, in no order, for what keeps them out of
// logs. Those that others can read too are among them: they must be kept out as well.
func (s *Store) Values() ([]string, error) {
	names, err := s.Names()
	if err != nil {
		return nil, err
	}
	if len(names) > maxSecrets {
		return nil, fault.New(fault.ResourceExhausted, "too_many_secrets", "%s has %d secrets, the limit is %d", s.dir, len(names), maxSecrets)
	}
	var values []string
	for _, name := range names {
		value, err := s.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return nil, fault.IO("reading the secret "+name, err)
		}
		if value != "" {
			values = append(values, value)
		}
	}
	return values, nil
}

// Remove forgets a secret.
func (s *Store) Remove(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(s.dir); s.dir == "" || errors.Is(err, fs.ErrNotExist) {
		return unknown(name)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	err = os.Remove(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return unknown(name)
	}
	if err != nil {
		return fault.IO("removing the secret "+name, err)
	}
	return fault.IO("removing the secret "+name, atomicfile.SyncDir(s.dir))
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

func (s *Store) read(name string) (string, error) {
	value, err := regular.Read(s.path(name), MaxValue, false)
	return string(value), err
}

// private refuses a folder or file that somebody else can reach, and a link in its place.
func private(path string, folder bool) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fault.IO("reading secrets", err)
	}
	mode, want := info.Mode(), "0600"
	kind := mode.IsRegular()
	if folder {
		kind, want = mode.IsDir(), "0700"
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !kind:
		return fault.New(fault.Integrity, "secrets_not_private", "%s is not what air made there: %s", path, mode.Type()).WithHint("move it away, and set the secrets again")
	case !ok || int64(stat.Uid) != int64(os.Geteuid()):
		return fault.New(fault.Integrity, "secrets_not_private", "%s belongs to another user", path).WithHint("secrets are used only where they are the user's own")
	case mode.Perm()&0o077 != 0:
		return fault.New(fault.Integrity, "secrets_not_private", "%s has mode %04o: others can reach what is there", path, mode.Perm()).
			WithHint("chmod %s %s, and think of the secrets there as known", want, path)
	}
	return nil
}

func unknown(name string) error {
	return fault.New(fault.NotFound, "unknown_secret", "no secret %s", name).WithHint("air secret set %s stores one", name)
}
