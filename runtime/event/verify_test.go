package event

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/sqlite"
)

// tampered is a closed store of six events in a folder.
type tampered struct {
	t   *testing.T
	dir string
	ids []string
}

func newTampered(t *testing.T) tampered {
	x := tampered{t: t, dir: t.TempDir()}
	s := open(t, x.dir, Options{})
	for i := range 6 {
		x.ids = append(x.ids, mustAppend(t, s, started(i)).ID)
	}
	x.check(s.Close())
	return x
}

func (x tampered) check(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x tampered) db() string { return filepath.Join(x.dir, "session", "session.db") }

func (x tampered) head() string {
	x.t.Helper()
	heads, err := filepath.Glob(filepath.Join(x.dir, "keys", "heads", "*"))
	if err != nil || len(heads) != 1 {
		x.t.Fatal(heads, err)
	}
	return heads[0]
}

// sql changes the database as somebody without the key would.
func (x tampered) sql(statements ...string) {
	x.t.Helper()
	db, err := sqlite.Open(x.db(), "")
	x.check(err)
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			x.t.Fatalf("%s: %v", text, err)
		}
	}
	x.check(db.Close())
}

func (x tampered) read(path string) []byte {
	x.t.Helper()
	data, err := os.ReadFile(path)
	x.check(err)
	return data
}

func (x tampered) write(path string, data []byte) {
	x.t.Helper()
	x.check(os.WriteFile(path, data, 0o600))
}

// problems reopens the store and verifies it.
func (x tampered) problems() []string {
	x.t.Helper()
	s := open(x.t, x.dir, Options{})
	defer s.Close()
	r, err := s.Verify(ctx)
	x.check(err)
	return r.Problems
}

func (x tampered) append(n int) {
	x.t.Helper()
	s := open(x.t, x.dir, Options{})
	mustAppend(x.t, s, started(n))
	x.check(s.Close())
}

func TestVerifyWhole(t *testing.T) {
	x := newTampered(t)
	if p := x.problems(); p == nil || len(p) > 0 {
		t.Errorf("%#v", p)
	}
}

// Each kind of tampering is named, and an event that is recorded afterwards does not
// wipe out its traces. {3} stands for the quoted id of event 3.
func TestVerifyTampering(t *testing.T) {
	cut := "at the end: cut off, or lost when the power failed"
	for name, c := range map[string]struct {
		tamper func(tampered)
		want   []string
		later  []string // after one more event; nil when as before
	}{
		"changed payload": {
			tamper: func(x tampered) { x.sql(`UPDATE events SET body = replace(body, '"n":2', '"n":9') WHERE seq = 3`) },
			want:   []string{`event 3 ({3}) was changed or added`},
		},
		"changed last payload": {
			tamper: func(x tampered) { x.sql(`UPDATE events SET body = replace(body, '"n":5', '"n":9') WHERE seq = 6`) },
			want:   []string{`event 6 ({6}) was changed or added`},
		},
		"changed MAC": {
			tamper: func(x tampered) { x.sql(`UPDATE events SET mac = zeroblob(32) WHERE seq = 3`) },
			want:   []string{`event 3 ({3}) was changed or added`},
		},
		"changed column": {
			tamper: func(x tampered) { x.sql(`UPDATE events SET type = 'tool.completed' WHERE seq = 3`) },
			want:   []string{`event 3 ({3}): the columns to find it by were changed`},
		},
		"changed run column": {
			tamper: func(x tampered) { x.sql(`UPDATE events SET run_id = '' WHERE seq = 3`) },
			want:   []string{`event 3 ({3}): the columns to find it by were changed`},
		},
		"deleted middle row": {
			tamper: func(x tampered) { x.sql(`DELETE FROM events WHERE seq = 3`) },
			want:   []string{`event 3 is missing before event 4`},
		},
		"deleted middle rows": {
			tamper: func(x tampered) { x.sql(`DELETE FROM events WHERE seq IN (3, 4)`) },
			want:   []string{`events 3 to 4 are missing before event 5`},
		},
		"deleted first row": {
			tamper: func(x tampered) { x.sql(`DELETE FROM events WHERE seq = 1`) },
			want:   []string{`event 1 is missing before event 2`},
		},
		"deleted and renumbered": {
			tamper: func(x tampered) {
				x.sql(`DELETE FROM events WHERE seq = 5`, `UPDATE events SET seq = 5 WHERE seq = 6`)
			},
			want:  []string{`event 5 ({6}) was recorded as event 6: the order was changed`, `event 6 is missing ` + cut},
			later: []string{`event 5 ({6}) was recorded as event 6: the order was changed`, `event 6 is missing before event 7`},
		},
		"cut tail": {
			tamper: func(x tampered) { x.sql(`DELETE FROM events WHERE seq > 4`) },
			want:   []string{`events 5 to 6 are missing ` + cut},
			later:  []string{`events 5 to 6 are missing before event 7`},
		},
		"swapped order": {
			tamper: func(x tampered) {
				x.sql(`UPDATE events SET seq = 100 WHERE seq = 3`, `UPDATE events SET seq = 3 WHERE seq = 4`, `UPDATE events SET seq = 4 WHERE seq = 100`)
			},
			want: []string{
				`event 3 ({4}) was recorded as event 4: the order was changed`,
				`event 4 ({3}) was recorded as event 3: the order was changed`,
			},
		},
		"added row": {
			tamper: func(x tampered) {
				x.sql(`INSERT INTO events SELECT 7, 'new', type, run_id, replace(body, id, 'new'), mac, previous FROM events WHERE seq = 6`)
			},
			want: []string{`event 7 ("new") was changed or added`},
		},
		"copied row": {
			tamper: func(x tampered) {
				x.sql(`INSERT INTO events SELECT 7, 'new', type, run_id, body, previous, mac FROM events WHERE seq = 6`)
			},
			want: []string{`event 7 ("new") was recorded as event 6: the order was changed`},
		},
		"row before the first": {
			tamper: func(x tampered) {
				x.sql(`INSERT INTO events SELECT -3, 'new', type, run_id, body, previous, mac FROM events WHERE seq = 6`)
			},
			want: []string{`event -3 ("new") was added before the first`},
		},
		"deleted head": {
			tamper: func(x tampered) { x.check(os.Remove(x.head())) },
			want:   []string{`the head of the chain was removed or overwritten: events after event 6 may be missing`},
			later:  []string{`the chain begins anew at event 7: its head had been removed or replaced before`},
		},
		"emptied head": {
			tamper: func(x tampered) { x.check(os.Truncate(x.head(), 0)) },
			want:   []string{`the head of the chain was removed or overwritten: events after event 6 may be missing`},
			later:  []string{`the chain begins anew at event 7: its head had been removed or replaced before`},
		},
		"head with another number": {
			tamper: func(x tampered) {
				head := x.read(x.head())
				head[7], head[slotGap+7] = 4, 3
				x.write(x.head(), head)
				x.sql(`DELETE FROM events WHERE seq > 4`)
			},
			want:  []string{`the head of the chain was removed or overwritten: events after event 4 may be missing`},
			later: []string{`the chain begins anew at event 5: its head had been removed or replaced before`},
		},
		"another store's head": {
			tamper: func(x tampered) {
				otherStore(x, 6)
				heads, err := filepath.Glob(filepath.Join(x.dir, "keys", "other heads", "*"))
				x.check(err)
				x.write(x.head(), x.read(heads[0]))
			},
			want:  []string{`the head of the chain was removed or overwritten: events after event 6 may be missing`},
			later: []string{`the chain begins anew at event 7: its head had been removed or replaced before`},
		},
		"deleted head and cut tail": {
			tamper: func(x tampered) { x.check(os.Remove(x.head())); x.sql(`DELETE FROM events WHERE seq > 1`) },
			want:   []string{`the head of the chain was removed or overwritten: events after event 1 may be missing`},
			later:  []string{`the chain begins anew at event 2: its head had been removed or replaced before`},
		},
		"emptied database": {
			tamper: func(x tampered) { x.sql(`DELETE FROM events`) },
			want:   []string{`events 1 to 6 are missing ` + cut},
			later:  []string{`events 1 to 6 are missing before event 7`},
		},
		"removed database": {
			tamper: func(x tampered) { x.check(os.Remove(x.db())) },
			want:   []string{`events 1 to 6 are missing ` + cut},
			later:  []string{`events 1 to 6 are missing before event 7`},
		},
		"replaced by another store": {
			tamper: func(x tampered) { x.write(x.db(), otherStore(x, 6)) },
			want:   []string{`event 1 belongs to another store: the database was replaced`, `event 6 is not the one that the head names: the database was replaced`},
			later:  []string{`event 1 belongs to another store: the database was replaced`, `event 7 was recorded after another event 6 than the stored one`},
		},
		"replaced by a longer store": {
			tamper: func(x tampered) { x.write(x.db(), otherStore(x, 8)) },
			want:   []string{`event 1 belongs to another store: the database was replaced`, `event 6 is not the one that the head names: the database was replaced`},
			later:  []string{`event 1 belongs to another store: the database was replaced`, `the chain begins anew at event 9: its head had been removed or replaced before`},
		},
		"replaced by its own older copy": {
			tamper: func(x tampered) {
				old := x.read(x.db())
				x.append(6)
				x.append(7)
				x.write(x.db(), old)
			},
			want:  []string{`events 7 to 8 are missing ` + cut},
			later: []string{`events 7 to 8 are missing before event 9`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTampered(t)
			c.tamper(x)
			expect(t, x, c.want)
			x.append(9)
			if c.later == nil {
				c.later = c.want
			}
			expect(t, x, c.later)
		})
	}
}

// otherStore is the database of another store of the same person, with the same key.
func otherStore(x tampered, events int) []byte {
	x.t.Helper()
	key, err := LoadKey(filepath.Join(x.dir, "keys"))
	x.check(err)
	path := filepath.Join(x.t.TempDir(), "session.db")
	s, err := Open(path, key, Options{HeadDir: filepath.Join(x.dir, "keys", "other heads")})
	x.check(err)
	for i := range events {
		mustAppend(x.t, s, started(i))
	}
	x.check(s.Close())
	return x.read(path)
}

func expect(t *testing.T, x tampered, want []string) {
	t.Helper()
	got := x.problems()
	for i := range want {
		for n, id := range x.ids {
			want[i] = strings.ReplaceAll(want[i], "{"+strconv.Itoa(n+1)+"}", strconv.Quote(id))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// A crash between commit and head leaves the head one behind; one within the write of
// the head leaves a torn slot, which comes to the same; a power cut leaves it further
// behind.
func TestHeadBehindIsRepaired(t *testing.T) {
	for name, crash := range map[string]func(x tampered){
		"one behind": func(x tampered) {
			before := x.read(x.head())
			x.append(6)
			x.write(x.head(), before)
		},
		"some behind": func(x tampered) {
			before := x.read(x.head())
			for i := range 5 {
				x.append(i)
			}
			x.write(x.head(), before)
		},
		"torn in its even slot": func(x tampered) { x.tear(0) },
		"torn in its odd slot":  func(x tampered) { x.append(6); x.tear(slotGap) },
		"before its first write": func(x tampered) {
			x.check(os.RemoveAll(filepath.Join(x.dir, "session")))
			x.check(os.Remove(x.head()))
			open(x.t, x.dir, Options{}).Close()
			x.append(0)
			head := x.read(x.head())
			x.write(x.head(), head[:slotSize])
		},
	} {
		t.Run(name+", verified first", func(t *testing.T) {
			x := newTampered(t)
			crash(x)
			expect(t, x, nil)
			if !x.upToDate() {
				t.Error("the head was not repaired")
			}
			x.append(7)
			expect(t, x, nil)
		})
		t.Run(name+", appended first", func(t *testing.T) {
			x := newTampered(t)
			crash(x)
			x.append(7)
			expect(t, x, nil)
			if !x.upToDate() {
				t.Error("the head was not repaired")
			}
		})
	}
}

// tear leaves one slot of the head half old, half new.
func (x tampered) tear(offset int) {
	head := x.read(x.head())
	copy(head[offset:offset+slotSize/2], make([]byte, slotSize/2))
	x.write(x.head(), head)
}

func (x tampered) upToDate() bool {
	s := open(x.t, x.dir, Options{})
	defer s.Close()
	head, ok, err := s.head.read()
	x.check(err)
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	x.check(err)
	defer tx.Rollback()
	last, err := s.lastLink(ctx, tx)
	x.check(err)
	return ok && head == last
}

// A folder ~/.air that was moved as a whole verifies in its new place.
func TestVerifyAfterMove(t *testing.T) {
	x := newTampered(t)
	moved := filepath.Join(t.TempDir(), "moved")
	x.check(os.Rename(x.dir, moved))
	x.dir = moved
	x.append(6)
	expect(t, x, nil)
}

func TestVerifyWithAnotherKey(t *testing.T) {
	x := newTampered(t)
	x.write(filepath.Join(x.dir, "keys", "events.key"), []byte(strings.Repeat("k", 32)))
	p := x.problems()
	if len(p) != 7 || !strings.Contains(p[0], "event 1 ") || !strings.Contains(p[6], "head") {
		t.Errorf("got %q", p)
	}
}

func TestVerifyBoundsItsReport(t *testing.T) {
	x := newTampered(t)
	for i := range 120 {
		x.append(i)
	}
	x.sql(`UPDATE events SET body = replace(body, '"n"', '"m"')`)
	p := x.problems()
	if len(p) != maxProblems+1 || p[maxProblems] != "and 26 more" {
		t.Errorf("%d problems, the last %q", len(p), p[len(p)-1])
	}
}

// A verification that fails gives back the one connection.
func TestVerifyFailsAndLetsGo(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	mustAppend(t, s, started(1))
	if _, err := s.DB().Exec(`ALTER TABLE events RENAME TO gone`); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for range 2 {
		if _, err := s.Verify(short); err == nil || short.Err() != nil {
			t.Fatalf("verifying without events: %v", err)
		}
	}
}
