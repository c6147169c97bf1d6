// Package counter counts what happens seldom, for one process or for many.
package counter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/regular"
)

// Counter adds to a number and returns it. Adding 0 asks for it.
type Counter func(ctx context.Context, add int) (total int, err error)

// InMemory counts in this process.
func InMemory() Counter {
	var total atomic.Int64
	return func(_ context.Context, add int) (int, error) { return int(total.Add(int64(add))), nil }
}

// In keeps the number in a file, for many processes.
func In(file string) Counter {
	return func(ctx context.Context, add int) (int, error) {
		if add == 0 {
			return read(file)
		}
		unlock, err := home.Lock(ctx, file+".lock")
		if err != nil {
			return 0, err
		}
		defer unlock()
		total, err := read(file)
		if err != nil {
			return 0, err
		}
		total += add
		return total, atomicfile.Write(file, []byte(strconv.Itoa(total)+"\n"), 0o600)
	}
}

// maxFile is more than any number has.
const maxFile = 64

func read(file string) (int, error) {
	text, err := regular.Read(file, maxFile, false)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("counting: %w", err)
	}
	total, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("counting in %s: %w", file, err)
	}
	return total, nil
}
