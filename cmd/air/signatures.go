package main

import (
	"context"
	"slices"
	"sync"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
	"github.com/aircoding/air/trust"
)

// publishers are those whose signatures count.
func publishers(at place) *trust.Store { return trust.OpenStore(at.home.Path("trust")) }

// judgement says which trusted publisher signed an installed bundle, and otherwise why none
// has. It asks nobody.
type judgement struct {
	trusted func() ([]trust.Publisher, error)
}

func judgeSignatures(at place) judgement { return judgement{sync.OnceValues(publishers(at).List)} }

func (j judgement) signer(i capabilities.Installed) (*capabilities.Signer, error) {
	trusted, err := j.trusted()
	if err != nil {
		return nil, err
	}
	by, _ := signer(subject(i.CapabilityID, i.Digest, i.Reference), i.Signatures, trusted)
	return by, nil
}

func (j judgement) whyUnsigned(i capabilities.Installed) []string {
	trusted, err := j.trusted()
	if err != nil {
		return []string{err.Error()}
	}
	_, reasons := signer(subject(i.CapabilityID, i.Digest, i.Reference), i.Signatures, trusted)
	return reasons
}

func signer(s trust.Subject, signatures [][]byte, trusted []trust.Publisher) (*capabilities.Signer, []string) {
	verified, reasons := trust.Verify(s, signatures, trusted)
	if verified == nil {
		return nil, reasons
	}
	return &capabilities.Signer{Name: verified.Publisher, KeyID: verified.KeyID}, nil
}

func subject(id, digest, reference string) trust.Subject {
	return trust.Subject{CapabilityID: id, Digest: digest, Reference: repositoryOf(reference)}
}

// repositoryOf is HOST[:PORT]/REPOSITORY of a reference, empty for what is none.
func repositoryOf(reference string) string {
	ref, err := oci.ParseReference(reference)
	if err != nil {
		return ""
	}
	return ref.Place()
}

// signaturesOf fetches the signatures of a bundle. Which of them count is decided on
// every load.
func signaturesOf(ctx context.Context, client *oci.Client, ref, digest string) ([][]byte, error) {
	found, err := client.Referrers(ctx, ref, digest, oci.SignatureType)
	if err != nil {
		return nil, err
	}
	var signatures [][]byte
	for _, r := range found {
		if trust.CheckShape(r.Content, digest) == nil {
			signatures = append(signatures, r.Content)
		}
	}
	return signatures, nil
}

// install pulls a bundle with its signatures into the install store.
func (a *app) install(ctx context.Context, at place, client *oci.Client, ref string) (capabilities.Installed, error) {
	pulled, err := client.Pull(ctx, ref)
	if err != nil {
		return capabilities.Installed{}, err
	}
	var signatures [][]byte
	if pulled.Contacted { // what is wholly cached needs no registry
		if signatures, err = signaturesOf(ctx, client, ref, pulled.Digest); err != nil {
			if ctx.Err() != nil {
				return capabilities.Installed{}, err
			}
			a.warn("warning: its signatures were not fetched: %v", explain(err).Message)
		}
	}
	if signatures, err = countingFirst(at, pulled, signatures); err != nil {
		return capabilities.Installed{}, err
	}
	installed, err := store(at).PlacePulled(ctx, pulled, signatures)
	if err != nil {
		return installed, err
	}
	a.compileAhead(ctx, at, installed)
	return installed, nil
}

// countingFirst puts the signatures that count in front, of those that were fetched and those
// on record: only so many are kept, and anybody can attach some.
func countingFirst(at place, p oci.Pulled, fetched [][]byte) ([][]byte, error) {
	m, err := capabilities.ParseManifest(p.Config)
	if err != nil {
		return nil, err
	}
	trusted, err := publishers(at).List()
	if err != nil {
		return nil, err
	}
	recorded, _ := store(at).Get(m.CapabilityID, p.Digest) // nothing is recorded of what is new here
	of := subject(m.CapabilityID, p.Digest, p.Reference)
	var counting, rest [][]byte
	for _, s := range slices.Concat(fetched, recorded.Signatures) {
		if by, _ := signer(of, [][]byte{s}, trusted); by != nil {
			counting = append(counting, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(counting, rest...), nil
}

// store is where installed bundles lie.
func store(at place) *capabilities.Store { return capabilities.OpenStore(at.home.Path("capabilities")) }

// noSignature is the error of a verification that found no signature that counts.
func noSignature(what string, reasons []string) error {
	e := fault.New(fault.PermissionDenied, "not_verified", "%s has no signature of a publisher that you trust", what)
	if len(reasons) > 0 {
		e.Details = map[string]any{"reasons": reasons}
	}
	return e.WithHint("air trust ls lists whom you trust; air trust add trusts a publisher's key")
}
