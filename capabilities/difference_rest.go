package capabilities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/runtime"
)

func canonicalOr(doc json.RawMessage) []byte {
	if canonical, err := canon.JSON(doc); err == nil {
		return canonical
	}
	return doc
}

// compareLimits compares the limits with their defaults filled in. A higher one is
// something more.
func compareLimits(_ context.Context, _ *textDiff, before, after Side) (lines, more []string) {
	was, is := limitValues(before.Manifest.limits()), limitValues(after.Manifest.limits())
	for _, name := range slices.Sorted(maps.Keys(is)) {
		b, a := was[name], is[name]
		if b == a {
			continue
		}
		line := fmt.Sprintf("%s: %s, before %s", name, limitValue(name, a), limitValue(name, b))
		lines = append(lines, "~ "+line)
		if a > b {
			more = append(more, "use a higher limit, "+line)
		}
	}
	return lines, more
}

func limitValues(l runtime.Limits) map[string]int64 {
	all := map[string]int64{}
	if doc, err := plainjson.Marshal(l); err != nil || json.Unmarshal(doc, &all) != nil {
		return nil // they are numbers
	}
	return all
}

func limitValue(name string, n int64) string {
	switch {
	case strings.HasSuffix(name, "_bytes"):
		return bytesWord(n)
	case strings.HasSuffix(name, "_ms"):
		return (time.Duration(n) * time.Millisecond).String()
	}
	return fmt.Sprint(n)
}

func compareEntrypoint(ctx context.Context, t *textDiff, before, after Side) (lines, more []string) {
	b, a := cmp.Or(before.Manifest.Entrypoint, &Entrypoint{}), cmp.Or(after.Manifest.Entrypoint, &Entrypoint{})
	lines = append(lines, t.value(ctx, "kind", b.Kind, a.Kind)...)
	lines = append(lines, t.value(ctx, "abi", string(b.ABI), string(a.ABI))...)
	lines = append(lines, t.value(ctx, "module", b.Module, a.Module)...)
	if after.Manifest.abi().KnowsAir() && !before.Manifest.abi().KnowsAir() {
		more = append(more, "call tools at all: it was a program, which calls none")
	}
	return lines, more
}

func compareConfig(ctx context.Context, t *textDiff, before, after Side) (lines, more []string) {
	return t.json(ctx, "schema of its config", before.Manifest.ConfigSchema, after.Manifest.ConfigSchema), nil
}

// compareDependencies compares what is declared, and says of what is new or changed, and
// of what was found differently, whether this machine has it.
func compareDependencies(ctx context.Context, t *textDiff, before, after Side) (lines, more []string) {
	was := map[string]Dependency{}
	for _, d := range before.Manifest.Dependencies {
		was[d.DependencyID] = d
	}
	for _, d := range after.Manifest.Dependencies {
		old, had := was[d.DependencyID]
		delete(was, d.DependencyID)
		changed := t.json(ctx, "what it is", documentOf(old, had), documentOf(d, true))
		found := verdictWords(d.DependencyID, after.Verdicts)
		if before.Verdicts != nil && found != verdictWords(d.DependencyID, before.Verdicts) {
			changed = append(changed, "~ before, this machine had it as: "+shown(verdictWords(d.DependencyID, before.Verdicts)))
		}
		if len(changed) > 0 {
			lines = append(append(lines, mark(had)+" "+shown(d.DependencyID)+", now: "+shown(found)), indented(changed)...)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		lines = append(lines, "- "+shown(id)+": "+shown(dependencyWord(was[id])))
	}
	return lines, nil
}

func mark(had bool) string {
	if had {
		return "~"
	}
	return "+"
}

func documentOf(d Dependency, has bool) json.RawMessage {
	if !has {
		return nil
	}
	doc, err := plainjson.Marshal(d)
	if err != nil {
		return nil // it was decoded from JSON
	}
	return doc
}

func compareClaims(ctx context.Context, t *textDiff, before, after Side) (lines, more []string) {
	b, a := before.Manifest, after.Manifest
	for _, claim := range []struct{ name, before, after string }{
		{"capability", b.CapabilityID, a.CapabilityID},
		{"name", b.DisplayName, a.DisplayName},
		{"version", b.Version, a.Version},
		{"description", b.Description, a.Description},
		{"publisher", b.Publisher, a.Publisher},
		{"source", b.Source.String(), a.Source.String()},
		{"trust level", string(b.TrustLevel), string(a.TrustLevel)},
	} {
		lines = append(lines, t.value(ctx, claim.name, claim.before, claim.after)...)
	}
	return lines, nil
}

// compareOrigin compares what AIR knows of where the bundles come from.
func compareOrigin(ctx context.Context, t *textDiff, before, after Side) (lines, more []string) {
	for _, fact := range []struct{ name, before, after string }{
		{"signer", signerWords(before.Signer), signerWords(after.Signer)},
		{"source", before.Source.String(), after.Source.String()},
		{"reference", cmp.Or(before.Reference, "none"), cmp.Or(after.Reference, "none")},
		{"asked for as", before.Asked, after.Asked},
		{"trust level", string(before.TrustLevel), string(after.TrustLevel)},
	} {
		lines = append(lines, t.value(ctx, fact.name, fact.before, fact.after)...)
	}
	return lines, nil
}
