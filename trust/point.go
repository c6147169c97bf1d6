package trust

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"slices"
)

// smallOrder are the y-coordinates, little-endian, of the eight points for which a
// signature that fits many messages can be made without a private key; 0 and 1 have two
// encodings that crypto/ed25519 takes.
var smallOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// checkPoint refuses an Ed25519 key that is a point of small order. crypto/ed25519 takes
// any 32 bytes; those that are no point verify nothing.
func checkPoint(k ed25519.PublicKey) error {
	if len(k) != ed25519.PublicKeySize {
		return errors.New("an Ed25519 key has 32 bytes")
	}
	little := slices.Clone(k)
	little[31] &= 0x7f // the topmost bit is the sign of x
	if slices.Contains(smallOrder, hex.EncodeToString(little)) {
		return errors.New("an Ed25519 key of small order: anybody can sign for it")
	}
	return nil
}
