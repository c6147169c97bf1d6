package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/trust"
)

func (a *app) verifyCommand() *cobra.Command {
	var transport transportFlags
	var key string
	c := &cobra.Command{
		Use:   "verify REF | ID[@DIGEST]",
		Short: "Say whose signature a capability carries",
		Long: "Verify all bytes of a capability and its signatures: those that a registry has of a reference, or those that were\n" +
			"installed with an id, offline. Ends with 3 where no publisher that you trust has signed it.",
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
				return noSignature(c.Manifest.CapabilityID+"@"+c.Digest, reasons)
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

// signed finds an installed capability with its signatures, or one in a registry.
func (a *app) signed(ctx context.Context, at place, arg string, transport *transportFlags) (signedCapability, error) {
	c, err := a.resolve(ctx, at, arg, transport)
	if err != nil {
		return signedCapability{}, err
	}
	if c.Place == capabilities.UserInstalled {
		i, err := store(at).Get(c.Manifest.CapabilityID, c.Digest)
		return signedCapability{c, i.Signatures}, err
	}
	if c.Reference == "" {
		return signedCapability{Found: c}, nil // a folder has none
	}
	signatures, err := signaturesOf(ctx, a.ociClient(at, arg, transport), arg, c.Digest)
	return signedCapability{c, signatures}, err
}

// signer is the first of the publishers whose signature counts; reasons say why there is
// none.
func (c signedCapability) signer(trusted []trust.Publisher) (*capabilities.Signer, []string) {
	return signer(subject(c.Manifest.CapabilityID, c.Digest, c.Reference), c.signatures, trusted)
}
