package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/oci"
	"github.com/aircoding/air/trust"
)

const maxKey = 64 << 10

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
			private, err := a.privateKey(cmd.Context(), key)
			if err != nil {
				return err
			}
			signed, err := a.sign(cmd.Context(), a.ociClient(at, args[0], &transport), args[0], private)
			if err != nil {
				return err
			}
			return a.print(signed, func(w io.Writer) {
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
	Signature    string `json:"signature"` // digest of the attached manifest
}

// sign signs what a reference names, if that is a valid bundle.
func (a *app) sign(ctx context.Context, client *oci.Client, ref string, key trust.PrivateKey) (signedBundle, error) {
	pulled, err := client.Pull(ctx, ref)
	if err != nil {
		return signedBundle{}, err
	}
	m, err := capabilities.ParseManifest(pulled.Config)
	if err != nil {
		return signedBundle{}, err
	}
	signature, err := trust.Sign(key, pulled.Digest)
	if err != nil {
		return signedBundle{}, err
	}
	attached, err := client.Attach(ctx, ref, pulled.Digest, oci.Signature(signature))
	return signedBundle{m.CapabilityID, m.Version, pulled.Digest, key.Public().ID(), attached}, err
}

// privateKey reads a key, with the passphrase from the environment or a person.
func (a *app) privateKey(ctx context.Context, file string) (trust.PrivateKey, error) {
	pem, err := readKey(file)
	if err != nil {
		return trust.PrivateKey{}, err
	}
	passphrase, set := os.LookupEnv("AIR_KEY_PASSPHRASE")
	if !set && trust.IsEncrypted(pem) {
		if passphrase, err = a.typePassphrase(ctx, "passphrase of "+file); err != nil {
			return trust.PrivateKey{}, err
		}
	}
	return trust.ReadPrivateKey(pem, []byte(passphrase))
}

func readKey(file string) ([]byte, error) {
	pem, err := regular.Read(file, maxKey, true)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "bad_key", "reading the key: %w", err)
	}
	return pem, nil
}
