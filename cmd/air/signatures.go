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

func (j judgement) signer(i capabilities.Installed, wantedKey string) (*capabilities.Signer, []string, error) {
	trusted, err := j.trusted()
	if err != nil {
		return nil, nil, err
	}
	of := subject(i.CapabilityID, i.Digest, i.Reference)
	if at := slices.IndexFunc(trusted, func(p trust.Publisher) bool { return p.KeyID == wantedKey }); at >= 0 {
		if by, _ := signer(of, i.Signatures, trusted[at:at+1]); by != nil {
			return by, nil, nil
		}
	}
	by, reasons := signer(of, i.Signatures, trusted)
	return by, reasons, nil
}

func signer(s trust.Subject, signatures [][]byte, trusted []trust.Publisher) (*capabilities.Signer, []string) {
	verified, reasons := trust.Verify(s, signatures, trusted)
	if verified == nil {
		return nil, reasons
	}
	return &capabilities.Signer{Name: verified.Name, KeyID: verified.KeyID}, nil
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

// fetchSignatures asks the registry for the signatures of a bundle, and keeps them for what
// is pulled from the cache later. Which of them count is decided on every load.
func fetchSignatures(ctx context.Context, at place, client *oci.Client, ref, digest string) ([][]byte, error) {
	found, err := client.Referrers(ctx, ref, digest, oci.SignatureType)
	if err != nil {
		return nil, err
	}
	signatures := [][]byte{}
	for _, r := range found {
		if trust.CheckShape(r.Content, digest) == nil {
			signatures = append(signatures, r.Content)
		}
	}
	return signatures, keepSignatures(at, repositoryOf(ref), digest, signatures)
}

// pull brings a bundle with its signatures. What is wholly cached needs no registry, where
// it was asked for signatures before.
func (a *app) pull(ctx context.Context, at place, client *oci.Client, ref string) (oci.Pulled, [][]byte, error) {
	pulled, err := client.Pull(ctx, ref)
	if err != nil {
		return pulled, nil, err
	}
	signatures, known := keptSignatures(at, repositoryOf(ref), pulled.Digest)
	if pulled.Contacted || !known {
		fetched, err := fetchSignatures(ctx, at, client, ref, pulled.Digest)
		switch {
		case err == nil:
			signatures = append(fetched, signatures...)
		case ctx.Err() != nil:
			return pulled, nil, err
		default:
			a.warn("warning: its signatures were not fetched: %v", explain(err).Message)
		}
	}
	m, err := capabilities.ParseManifest(pulled.Config)
	if err != nil {
		return pulled, nil, err
	}
	signatures, err = countingFirst(at, subject(m.CapabilityID, pulled.Digest, pulled.Reference), signatures)
	return pulled, signatures, err
}

// install pulls a bundle with its signatures into the install store. Where ref has the
// digest of a tag, tag is that reference, and is what is recorded: updates go by it.
func (a *app) install(ctx context.Context, at place, client *oci.Client, ref, tag string) (capabilities.Installed, error) {
	pulled, signatures, err := a.pull(ctx, at, client, ref)
	if err != nil {
		return capabilities.Installed{}, err
	}
	if named, err := oci.ParseReference(tag); err == nil {
		pulled.Reference, pulled.Tag = named.String(), named.Tag
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
func countingFirst(at place, of trust.Subject, fetched [][]byte) ([][]byte, error) {
	trusted, err := publishers(at).List()
	if err != nil {
		return nil, err
	}
	recorded, _ := store(at).Get(of.CapabilityID, of.Digest) // nothing is recorded of what is new here
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
func noSignature(what, key string, reasons []string) error {
	whose, hint := "a publisher that you trust", "air trust ls lists whom you trust; air trust add trusts a publisher's key"
	if key != "" {
		whose, hint = "the key in "+key, "air verify without --key goes by the publishers that you trust"
	}
	e := fault.New(fault.PermissionDenied, "not_verified", "%s has no signature of %s", what, whose)
	if len(reasons) > 0 {
		e.Details = map[string]any{"reasons": reasons}
	}
	return e.WithHint("%s", hint)
}
