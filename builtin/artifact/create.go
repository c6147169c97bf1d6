package artifact

import (
	"context"
	"encoding/json"
	"io"
	"path"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/mediatype"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/artifact"
	"github.com/aircoding/air/runtime/permission"
)

type createInput struct {
	Type                 string          `json:"type"`
	OriginalName         string          `json:"original_name"`
	Content              *string         `json:"content"`
	SourcePath           string          `json:"source_path"`
	AssociatedEntityType string          `json:"associated_entity_type"`
	AssociatedEntityID   string          `json:"associated_entity_id"`
	Metadata             json.RawMessage `json:"metadata"`
}

type createOutput struct {
	ArtifactID string `json:"artifact_id"`
	URI        string `json:"uri"`
	Path       string `json:"path"`
	SHA256     string `json:"sha256"`
	SizeBytes  int64  `json:"size_bytes"`
}

func createEffects(in createInput) ([]permission.Effect, error) {
	if (in.Content != nil) == (in.SourcePath != "") {
		return nil, fault.New(fault.InvalidInput, "content_or_source", "artifact.create wants exactly one of content and source_path")
	}
	effects := []permission.Effect{{Kind: permission.Artifact, Target: in.Type}}
	if in.SourcePath != "" {
		effects = append(effects, permission.Effect{Kind: permission.Read, Target: in.SourcePath})
	}
	return effects, nil
}

func create(ctx context.Context, access *runtime.Access, in createInput) (any, error) {
	content, err := in.open(access)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	name := in.OriginalName
	if name == "" && in.SourcePath != "" {
		name = path.Base(in.SourcePath)
	}
	head, err := headOf(content)
	if err != nil {
		return nil, err
	}
	record, err := access.Artifacts.Create(ctx, artifact.New{
		Type:       in.Type,
		Name:       name,
		MediaType:  mediatype.Detect(name, head),
		EntityType: in.AssociatedEntityType,
		EntityID:   in.AssociatedEntityID,
		Metadata:   in.Metadata,
	}, content)
	if err != nil {
		return nil, err
	}
	where := record.Path
	if !access.Direct() { // a capability has no use for the path, and identical bytes of another one share their file
		where = record.Type + "/" + record.ID
	}
	return createOutput{ArtifactID: record.ID, URI: record.URI, Path: where, SHA256: record.SHA256, SizeBytes: record.Size}, nil
}

type source interface {
	io.ReadSeekCloser
	io.ReaderAt
}

type text struct{ *strings.Reader }

func (text) Close() error { return nil }

func (in createInput) open(access *runtime.Access) (source, error) {
	if in.Content != nil {
		return text{strings.NewReader(*in.Content)}, nil
	}
	return access.Files.Open(in.SourcePath)
}

func headOf(content io.ReaderAt) ([]byte, error) {
	head := make([]byte, mediatype.HeadBytes)
	n, err := content.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, fault.New(fault.Unavailable, "io", "reading the source: %w", err)
	}
	return head[:n], nil
}
