package capabilities

import (
	"bytes"
	"context"
	"fmt"

	"github.com/aircoding/air/internal/text"
)

// Side is one side of a comparison.
type Side struct {
	Found
	Verdicts []Verdict // nil for what was not checked
}

// Point is one end of a difference.
type Point struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
	Dir     string `json:"dir,omitempty"` // where its files lie
}

// Difference is everything that is different between two bundles of a capability. All
// its texts are safe to show, and what differs looks different: characters that cannot be
// seen are spelled out.
type Difference struct {
	From  Point `json:"from"`
	To    Point `json:"to"`
	Order Order `json:"order"` // how the version of To stands to that of From
	// Same is that the digest is the same, and with it everything but where it came from.
	Same bool `json:"same"`
	// Incomparable says why the earlier bundle could not be read: then nothing else is known.
	Incomparable string `json:"incomparable,omitempty"`
	// Warnings are what a person should know before all else: who signed no longer does, a
	// version is older or the same with other bytes, something that it needs is missing.
	Warnings []string `json:"warnings,omitempty"`
	// More is what it can do that it could not do before, permissions first.
	More []string `json:"more,omitempty"`
	// Sections are all changes, those of More among them.
	Sections []Section `json:"sections,omitempty"`
}

// Section is the changes of one part of a bundle. Its lines are indented by depth and begin
// with + for what is new, - for what is gone, ~ for what changed.
type Section struct {
	Title    string   `json:"title"`
	Lines    []string `json:"lines"`
	Unlisted int      `json:"unlisted,omitempty"` // lines of long texts that are not among Lines
}

// Compare lists every difference between two bundles of one capability.
func Compare(before, after Side) Difference { return compare(context.Background(), before, after) }

// compare is Compare that ends early with ctx, and says so where it had come to.
func compare(ctx context.Context, before, after Side) Difference {
	d := Difference{
		From: pointOf(before.Manifest.Version, before.Digest, before.Dir), To: pointOf(after.Manifest.Version, after.Digest, after.Dir),
		Order: orderOf(before.Manifest.Version, after.Manifest.Version), Same: before.Digest != "" && before.Digest == after.Digest,
	}
	d.warn(before, after)
	t := &textDiff{left: maxListed}
	for _, part := range []struct {
		title   string
		compare func(context.Context, *textDiff, Side, Side) (lines, more []string)
	}{
		{"What it may do", comparePowers},
		{"Permissions as they are written", compareDeclared},
		{"Tools", compareTools},
		{"Limits of one call", compareLimits},
		{"How it runs", compareEntrypoint},
		{"Its config", compareConfig},
		{"What it wants on this machine", compareDependencies},
		{"What its publisher says, and nothing proves", compareClaims},
		{"Files", compareFiles},
		{"Where it comes from", compareOrigin},
	} {
		t.unlisted = 0
		lines, more := part.compare(ctx, t, before, after)
		d.More = append(d.More, more...)
		if len(lines) > 0 {
			d.Sections = append(d.Sections, Section{part.title, lines, t.unlisted})
		}
	}
	if len(d.Sections) == 0 && !bytes.Equal(before.Manifest.Canonical(), after.Manifest.Canonical()) {
		d.Sections = []Section{{Title: "Manifest", Lines: []string{"~ it is written differently and means the same"}}}
	}
	return d
}

// incomparable is the difference to a bundle that could not be read.
func incomparable(r row, after Side, why error) *Difference {
	d := &Difference{
		From: pointOf(r.Version, r.Digest, ""), To: pointOf(after.Manifest.Version, after.Digest, after.Dir), Order: orderOf(r.Version, after.Manifest.Version),
		Incomparable: text.Line(why.Error(), 500),
	}
	d.warnOfOrder()
	if r.Signer != "" && (after.Signer == nil || after.Signer.KeyID != r.Signer) {
		d.Warnings = append(d.Warnings, signerWarning(&Signer{KeyID: r.Signer}, after.Signer))
	}
	return d
}

func pointOf(version, digest, dir string) Point { return Point{text.Line(version, 64), digest, dir} }

func (d *Difference) warn(before, after Side) {
	d.warnOfOrder()
	if keyOf(before.Signer) != "" && keyOf(before.Signer) != keyOf(after.Signer) {
		d.Warnings = append(d.Warnings, signerWarning(before.Signer, after.Signer))
	}
	if from, to := placeOf(before.Source), placeOf(after.Source); from != to {
		d.Warnings = append(d.Warnings, fmt.Sprintf("it comes from another place: before from %s, now from %s", shown(from), shown(to)))
	}
	for _, v := range after.Verdicts {
		if v.Required && v.State != Present {
			d.Warnings = append(d.Warnings, fmt.Sprintf("it needs %s, which is %s here", shown(v.Detector), v.State))
		}
	}
}

func (d *Difference) warnOfOrder() {
	if d.From.Digest == d.To.Digest {
		return
	}
	switch d.Order {
	case Older:
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s is OLDER than %s: what was put right since is wrong again", d.To.Version, d.From.Version))
	case SameOrder:
		d.Warnings = append(d.Warnings, fmt.Sprintf("the version %s is the SAME and the bytes are NOT: somebody changed what it stands for", d.To.Version))
	case Unordered:
		d.Warnings = append(d.Warnings, fmt.Sprintf("nothing says which of %s and %s is the newer: they are not both versions such as 1.2.3", d.From.Version, d.To.Version))
	}
}

func keyOf(s *Signer) string {
	if s == nil {
		return ""
	}
	return s.KeyID
}

func signerWarning(before, after *Signer) string {
	if after == nil {
		return "it was signed by " + signerWords(before) + ", and this is signed by NOBODY whom you trust for it"
	}
	return "it was signed by " + signerWords(before) + ", and this is signed by somebody else: " + signerWords(after)
}

// placeOf is a source without what changes from version to version.
func placeOf(s Source) string {
	s.Ref, s.Version = "", ""
	return s.String()
}
