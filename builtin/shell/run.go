package shell

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/diagnostics"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime"
)

// normalTimeoutMS is the default that the schema tells.
const normalTimeoutMS = 120_000

// run runs the command. With an error that ended it midway comes what it wrote before.
func (at Place) run(ctx context.Context, access *runtime.Access, in runInput) (any, error) {
	dir, err := at.dir(in.Cwd)
	if err != nil {
		return nil, err
	}
	var found *diagnostics.Parser
	if in.Purpose == "build" || in.Purpose == "test" {
		found = diagnostics.New(at.Root, dir)
	}
	kept := newCapture(ctx, access, found)
	ended, err := access.Commands.Shell(ctx, runtime.Shell{
		Text: in.Command, Dir: in.Cwd, Env: in.Env, Stdin: strings.NewReader(in.Stdin),
		Stdout: &kept.stdout, Stderr: &kept.stderr,
		Timeout: time.Duration(cmp.Or(in.TimeoutMS, normalTimeoutMS)) * time.Millisecond,
	})
	if !ended.Ran() {
		return nil, err
	}
	err = errors.Join(err, kept.close(in.wantsAll()))
	out := in.output(ended, kept)
	if found != nil {
		report := found.Report()
		out.Diagnostics = &report
		err = errors.Join(err, tell(ctx, access, ended.ID, report))
	}
	return out, err
}

type runOutput struct {
	CommandRunID       string              `json:"command_run_id"`
	ExitCode           int                 `json:"exit_code"`
	DurationMS         int64               `json:"duration_ms"`
	StdoutPreview      string              `json:"stdout_preview,omitempty"`
	StderrPreview      string              `json:"stderr_preview,omitempty"`
	StdoutArtifactID   string              `json:"stdout_artifact_id,omitempty"`
	StderrArtifactID   string              `json:"stderr_artifact_id,omitempty"`
	CombinedArtifactID string              `json:"combined_artifact_id,omitempty"`
	Diagnostics        *diagnostics.Report `json:"parsed_diagnostics_json,omitempty"`
}

// wantsAll reports whether the output becomes artifacts though the previews show all of it:
// where the caller says so, and where it is evidence.
func (in runInput) wantsAll() bool {
	return in.CaptureMode == "artifact" || in.CaptureMode == "both" ||
		slices.Contains([]string{"build", "test", "debug", "doctor"}, in.Purpose)
}

func (in runInput) output(ended runtime.Ended, kept *capture) runOutput {
	out := runOutput{
		CommandRunID: ended.ID, ExitCode: ended.Code, DurationMS: ended.Duration.Milliseconds(),
		StdoutArtifactID: kept.stdout.spool.id(), StderrArtifactID: kept.stderr.spool.id(), CombinedArtifactID: kept.combined.id(),
	}
	if in.CaptureMode != "artifact" {
		out.StdoutPreview, _ = preview(kept.stdout.head)
		out.StderrPreview, _ = preview(kept.stderr.head)
	}
	return out
}

const (
	toldErrors  = 100
	toldMessage = 256 // bytes
)

// tell stores the first errors that were found as an event.
func tell(ctx context.Context, access *runtime.Access, commandRunID string, report diagnostics.Report) error {
	var told []diagnostics.Diagnostic
	for _, d := range report.Diagnostics {
		if d.Severity == diagnostics.Error && len(told) < toldErrors {
			d.Message = text.Cut(d.Message, toldMessage)
			told = append(told, d)
		}
	}
	if len(told) == 0 {
		return nil
	}
	return access.Commands.Diagnosed(ctx, commandRunID, told, report.Errors)
}
