package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/trust"
)

const (
	maxKey             = 64 << 10
	passphraseVariable = "AIR_KEY_PASSPHRASE"
	passphraseHint     = passphraseVariable + " may hold the passphrase"
)

func (a *app) trustGenerateKeyCommand() *cobra.Command {
	var algorithm string
	c := &cobra.Command{
		Use:   "generate-key NAME",
		Short: "Make a key to sign with",
		Long: "Make a key pair: NAME.key, which the passphrase encrypts and nobody else should have, and NAME.pub, which you give to\n" +
			"those who should trust it. The passphrase is asked for, or is AIR_KEY_PASSPHRASE. cosign reads both files.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			private, public := args[0]+".key", args[0]+".pub"
			if err := absent(private, public); err != nil {
				return err
			}
			passphrase, err := a.newPassphrase(cmd.Context(), private)
			if err != nil {
				return err
			}
			key, err := trust.GenerateKey(algorithm)
			if err != nil {
				return err
			}
			encrypted, err := key.Encrypt([]byte(passphrase))
			if err != nil {
				return err
			}
			if err := writeKeys(private, encrypted, public, key.Public().PEM()); err != nil {
				return err
			}
			made := map[string]string{"private_key": private, "public_key": public, "key_id": key.Public().ID()}
			return a.print(made, func(w io.Writer) { fmt.Fprintf(w, "made %s and %s\n%s\n", private, public, key.Public().ID()) })
		},
	}
	c.Flags().StringVar(&algorithm, "algorithm", "ecdsa-p256", "ecdsa-p256 or ed25519")
	complete(c, "algorithm", "ecdsa-p256", "ed25519")
	return c
}

func absent(files ...string) error {
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			return fault.New(fault.Conflict, "key_exists", "%s exists already", file).WithHint("choose another name: a key that is replaced is gone")
		}
	}
	return nil
}

// writeKeys writes both keys or none. Neither replaces a file, also not one that appeared
// just now.
func writeKeys(private string, encrypted []byte, public string, pem []byte) error {
	if err := writeNew(private, encrypted, 0o600); err != nil {
		return err
	}
	err := writeNew(public, pem, 0o644)
	if err != nil {
		err = errors.Join(err, os.Remove(private))
	}
	return err
}

func writeNew(file string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if errors.Is(err, os.ErrExist) {
		return absent(file)
	}
	if err != nil {
		return fault.IO("writing "+file, err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		err = errors.Join(err, os.Remove(file))
	}
	return fault.IO("writing "+file, err)
}

// newPassphrase is that of a key to be made, typed twice.
func (a *app) newPassphrase(ctx context.Context, file string) (string, error) {
	passphrase := a.getenv(passphraseVariable)
	if passphrase != "" {
		return passphrase, nil
	}
	passphrase, err := a.typeHidden(ctx, "passphrase for "+file, passphraseHint)
	if err != nil {
		return "", err
	}
	again, err := a.typeHidden(ctx, "the same again", passphraseHint)
	switch {
	case err != nil:
		return "", err
	case again != passphrase:
		return "", fault.New(fault.InvalidInput, "passphrase", "the two passphrases differ").WithHint("nothing was written: try again")
	case passphrase == "":
		return "", fault.New(fault.InvalidInput, "passphrase", "an empty passphrase protects nothing").WithHint("%s", passphraseHint)
	}
	return passphrase, nil
}

// privateKey reads a key, with the passphrase from the environment or a person.
func (a *app) privateKey(ctx context.Context, file string) (trust.PrivateKey, error) {
	pem, err := readKey(file)
	if err != nil {
		return trust.PrivateKey{}, err
	}
	if !trust.IsEncrypted(pem) {
		return trust.ReadPrivateKey(pem, nil)
	}
	passphrase := a.getenv(passphraseVariable)
	if passphrase == "" {
		if passphrase, err = a.typeHidden(ctx, "passphrase of "+file, passphraseHint); err != nil {
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

// typeHidden reads a line from the terminal, which does not show it. otherwise says how to
// do without a terminal.
func (a *app) typeHidden(ctx context.Context, what, otherwise string) (value string, err error) {
	t, err := a.openTerminal()
	if err != nil {
		return "", fault.New(fault.ApprovalRequired, "no_terminal", "the %s is typed on a terminal, and there is none", what).
			WithHint("%s", otherwise)
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	return t.Secret(ctx, what)
}
