package trust

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
)

func newStore(t *testing.T) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "trust")
	return OpenStore(dir), dir
}

func add(t *testing.T, s *Store, p Publisher) {
	t.Helper()
	if err := s.Add(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, s *Store) []Publisher {
	t.Helper()
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestStore(t *testing.T) {
	s, dir := newStore(t)
	if all := list(t, s); len(all) != 0 {
		t.Errorf("a new store has %v", all)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("listing made the folder: %v", err)
	}
	acme := publisher("acme", newKey(t, "").Public())
	acme.References = []string{"registry.example/acme/*"}
	zeta := publisher("zeta", newKey(t, Ed25519).Public())
	add(t, s, zeta)
	add(t, s, acme)
	all := list(t, s)
	if len(all) != 2 || fmt.Sprint(all[0]) != fmt.Sprint(acme) || all[1].Name != "zeta" || len(all[1].References) != 0 {
		t.Errorf("got  %+v\nwant %+v", all, acme)
	}
	info, err := os.Stat(filepath.Join(dir, "acme.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	gone, err := s.Remove(t.Context(), "acme")
	if err != nil || gone.KeyID != acme.KeyID || len(list(t, s)) != 1 {
		t.Errorf("got %+v, %v", gone, err)
	}
	_, err = s.Remove(t.Context(), "acme")
	wantCode(t, err, fault.NotFound, "unknown_publisher")
}

func TestStoreFile(t *testing.T) {
	s, dir := newStore(t)
	k, err := ReadPublicKey(cosignFile(t, "p256.pub"))
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, Publisher{Name: "acme", PublicKey: string(k.PEM()), Capabilities: []string{"acme-*"}, AddedAt: time.Date(2026, 5, 27, 12, 0, 0, 999, time.FixedZone("", 3600))})
	got, err := os.ReadFile(filepath.Join(dir, "acme.json"))
	want := `{
  "schema_version": 1,
  "name": "acme",
  "key_id": "sha256:6479ba4389301fd02d6d53b040bc282996529f491703a72da7473feb53ec1745",
  "public_key": "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDzB9+XQAva914qOMOtpAQt/fRF7P\nLoqrFg8fBFiFZjPPheMAHuSdzCfaubApyljgqm65xTnzIuTkmRldxiweYg==\n-----END PUBLIC KEY-----\n",
  "capabilities": [
    "acme-*"
  ],
  "references": [],
  "added_at": "2026-05-27T11:00:00Z"
}
`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAddRefuses(t *testing.T) {
	s, _ := newStore(t)
	acme := publisher("acme", newKey(t, "").Public())
	add(t, s, acme)
	other := newKey(t, "").Public()
	for _, c := range []struct {
		change func(*Publisher)
		kind   fault.Kind
		code   string
	}{
		{func(p *Publisher) { p.Name = "acme" }, fault.Conflict, "publisher_exists"},
		{func(p *Publisher) { p.KeyID, p.PublicKey = acme.KeyID, acme.PublicKey }, fault.Conflict, "key_known"},
		{func(p *Publisher) { p.Name = "" }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.Name = "../x" }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.Name = "Acme" }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.Name = "a\n" }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.Name = strings.Repeat("a", 65) }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.KeyID = acme.KeyID }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.PublicKey = "" }, fault.InvalidInput, "bad_key"},
		{func(p *Publisher) { p.Capabilities = nil }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.Capabilities = []string{""} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.Capabilities = []string{"["} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = []string{"a b"} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = []string{"\x1b[2J"} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = make([]string, 65) }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = []string{"acme"} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = []string{"*"} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = []string{"/acme/csv"} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = []string{"oci://registry.example/acme/csv"} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = []string{"registry.example/acme/csv:1.0.0"} }, fault.InvalidInput, "bad_publisher"},
		{func(p *Publisher) { p.References = []string{"**", "registry.example/acme/csv@" + digestA} }, fault.InvalidInput, "bad_publisher"},
	} {
		p := publisher("other", other)
		c.change(&p)
		wantCode(t, s.Add(t.Context(), p), c.kind, c.code)
	}
	if all := list(t, s); len(all) != 1 {
		t.Errorf("the store has %v", all)
	}
}

// Places of references are taken, with a port and with globs, as many and as long as may be:
// what Add takes List reads.
func TestPlacesOfReferences(t *testing.T) {
	s, _ := newStore(t)
	p := publisher("acme", newKey(t, "").Public())
	p.References = []string{"**", "*/**", "registry.example:5000/acme/csv", "registry.example/acme/{csv,tsv}", "**/csv"}
	for len(p.References) < maxPatterns {
		p.References = append(p.References, "r/"+strings.Repeat(`"`, 1022))
	}
	for len(p.Capabilities) < maxPatterns {
		p.Capabilities = append(p.Capabilities, strings.Repeat(`"`, 1024))
	}
	add(t, s, p)
	if all := list(t, s); len(all) != 1 || len(all[0].References) != 64 || len(all[0].Capabilities) != 64 {
		t.Errorf("got %d", len(all))
	}
}

// Whom the person trusts is unknown when a file is not as it was written, and then nobody is.
func TestDamagedStore(t *testing.T) {
	s, dir := newStore(t)
	acme := publisher("acme", newKey(t, "").Public())
	add(t, s, acme)
	file := filepath.Join(dir, "acme.json")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := newKey(t, "").Public()
	for _, c := range [][2]string{
		{`"name"`, `"Name"`},
		{`"name": "acme"`, `"name": "other"`},
		{`"name"`, `"x": 1, "name"`},
		{`"name"`, `"name": "other", "name"`},
		{`"schema_version": 1`, `"schema_version": 2`},
		{`"references": []`, `"references": null`},
		{`"capabilities": [`, `"capabilities": [1,`},
		{acme.KeyID, other.ID()},
		{acme.KeyID, ""},
		{string(jsonText(t, acme.PublicKey)), string(jsonText(t, string(other.PEM())))},
		{"}\n", "} {}"},
		{string(good), ""},
	} {
		text := strings.Replace(string(good), c[0], c[1], 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.List()
		if wantCode(t, err, fault.Integrity, "bad_trust_store"); text == string(good) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", c[0], err)
		}
		wantCode(t, s.Add(t.Context(), publisher("other", other)), fault.Integrity, "bad_trust_store")
	}
	if p, err := s.Remove(t.Context(), "acme"); err != nil || p.Name != "acme" {
		t.Errorf("a damaged file cannot be removed: %v, %v", p, err)
	}
	if all := list(t, s); len(all) != 0 {
		t.Errorf("the store has %v", all)
	}
}

func jsonText(t *testing.T, s string) []byte {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStoreWithStrangeFiles(t *testing.T) {
	s, dir := newStore(t)
	acme := publisher("acme", newKey(t, "").Public())
	add(t, s, acme)
	good, err := os.ReadFile(filepath.Join(dir, "acme.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tmp-1", ".tmp-2.json", "README"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if all := list(t, s); len(all) != 1 {
		t.Errorf("the store has %v", all)
	}
	twice := strings.Replace(string(good), `"acme"`, `"again"`, 1) // one key under two names
	if err := os.WriteFile(filepath.Join(dir, "again.json"), []byte(twice), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.List()
	wantCode(t, err, fault.Integrity, "bad_trust_store")
	if err := os.Remove(filepath.Join(dir, "again.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("acme.json", filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	_, err = s.List()
	wantCode(t, err, fault.Integrity, "bad_trust_store")
}

func TestRemoveStaysInTheStore(t *testing.T) {
	s, dir := newStore(t)
	outside := filepath.Join(filepath.Dir(dir), "x.json")
	if err := os.WriteFile(outside, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../x", "", ".", "a/b", ".lock"} {
		_, err := s.Remove(t.Context(), name)
		wantCode(t, err, fault.NotFound, "unknown_publisher")
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// Of many who add the same key at once, one does.
func TestAddAtOnce(t *testing.T) {
	_, dir := newStore(t)
	key := newKey(t, "").Public()
	var added sync.Map
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			name := fmt.Sprintf("p%d", i)
			if err := OpenStore(dir).Add(t.Context(), publisher(name, key)); err == nil {
				added.Store(name, true)
			} else {
				wantCode(t, err, fault.Conflict, "key_known")
			}
		})
	}
	group.Wait()
	all := list(t, OpenStore(dir))
	if len(all) != 1 {
		t.Fatalf("the store has %v", all)
	}
	if _, ok := added.Load(all[0].Name); !ok {
		t.Errorf("%s is there and was not added", all[0].Name)
	}
}
