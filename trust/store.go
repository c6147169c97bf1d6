package trust

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/regular"
)

const maxPublishers = 1000

// Store is the person's trust store: a folder with a file for each publisher. Several
// processes may use one.
type Store struct{ dir string }

// OpenStore names the folder, ~/.air/trust. Nothing is read or made yet.
func OpenStore(dir string) *Store { return &Store{dir: dir} }

// Add trusts a publisher. KeyID may be empty, no AddedAt means now. A name or a key that is
// there already is refused: codes publisher_exists and key_known.
func (s *Store) Add(ctx context.Context, p Publisher) error {
	if p.AddedAt.IsZero() {
		p.AddedAt = time.Now()
	}
	p, err := p.check()
	if err != nil {
		return err
	}
	content, err := p.marshal()
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	have, err := s.List()
	if err != nil {
		return err
	}
	if err := clash(have, p); err != nil {
		return err
	}
	return fault.IO("trusting "+p.Name, atomicfile.Write(s.file(p.Name), content, 0o600))
}

// List returns the publishers by name. A file that is not as Add left it makes it fail,
// kind integrity, code bad_trust_store: whom the person trusts is then not known.
func (s *Store) List() ([]Publisher, error) {
	entries, err := os.ReadDir(s.dir) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.IO("reading the trust store", err)
	}
	var all []Publisher
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") { // the lock, and what is being written
			continue
		}
		p, err := s.read(name)
		if err == nil {
			err = clash(all, p)
		}
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, damaged(s.file(name), err)
		}
		all = append(all, p)
	}
	return all, nil
}

// Remove trusts a publisher no more and returns what was known of them: of a damaged file
// only the name. Code unknown_publisher.
func (s *Store) Remove(ctx context.Context, name string) (Publisher, error) {
	if !nameForm.MatchString(name) {
		return Publisher{}, unknownPublisher(name)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return Publisher{}, err
	}
	defer unlock()
	p, err := s.read(name)
	if err != nil {
		p = Publisher{Name: name}
	}
	err = os.Remove(s.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Publisher{}, unknownPublisher(name)
	}
	if err == nil {
		err = atomicfile.SyncDir(s.dir)
	}
	return p, fault.IO("removing "+name+" from the trust store", err)
}

func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = home.Lock(ctx, filepath.Join(s.dir, ".lock"))
	return unlock, fault.IO("opening the trust store", err)
}

func (s *Store) file(name string) string { return filepath.Join(s.dir, name+".json") }

func (s *Store) read(name string) (Publisher, error) {
	content, err := regular.Read(s.file(name), maxPublisherBytes, false)
	if err != nil {
		return Publisher{}, err
	}
	p, err := readPublisher(content)
	if err == nil && p.Name != name {
		err = badPublisher("it is about %q: the file's name must be the same", p.Name)
	}
	return p, err
}

// clash refuses a second publisher of a name or a key, which would blur whose signature
// it is, and more than there may be.
func clash(have []Publisher, p Publisher) error {
	if len(have) >= maxPublishers {
		return fault.New(fault.ResourceExhausted, "too_many_publishers", "the trust store has %d publishers, the limit is %d", len(have), maxPublishers)
	}
	for _, h := range have {
		switch {
		case h.Name == p.Name:
			return fault.New(fault.Conflict, "publisher_exists", "there is a publisher %s already, with the key %s", h.Name, h.KeyID).
				WithHint("air trust rm %s first, or choose another name", h.Name)
		case h.KeyID == p.KeyID:
			return fault.New(fault.Conflict, "key_known", "the key %s is that of %s already", h.KeyID, h.Name).
				WithHint("air trust rm %s first", h.Name)
		}
	}
	return nil
}

func damaged(file string, err error) error {
	return fault.New(fault.Integrity, "bad_trust_store", "%s: %w", file, err).
		WithHint("remove the file and trust the publisher anew with air trust add")
}

func unknownPublisher(name string) error {
	return fault.New(fault.NotFound, "unknown_publisher", "no publisher %.100q in the trust store", name).WithHint("air trust ls shows them")
}
