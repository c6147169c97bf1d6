package permission

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/home"
)

// Refusals adds to the number of questions that a person refused in a session, and
// returns it. Adding 0 asks for it.
type Refusals func(ctx context.Context, add int) (total int, err error)

// RefusalsIn keeps the number in a file, for sessions of many processes.
func RefusalsIn(file string) Refusals {
	return func(ctx context.Context, add int) (int, error) {
		if add == 0 {
			return readCount(file)
		}
		unlock, err := home.Lock(ctx, file+".lock")
		if err != nil {
			return 0, err
		}
		defer unlock()
		total, err := readCount(file)
		if err != nil {
			return 0, err
		}
		total += add
		return total, atomicfile.Write(file, []byte(strconv.Itoa(total)+"\n"), 0o600)
	}
}

func readCount(file string) (int, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	total, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("counting refusals: %s: %w", file, err)
	}
	return total, nil
}
