package trust

import (
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/glob"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
)

const (
	maxPatterns       = 64
	maxPublisherBytes = 512 << 10 // more than twice as many patterns of the longest kind, each letter escaped
)

var nameForm = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,63}$`)

// Publisher is somebody whose key the person trusts, for what Capabilities and References
// say. Both are globs, of capability ids and of HOST[:PORT]/REPOSITORY. No References
// means from anywhere; of some only ** lets through what came from no registry.
type Publisher struct {
	Name         string    `json:"name"` // as the person calls them
	KeyID        string    `json:"key_id"`
	PublicKey    string    `json:"public_key"` // PEM
	Capabilities []string  `json:"capabilities"`
	References   []string  `json:"references"`
	AddedAt      time.Time `json:"added_at"`
}

// check returns the publisher as it is kept, or refuses it: code bad_publisher or bad_key.
func (p Publisher) check() (Publisher, error) {
	if !nameForm.MatchString(p.Name) {
		return p, badPublisher("publisher %.100q: a name is a-z, 0-9 and -, at most 64 of them", p.Name)
	}
	key, err := ReadPublicKey([]byte(p.PublicKey))
	if err != nil {
		return p, err
	}
	if p.KeyID != "" && p.KeyID != key.ID() {
		return p, badPublisher("publisher %s: the key's id is %s, not %.100q", p.Name, key.ID(), p.KeyID)
	}
	if len(p.Capabilities) == 0 {
		return p, badPublisher("publisher %s: nothing says which capabilities they may sign", p.Name).
			WithHint("name their ids, with * for many")
	}
	for _, patterns := range [][]string{p.Capabilities, p.References} {
		if err := checkPatterns(patterns); err != nil {
			return p, badPublisher("publisher %s: %w", p.Name, err)
		}
	}
	for _, pattern := range p.References {
		if err := checkPlaces(pattern); err != nil {
			return p, err
		}
	}
	p.KeyID, p.PublicKey = key.ID(), string(key.PEM())
	p.Capabilities = append([]string{}, p.Capabilities...)
	p.References = append([]string{}, p.References...) // not null in the file
	p.AddedAt = p.AddedAt.UTC().Truncate(time.Second)
	return p, nil
}

// stored is a publisher as the store has it.
type stored struct {
	SchemaVersion int `json:"schema_version"`
	Publisher
}

func (p Publisher) marshal() ([]byte, error) { return plainjson.Lines(stored{1, p}) }

// readPublisher reads what marshal wrote, and nothing else: null references, which would
// mean from anywhere, are a mistake too.
func readPublisher(content []byte) (Publisher, error) {
	var p stored
	if err := document(content, maxPublisherBytes, &p); err != nil {
		return Publisher{}, err
	}
	if p.SchemaVersion != 1 || p.KeyID == "" {
		return Publisher{}, badPublisher("schema_version 1 and a key_id are wanted")
	}
	return p.check()
}

func checkPatterns(patterns []string) error {
	if len(patterns) > maxPatterns {
		return badPublisher("more than %d patterns", maxPatterns)
	}
	for _, pattern := range patterns {
		if _, err := glob.Compile(pattern); err != nil {
			return err
		}
		if pattern == "" || strings.Contains(pattern, " ") || text.Escape(pattern) != pattern {
			return badPublisher("pattern %.80q: it is empty or has blanks", pattern)
		}
	}
	return nil
}

// checkPlaces refuses a pattern of references that nothing could match.
func checkPlaces(pattern string) error {
	host, repository, ok := strings.Cut(pattern, "/")
	if pattern != "**" && (!ok || host == "" || strings.Contains(pattern, "://") || strings.ContainsAny(repository, ":@")) {
		return badPublisher("reference %.200q: HOST[:PORT]/REPOSITORY is wanted, without a scheme, a tag or a digest", pattern).
			WithHint("such as registry.example/acme/**; ** is everything")
	}
	return nil
}

// matches reports whether one of the patterns matches a name. The empty name, of what came
// from no registry, is matched by ** alone.
func matches(patterns []string, name string) bool {
	if name == "" {
		return slices.Contains(patterns, "**")
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		g, err := glob.Compile(pattern)
		return err == nil && g.Match(name)
	})
}

// place is a reference without its tag and digest.
func place(reference string) string {
	name, _, _ := strings.Cut(reference, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name = name[:colon]
	}
	return name
}

func badPublisher(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, "bad_publisher", format, args...)
}
