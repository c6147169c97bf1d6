package session

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/event"
)

var (
	idForm     = regexp.MustCompile(`^` + ids.Pattern + `$`)
	prefixForm = regexp.MustCompile(`^[0-9a-f-]{1,36}$`)
)

// Summary describes a session in a list.
type Summary struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started_at"`
	Current bool      `json:"current"`
}

// List returns the sessions of the project, oldest first. It opens none of them, so
// one that is damaged is listed too.
func List(p home.Project, h home.Home) ([]Summary, error) {
	pl := place{project: p, home: h}
	current, err := pl.current()
	if err != nil {
		return nil, err
	}
	all, err := pl.ids()
	list := []Summary{}
	for _, id := range all {
		list = append(list, Summary{ID: id, Started: ids.Time(id), Current: id == current})
	}
	return list, err
}

// Use makes a session the current one and returns its id. The id may be given by the
// beginning of it that no other one has.
func Use(ctx context.Context, p home.Project, h home.Home, id string) (string, error) {
	pl := place{project: p, home: h}
	if id == "" {
		return "", unknownSession(id)
	}
	found, err := pl.choose(id)
	if err != nil {
		return "", err
	}
	unlock, err := pl.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	return found, pl.setCurrent(found)
}

// choose returns the id of the session that begins with prefix, or of the current one,
// "" when there is none.
func (pl place) choose(prefix string) (string, error) {
	if prefix == "" {
		return pl.current()
	}
	if !prefixForm.MatchString(prefix) {
		return "", unknownSession(prefix)
	}
	all, err := pl.ids()
	if err != nil {
		return "", err
	}
	return one("session", prefix, all, unknownSession(prefix))
}

func unknownSession(id string) error {
	return fault.New(fault.NotFound, "unknown_session", "no session %.64q in this project", id).WithHint("air session ls lists them")
}

// one returns the only id that begins with prefix.
func one(what, prefix string, all []string, unknown error) (string, error) {
	var found []string
	for _, id := range all {
		if strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", unknown
	case 1:
		return found[0], nil
	}
	return "", fault.New(fault.InvalidInput, "ambiguous_id", "%s %q could be %d: %s or %s", what, prefix, len(found), found[0], found[1]).
		WithHint("give more of the id")
}

// ids are the sessions that have a folder, oldest first.
func (pl place) ids() ([]string, error) {
	entries, err := os.ReadDir(pl.path("sessions"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, event.Storage(err, "listing sessions")
	}
	var all []string
	for _, e := range entries { // sorted by name: a UUIDv7 begins with its time
		if e.IsDir() && idForm.MatchString(e.Name()) {
			all = append(all, e.Name())
		}
	}
	return all, nil
}

const maxState = 4 << 10

// state is what current.json holds.
type state struct {
	SchemaVersion int    `json:"schema_version"`
	SessionID     string `json:"session_id"`
}

// current returns the id of the current session, "" when there is none, also because
// its folder or the note of it was removed.
func (pl place) current() (string, error) {
	text, err := regular.Read(pl.path("state", "current.json"), maxState, false)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", event.Storage(err, "finding the current session")
	}
	var s state
	if json.Unmarshal(text, &s) != nil || !idForm.MatchString(s.SessionID) {
		return "", fault.New(fault.Integrity, "current_session", "%s does not name a session", pl.path("state", "current.json")).
			WithHint("air session new begins one; air session use ID takes one that exists")
	}
	_, err = os.Stat(pl.path("sessions", s.SessionID))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return s.SessionID, event.Storage(err, "finding the current session")
}

func (pl place) setCurrent(id string) error {
	text, err := json.Marshal(state{SchemaVersion: 1, SessionID: id})
	if err != nil {
		return err
	}
	err = atomicfile.Write(pl.path("state", "current.json"), append(text, '\n'), 0o600)
	return event.Storage(err, "making session %s the current one", id)
}
