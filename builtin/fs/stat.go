package fs

import (
	"context"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

type statInput struct {
	Path string `json:"path"`
}

type statOutput struct {
	Path       string `json:"path"`
	RealPath   string `json:"realpath,omitempty"`
	Exists     bool   `json:"exists"`
	Type       string `json:"type,omitempty"`
	SizeBytes  *int64 `json:"size_bytes,omitempty"`
	ModifiedAt string `json:"modified_at,omitempty"`
}

func statEffects(in statInput) ([]permission.Effect, error) { return readOf(in.Path), nil }

func stat(_ context.Context, access *runtime.Access, in statInput) (any, error) {
	info, err := access.Files.Stat(in.Path)
	if err != nil {
		return nil, err
	}
	out := statOutput{Path: info.Path, Exists: info.Exists}
	if info.Exists {
		out.RealPath, out.Type, out.SizeBytes, out.ModifiedAt = info.RealPath, info.Type, &info.Size, timestamp(info.Modified)
	}
	return out, nil
}
