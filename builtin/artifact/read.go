package artifact

import (
	"context"
	"encoding/base64"
	"io"
	"unicode/utf8"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/mediatype"
	"github.com/aircoding/air/runtime"
)

// maxInline is both the default and the most that one read returns.
const maxInline = 256 << 10

type readInput struct {
	ArtifactID  string `json:"artifact_id"`
	OffsetBytes int64  `json:"offset_bytes"`
	LimitBytes  int64  `json:"limit_bytes"` // 0: the default
}

type readOutput struct {
	Content   string `json:"content"`
	Encoding  string `json:"encoding"`
	SizeBytes int64  `json:"size_bytes"`
	Truncated bool   `json:"truncated"`
}

func read(ctx context.Context, access *runtime.Access, in readInput) (any, error) {
	record, content, err := access.Artifacts.Open(ctx, in.ArtifactID)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	limit := in.LimitBytes
	if limit <= 0 || limit > maxInline {
		limit = maxInline
	}
	piece := make([]byte, max(0, min(limit, record.Size-in.OffsetBytes)))
	if _, err := content.ReadAt(piece, in.OffsetBytes); err != nil && err != io.EOF {
		return nil, fault.New(fault.Unavailable, "io", "reading artifact %s: %w", record.ID, err)
	}
	out := encode(piece, in.OffsetBytes+int64(len(piece)) < record.Size)
	out.SizeBytes = record.Size
	return out, nil
}

// encode returns a piece as text where it is text, whole characters of it. more says
// that the artifact goes on after the piece.
func encode(piece []byte, more bool) readOutput {
	text := piece
	if more {
		text = mediatype.WholeRunes(piece)
	}
	if utf8.Valid(text) && (len(text) > 0 || len(piece) == 0) {
		return readOutput{Content: string(text), Encoding: "utf8", Truncated: more || len(text) < len(piece)}
	}
	return readOutput{Content: base64.StdEncoding.EncodeToString(piece), Encoding: "base64", Truncated: more}
}
