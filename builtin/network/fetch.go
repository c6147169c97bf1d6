package network

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"strings"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/mediatype"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/artifact"
)

const (
	// maxInline is the largest body that is returned itself.
	maxInline = 256 << 10
	// normalTimeout is that of the schema.
	normalTimeout = 30_000
)

type fetchOutput struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	Body       *string           `json:"body,omitempty"`
	ArtifactID string            `json:"artifact_id,omitempty"`
	Truncated  bool              `json:"truncated"`
}

func fetch(ctx context.Context, access *runtime.Access, in fetchInput) (any, error) {
	request := runtime.Fetch{
		HTTPRequest: runtime.HTTPRequest{Method: in.method(), URL: in.URL, Headers: in.Headers},
		Secrets:     in.Secrets,
		Timeout:     time.Duration(cmp.Or(in.TimeoutMS, normalTimeout)) * time.Millisecond,
	}
	done, err := in.addBody(ctx, access, &request.HTTPRequest)
	if err != nil {
		return nil, err
	}
	defer done()
	answer, err := access.Fetch(ctx, request)
	if err != nil {
		return nil, err
	}
	return output(ctx, access, in.URL, answer)
}

// addBody gives the request its body; done closes what that needed.
func (in fetchInput) addBody(ctx context.Context, access *runtime.Access, r *runtime.HTTPRequest) (done func(), err error) {
	switch {
	case in.Body != nil:
		r.Body, r.Size = strings.NewReader(*in.Body), int64(len(*in.Body))
	case in.BodyArtifactID != "":
		record, content, err := access.Artifacts.Open(ctx, in.BodyArtifactID)
		if err != nil {
			return nil, err
		}
		r.Body, r.Size = content, record.Size
		return func() { _ = content.Close() }, nil
	}
	return func() {}, nil
}

// output returns a text of moderate size itself, and keeps all else as an artifact.
func output(ctx context.Context, access *runtime.Access, url string, answer runtime.HTTPAnswer) (fetchOutput, error) {
	out := fetchOutput{Status: answer.Status, Headers: answer.Headers, Truncated: answer.Truncated}
	if len(answer.Body) <= maxInline && !answer.Encoded && mediatype.IsText(answer.Body) && !cut(answer.Body) {
		text := string(answer.Body)
		out.Body = &text
		return out, nil
	}
	name := fileName(url)
	head := answer.Body[:min(len(answer.Body), mediatype.HeadBytes)]
	record, err := access.Artifacts.Keep(ctx, artifact.New{Type: "response", Name: name, MediaType: mediatype.Detect(name, head)}, bytes.NewReader(answer.Body))
	if err != nil {
		return out, fault.IO("keeping the answer", err)
	}
	out.ArtifactID = record.ID
	return out, nil
}

// cut reports whether a text ends within a character, which no text of JSON can.
func cut(text []byte) bool { return len(mediatype.WholeRunes(text)) < len(text) }

// fileName is the last part of a URL's path, in the characters that a name may have.
func fileName(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	_, file, _ := strings.Cut(rest, "/")
	name := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, path.Base(path.Clean("/"+file)))
	if name = strings.TrimLeft(name, "."); name != "" {
		return name[:min(len(name), 100)]
	}
	return "response"
}
