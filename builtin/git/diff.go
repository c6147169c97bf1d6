package git

import (
	"bytes"
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/artifact"
	"github.com/aircoding/air/runtime/permission"
)

type diffInput struct {
	Cwd       string   `json:"cwd"`
	BaseRef   string   `json:"base_ref"`
	Pathspecs []string `json:"pathspecs"`
	Staged    bool     `json:"staged"`
}

type diffOutput struct {
	Diff       string `json:"diff"`
	ArtifactID string `json:"diff_artifact_id,omitempty"`
	Truncated  bool   `json:"truncated"`
}

// inlineDiff is how much of a diff the answer holds, in bytes.
const inlineDiff = 256 << 10

func diffEffects(in diffInput) ([]permission.Effect, error) {
	for _, p := range in.Pathspecs {
		if strings.HasPrefix(p, ":") || strings.ContainsRune(p, 0) || p == "" {
			return nil, fault.New(fault.InvalidInput, "bad_pathspec", "the pathspec %.200q: one without a colon in front is wanted", p).
				WithHint("write ./ in front of a name that begins with a colon; other forms of git's pathspecs are not for here")
		}
	}
	return []permission.Effect{reads(in.Cwd)}, nil
}

func diff(ctx context.Context, access *runtime.Access, in diffInput) (any, error) {
	r, err := open(ctx, access, access.Commands, in.Cwd)
	if err != nil {
		return nil, err
	}
	base, err := r.base(ctx, in.BaseRef)
	if err != nil {
		return nil, err
	}
	c := comparison{from: base, staged: in.Staged, pathspecs: in.Pathspecs}
	whole, err := r.compare(ctx, c)
	if err != nil {
		return nil, err
	}
	return r.diffOutput(ctx, whole)
}

// base is what to compare with: for "" the commit that is checked out, and nothing where
// there is none yet.
func (r *repo) base(ctx context.Context, named string) (string, error) {
	if named != "" {
		return r.resolve(ctx, named)
	}
	id, err := r.resolve(ctx, "HEAD")
	if fault.Is(err, fault.NotFound) {
		return r.emptyTree(ctx)
	}
	return id, err
}

// emptyTree is the id of a tree without entries.
func (r *repo) emptyTree(ctx context.Context) (string, error) {
	out, err := r.must(ctx, call{args: []string{"hash-object", "-t", "tree", "--stdin"}})
	return strings.TrimSpace(string(out)), err
}

// diffOutput is a diff as the answer has it, cut at a line where it is long, and then
// whole as an artifact. Bytes that are not UTF-8 are replaced in the answer alone.
func (r *repo) diffOutput(ctx context.Context, whole []byte) (diffOutput, error) {
	head := whole
	if len(head) > inlineDiff {
		head = head[:bytes.LastIndexByte(head[:inlineDiff], '\n')+1]
	}
	out := diffOutput{Diff: strings.ToValidUTF8(string(head), "\uFFFD"), Truncated: len(head) < len(whole)}
	if !out.Truncated && utf8.Valid(whole) {
		return out, nil
	}
	id, err := r.keep(ctx, "diff", "changes.diff", "text/x-diff", bytes.NewReader(whole))
	out.ArtifactID = id
	return out, err
}

func (r *repo) keep(ctx context.Context, kind, name, mediaType string, content io.Reader) (string, error) {
	record, err := r.access.Artifacts.Keep(ctx, artifact.New{Type: kind, Name: name, MediaType: mediaType}, content)
	return record.ID, err
}
