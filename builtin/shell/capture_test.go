package shell_test

import (
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/session"
)

func TestCaptureRules(t *testing.T) {
	r := newRig(t)
	r.Put("short", "out\n")
	r.Put("exact", strings.Repeat("x", 16384))
	r.Put("long", strings.Repeat("x", 16385))
	for _, c := range []struct {
		name, command string
		more          object
		// of previews and artifacts: whether they are there
		stdout, stderr, outArtifact, errArtifact, combined bool
	}{
		{"nothing", "true", nil, false, false, false, false, false},
		{"short", "cat short", nil, true, false, false, false, false},
		{"both streams", "cat short; cat short >&2", nil, true, true, false, false, false},
		{"exactly the preview", "cat exact", nil, true, false, false, false, false},
		{"one byte more", "cat long", nil, true, false, true, false, true},
		{"one byte more, twice", "cat long; cat short >&2", nil, true, true, true, true, true},
		{"stderr is long", "cat short; cat long >&2", nil, true, true, true, true, true},
		{"artifact", "cat short; cat short >&2", object{"capture_mode": "artifact"}, false, false, true, true, true},
		{"both", "cat short", object{"capture_mode": "both"}, true, false, true, false, true},
		{"both, of nothing", "true", object{"capture_mode": "both"}, false, false, false, false, true},
		{"inline", "cat short", object{"capture_mode": "inline", "purpose": "general"}, true, false, false, false, false},
		{"build", "cat short", object{"purpose": "build"}, true, false, true, false, true},
		{"test", "cat short", object{"purpose": "test"}, true, false, true, false, true},
		{"debug", "cat short >&2", object{"purpose": "debug"}, false, true, false, true, true},
		{"doctor", "cat short", object{"purpose": "doctor"}, true, false, true, false, true},
		{"evidence as artifact alone", "cat short", object{"purpose": "test", "capture_mode": "artifact"}, false, false, true, false, true},
	} {
		out := must(r, c.command, c.more)
		got := [...]bool{out.StdoutPreview != nil, out.StderrPreview != nil, out.StdoutArtifactID != "", out.StderrArtifactID != "", out.CombinedArtifactID != ""}
		if want := [...]bool{c.stdout, c.stderr, c.outArtifact, c.errArtifact, c.combined}; got != want {
			t.Errorf("%s: got %v, want %v", c.name, got, want)
		}
		if out.ExitCode != 0 || out.CommandRunID == "" {
			t.Errorf("%s: %+v", c.name, out)
		}
		if parsed := c.more["purpose"] == "build" || c.more["purpose"] == "test"; (out.Diagnostics != nil) != parsed {
			t.Errorf("%s: diagnostics %v", c.name, out.Diagnostics)
		}
	}
}

func TestPreviewsAreCutBetweenCharacters(t *testing.T) {
	r := newRig(t)
	const four = "\U0001F600"
	for name, c := range map[string]struct{ output, preview string }{
		"a character across the border": {strings.Repeat("a", 16382) + four + "b", strings.Repeat("a", 16382)},
		"one that ends there":           {strings.Repeat("a", 16380) + four + "b", strings.Repeat("a", 16380) + four},
		"one byte of it fits":           {strings.Repeat("a", 16383) + four, strings.Repeat("a", 16383)},
		"bytes that are no text":        {"a\xff\xfeb\xf0\x9f", "a\uFFFD\uFFFDb\uFFFD\uFFFD"},
		"no text, grown too long":       {strings.Repeat("\xff", 6000), strings.Repeat("\uFFFD", 5461)}, // 16384/3
		"controls":                      {"\x00\x1b[31m\r\n", "\x00\x1b[31m\r\n"},
	} {
		r.Put("f", c.output)
		out := must(r, "cat f", nil)
		if got := text(out.StdoutPreview); got != c.preview {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(c.preview))
		}
		if whole := c.preview == strings.ToValidUTF8(c.output, "") || len(c.output) < 100; whole != (out.StdoutArtifactID == "") {
			t.Errorf("%s: artifact %q", name, out.StdoutArtifactID)
		}
		if id := out.StdoutArtifactID; id != "" && content(r, id) != c.output {
			t.Errorf("%s: the artifact is not what was written", name)
		}
	}
}

func TestCombinedIsInOrder(t *testing.T) {
	r := newRig(t)
	r.Put("long", strings.Repeat("x", 20000))
	out := must(r, "echo one; sleep 0.1; echo two >&2; sleep 0.1; cat long; sleep 0.1; echo three >&2", nil)
	want := "one\ntwo\n" + strings.Repeat("x", 20000) + "three\n"
	if got := content(r, out.CombinedArtifactID); got != want {
		t.Errorf("%d bytes: %.40q…", len(got), got)
	}
	if got := content(r, out.StdoutArtifactID); got != "one\n"+strings.Repeat("x", 20000) {
		t.Errorf("stdout: %d bytes", len(got))
	}
	if got := content(r, out.StderrArtifactID); got != "two\nthree\n" {
		t.Errorf("stderr: %q", got)
	}
}

func TestArtifactsSayWhatWasLeftOut(t *testing.T) {
	r := newRig(t)
	out := must(r, "head -c 68157440 /dev/zero", nil) // 65 MiB
	got := content(r, out.StdoutArtifactID)
	const note = "\n[air: 1048576 more bytes were left out: an artifact has at most 67108864 bytes of output]\n"
	if len(got) != 64<<20+len(note) || !strings.HasSuffix(got, note) {
		t.Errorf("%d bytes, ending %q", len(got), got[max(0, len(got)-120):])
	}
	if out.ExitCode != 0 {
		t.Errorf("the command ended with %d", out.ExitCode)
	}
}

func TestArtifactsAreTheCalls(t *testing.T) {
	r := newRig(t)
	_, e := run(r, "echo x", object{"capture_mode": "artifact"})
	if len(e.Artifacts) != 2 {
		t.Errorf("%v", e.Artifacts)
	}
	for _, id := range e.Artifacts {
		record, err := r.Session.Artifacts.Get(r.Context(), id)
		if err != nil || record.Type != "log" || record.MediaType != "text/plain" || record.RunID != e.RunID {
			t.Errorf("%+v, %v", record, err)
		}
	}
}

func TestBudgetEndsTheKeepingNotTheCommand(t *testing.T) {
	r := rigWith(t, rig.Options{Approver: rig.Yes, Budgets: runtime.Budgets{Session: session.Usage{BytesOut: 1 << 20}}})
	out, e := run(r, "head -c 8000000 /dev/zero; echo done >&2", nil)
	failed(t, e, fault.ResourceExhausted, "budget_bytes")
	if out.ExitCode != 0 || text(out.StderrPreview) != "done\n" || len(text(out.StdoutPreview)) != 16<<10 || out.StdoutArtifactID != "" {
		t.Errorf("%d %q %q", out.ExitCode, text(out.StderrPreview), out.StdoutArtifactID)
	}
}
