package network

import (
	"errors"
	"net"
	"net/netip"
	"slices"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// checkLiteral refuses an address that the effect did not name as a private one.
func checkLiteral(e permission.Effect, addr netip.Addr) error {
	if e.Class != permission.ClassPrivate && private(addr) {
		return notAsPrivate(e, addr)
	}
	return nil
}

// errNotAsPrivate is the sentinel of a host that was allowed by its name and has an address
// of this machine or of a private network.
var errNotAsPrivate = errors.New("which is this machine's or a private network's, and was not allowed as such")

func notAsPrivate(e permission.Effect, addr netip.Addr) error {
	return fault.New(fault.PermissionDenied, "private_address", "%s has the address %s, %w", e.Target, addr, errNotAsPrivate)
}

// checkResolved refuses an address that a name has and that is not public, unless the
// effect is for a private name. What serves keys to whoever asks, and what is no single
// host, has to be named by its address.
func checkResolved(e permission.Effect, addr netip.Addr) error {
	switch {
	case !private(addr):
		return nil
	case e.Class != permission.ClassPrivate:
		return notAsPrivate(e, addr)
	case neverByName(addr):
		return fault.New(fault.PermissionDenied, "private_address", "%s has the address %s, which no name may lead to", e.Target, addr).
			WithHint("do not work around this; a person who means this address has it named in the URL")
	}
	return nil
}

// private reports whether an address is not one of the public network, or this machine's
// own: what listens on all of its addresses is reached by a public one too.
func private(addr netip.Addr) bool { return permission.PrivateAddr(addr) || own(addr) }

func own(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true // what cannot be told from this machine's counts as its own
	}
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == addr.Unmap().WithZone("")
	})
}

// metadata are addresses by which the machines of a cloud get their keys, beyond those that
// are link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
}

// nat64 are the addresses of IPv6 by which a network leads to those of IPv4.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func neverByName(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if b := addr.As16(); nat64.Contains(addr) {
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified() || slices.Contains(metadata, addr)
}
