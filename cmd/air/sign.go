package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/oci"
	"github.com/aircoding/air/trust"
)

func (a *app) signCommand() *cobra.Command {
	var transport transportFlags
	var key string
	c := &cobra.Command{
		Use:   "sign REF --key FILE",
		Short: "Sign a capability in a registry",
		Long: "Sign the bundle that a reference names now, by its digest, and attach the signature to it in the registry. The key\n" +
			"is one of air trust generate-key or of cosign. Its passphrase is asked for, or is AIR_KEY_PASSPHRASE.",
		Example: "  air sign 127.0.0.1:5000/acme/csv-insight:0.1.0 --key acme.key --plain-http",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			signed, err := a.sign(cmd.Context(), at, a.ociClient(at, args[0], &transport), args[0], key)
			if err != nil {
				return err
			}
			return a.print(signed, func(w io.Writer) {
				if signed.Existed {
					a.note("it was signed with this key already")
				}
				fmt.Fprintf(w, "signed %s %s\n%s\n", signed.CapabilityID, text.Printable(signed.Version), signed.Digest)
			})
		},
	}
	transport.add(c)
	c.Flags().StringVar(&key, "key", "", "the file with the private key")
	_ = c.MarkFlagRequired("key") // it is there
	return c
}

// signedBundle is what was signed, and by what.
type signedBundle struct {
	CapabilityID string `json:"capability_id"`
	Version      string `json:"version"`
	Digest       string `json:"digest"`
	KeyID        string `json:"key_id"`
	Signature    string `json:"signature,omitempty"` // digest of the attached manifest
	Existed      bool   `json:"existed"`             // the key's signature was there already
}

// sign signs what a reference names, if that is a valid bundle and not signed already.
func (a *app) sign(ctx context.Context, at place, client *oci.Client, ref, keyFile string) (signedBundle, error) {
	pulled, err := client.Pull(ctx, ref)
	if err != nil {
		return signedBundle{}, err
	}
	m, err := capabilities.ParseManifest(pulled.Config)
	if err != nil {
		return signedBundle{}, err
	}
	key, err := a.privateKey(ctx, keyFile)
	if err != nil {
		return signedBundle{}, err
	}
	signed := signedBundle{CapabilityID: m.CapabilityID, Version: m.Version, Digest: pulled.Digest, KeyID: key.Public().ID()}
	there, err := fetchSignatures(ctx, at, client, ref, pulled.Digest)
	if err != nil {
		return signedBundle{}, err
	}
	own := trust.Publisher{Name: "own", KeyID: signed.KeyID, PublicKey: string(key.Public().PEM()), Capabilities: []string{"**"}}
	if by, _ := trust.Verify(trust.Subject{Digest: pulled.Digest, CapabilityID: m.CapabilityID}, there, []trust.Publisher{own}); by != nil {
		signed.Existed = true
		return signed, nil
	}
	signature, err := trust.Sign(key, pulled.Digest)
	if err != nil {
		return signedBundle{}, err
	}
	signed.Signature, err = client.Attach(ctx, ref, pulled.Digest, oci.Signature(signature))
	return signed, err
}
