package stoppable_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/stoppable"
)

func TestReader(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := stoppable.Reader(ctx, strings.NewReader("abcd"))
	two := make([]byte, 2)
	if n, err := io.ReadFull(r, two); n != 2 || err != nil || string(two) != "ab" {
		t.Errorf("%d bytes, %q, %v", n, two, err)
	}
	enough := errors.New("enough")
	cancel(enough)
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != enough {
		t.Errorf("%q, %v after the end of the context", rest, err)
	}
}
