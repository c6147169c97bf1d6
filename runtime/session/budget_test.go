package session

import (
	"database/sql"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/event"
)

func charge(t *testing.T, s *Session, account string, add, want Usage) {
	t.Helper()
	err := s.Events.Change(ctx, func(tx *sql.Tx) error {
		now, err := s.Charge(tx, account, add)
		if now != want {
			t.Errorf("%q: after %v it used %v, want %v", account, add, now, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	s := current(t, dir, Options{})
	if all, err := s.Usage(ctx); err != nil || len(all) > 0 {
		t.Errorf("a new session used %v: %v", all, err)
	}
	charge(t, s, "", Usage{1, 20, 3 * time.Second}, Usage{1, 20, 3 * time.Second})
	charge(t, s, "", Usage{BytesOut: 5}, Usage{1, 25, 3 * time.Second})
	charge(t, s, "csv", Usage{Calls: 1}, Usage{Calls: 1})
	other := current(t, dir, Options{}) // as another process
	charge(t, other, "", Usage{1, 0, time.Nanosecond}, Usage{2, 25, 3*time.Second + 1})
	want := map[string]Usage{"": {2, 25, 3*time.Second + 1}, "csv": {1, 0, 0}}
	if got, err := s.Usage(ctx); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v: %v", got, want, err)
	}
	charge(t, other, "", Usage{-1, -25, 0}, Usage{1, 0, 3*time.Second + 1})
}

// What a transaction charges is there with its event or not at all.
func TestChargeIsPartOfTheEvent(t *testing.T) {
	s := current(t, t.TempDir(), Options{})
	broken := errors.New("broken")
	_, err := s.Events.Append(ctx, event.Event{Type: event.ToolCompleted}, func(tx *sql.Tx) error {
		_, err := s.Charge(tx, "", Usage{Calls: 1})
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if all, err := s.Usage(ctx); err != nil || len(all) > 0 {
		t.Errorf("%v is counted: %v", all, err)
	}
}
