package fs

import (
	"context"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

type writeInput struct {
	Path                   string `json:"path"`
	Content                string `json:"content"`
	CreateParentDirs       bool   `json:"create_parent_dirs"`
	ExpectedExistingSHA256 string `json:"expected_existing_sha256"`
}

type writeOutput struct {
	Path             string `json:"path"`
	BytesWritten     int    `json:"bytes_written"`
	SHA256           string `json:"sha256"`
	BackupArtifactID string `json:"backup_artifact_id,omitempty"`
}

func writeEffects(in writeInput) ([]permission.Effect, error) {
	return []permission.Effect{{Kind: permission.Write, Target: in.Path}}, nil
}

func write(ctx context.Context, access *runtime.Access, in writeInput) (any, error) {
	written, err := access.Files.Write(ctx, in.Path, []byte(in.Content), runtime.WriteOptions{
		Parents:      in.CreateParentDirs,
		ExpectSHA256: in.ExpectedExistingSHA256,
	})
	if err != nil {
		return nil, err
	}
	out := writeOutput{Path: written.Path, BytesWritten: len(in.Content), SHA256: written.SHA256, BackupArtifactID: written.BackupArtifactID}
	return out, access.NoteRead(ctx, in.Path, written.SHA256) // who wrote a file knows it
}
