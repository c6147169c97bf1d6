// Package interop holds trust's signatures against those of sigstore-go and cosign. It has
// tests only.
package interop
