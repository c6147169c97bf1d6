package main

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/redact"
	"github.com/aircoding/air/runtime/secret"
)

// redactor keeps the person's secrets out of events. It reads them when the first event
// comes, and again once one was set or removed, by whichever process.
func redactor(h home.Home) func() (*redact.Redactor, error) {
	dir := h.Path("secrets")
	var mu sync.Mutex
	var known *redact.Redactor
	var as time.Time // the folder's time when they were read
	return func() (*redact.Redactor, error) {
		mu.Lock()
		defer mu.Unlock()
		changed, err := changedAt(dir)
		if err != nil {
			return nil, err
		}
		if known != nil && changed.Equal(as) {
			return known, nil
		}
		values, err := secret.Open(dir).Values()
		if err != nil {
			return nil, err
		}
		r := redact.New(values)
		if time.Since(changed) > time.Second { // sooner, the folder's time may hide another change
			known, as = r, changed
		}
		return r, nil
	}
}

// changedAt is the time of the last change in a folder, the zero time where there is none.
func changedAt(dir string) (time.Time, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
