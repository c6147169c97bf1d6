package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/trust"
)

func (a *app) verifyCommand() *cobra.Command {
	var transport transportFlags
	var key string
	c := &cobra.Command{
		Use:   "verify REF | ID[@DIGEST]",
		Short: "Say whose signature a capability carries",
		Long: "Verify all bytes of a capability and its signatures: those that a registry has of a reference now, which are recorded\n" +
			"for what is installed of it, or those that were installed with an id, offline. Ends with 3 where no publisher that\n" +
			"you trust has signed it.",
		Example:           "  air verify csv-insight\n  air verify 127.0.0.1:5000/acme/csv-insight:0.1.0 --key acme.pub --plain-http",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			trusted, err := a.trustedKeys(at, key)
			if err != nil {
				return err
			}
			c, err := a.signed(cmd.Context(), at, args[0], &transport)
			if err != nil {
				return err
			}
			signer, reasons := c.signer(trusted)
			if signer == nil {
				return noSignature(c.Manifest.CapabilityID+"@"+c.Digest, key, reasons)
			}
			out := map[string]any{
				"capability_id": c.Manifest.CapabilityID, "version": c.Manifest.Version, "digest": c.Digest,
				"publisher": signer.Name, "key_id": signer.KeyID,
			}
			return a.print(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s %s is signed by %s\n%s\nkey %s\n", c.Manifest.CapabilityID, oneLine(c.Manifest.Version), signer.Name, c.Digest, signer.KeyID)
			})
		},
	}
	transport.add(c)
	c.Flags().StringVar(&key, "key", "", "a public key to verify with, in place of those that you trust")
	return c
}

// trustedKeys are those of the trust store, or the one key that is named.
func (a *app) trustedKeys(at place, file string) ([]trust.Publisher, error) {
	if file == "" {
		return publishers(at).List()
	}
	pem, err := readKey(file)
	if err != nil {
		return nil, err
	}
	key, err := trust.ReadPublicKey(pem)
	if err != nil {
		return nil, err
	}
	return []trust.Publisher{{Name: "the key in " + file, KeyID: key.ID(), PublicKey: string(key.PEM()), Capabilities: []string{"**"}}}, nil
}

// signedCapability is a capability with the signatures that were found with it.
type signedCapability struct {
	capabilities.Found
	signatures [][]byte
}

// signed finds an installed capability with its signatures, or one in a registry with those
// that it has now, which are then recorded for what is installed of it.
func (a *app) signed(ctx context.Context, at place, arg string, transport *transportFlags) (signedCapability, error) {
	c, err := a.resolve(ctx, at, arg, transport)
	if err != nil {
		return signedCapability{}, err
	}
	id := c.Manifest.CapabilityID
	if c.Place == capabilities.UserInstalled {
		i, err := store(at).Get(id, c.Digest)
		return signedCapability{c, i.Signatures}, err
	}
	if c.Reference == "" {
		return signedCapability{Found: c}, nil // a folder has none
	}
	signatures, err := fetchSignatures(ctx, at, a.ociClient(at, arg, transport), arg, c.Digest)
	if err != nil {
		return signedCapability{}, err
	}
	recorded, err := countingFirst(at, subject(id, c.Digest, c.Reference), signatures)
	if err != nil {
		return signedCapability{}, err
	}
	if _, err := store(at).AddSignatures(ctx, id, c.Digest, recorded); err != nil && !fault.Is(err, fault.NotFound) {
		return signedCapability{}, err
	}
	return signedCapability{c, signatures}, nil
}

// signer is the first of the publishers whose signature counts; reasons say why there is
// none.
func (c signedCapability) signer(trusted []trust.Publisher) (*capabilities.Signer, []string) {
	return signer(subject(c.Manifest.CapabilityID, c.Digest, c.Reference), c.signatures, trusted)
}
