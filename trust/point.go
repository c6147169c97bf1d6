package trust

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
)

// smallOrder are the y-coordinates, little-endian, of the eight points for which a
// signature that fits many messages can be made without a private key.
var smallOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// checkPoint refuses an Ed25519 key that is no point of the curve in its one encoding, or
// a point of small order. crypto/ed25519 takes any 32 bytes.
func checkPoint(k ed25519.PublicKey) error {
	if len(k) != ed25519.PublicKeySize {
		return errors.New("an Ed25519 key has 32 bytes")
	}
	little := slices.Clone(k)
	little[31] &= 0x7f // the topmost bit is the sign of x
	if slices.Contains(smallOrder, hex.EncodeToString(little)) {
		return errors.New("an Ed25519 key of small order: anybody can sign for it")
	}
	slices.Reverse(little)
	if !onCurve(new(big.Int).SetBytes(little)) {
		return errors.New("the Ed25519 key is no point of the curve")
	}
	return nil
}

// onCurve reports whether y is below p and has an x: x² = (y²-1)/(dy²+1), RFC 8032
// section 5.1.3. A quotient is a square where the product is one.
func onCurve(y *big.Int) bool {
	one := big.NewInt(1)
	p := new(big.Int).Lsh(one, 255)
	p.Sub(p, big.NewInt(19))
	if y.Cmp(p) >= 0 {
		return false
	}
	d := new(big.Int).ModInverse(big.NewInt(121666), p)
	d.Mul(d, big.NewInt(-121665))
	square := new(big.Int).Mul(y, y)
	above := new(big.Int).Sub(square, one)
	below := square.Mul(square, d)
	below.Add(below, one)
	product := above.Mul(above, below)
	return big.Jacobi(product.Mod(product, p), p) >= 0
}
