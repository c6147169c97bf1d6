package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

const (
	// dialTime bounds resolving a name and connecting to one of its addresses.
	dialTime = 15 * time.Second
	// perAddress bounds one attempt, so that a silent address leaves time for the next.
	perAddress = 5 * time.Second
	// maxAddresses are tried at most; all are checked.
	maxAddresses = 4
)

// Dialer connects to decided hosts. Its zero value asks the resolvers of the machine.
type Dialer struct {
	// Resolve returns the addresses of a name; nil asks the resolvers of the machine.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Decide answers for a host that was allowed by its name and turns out to be private; nil
	// refuses it.
	Decide func(ctx context.Context, e permission.Effect) error
}

// Dial connects to the host of a net effect that was allowed. The name is resolved once,
// every address that it has is checked, and the connection is to one of them. One that has
// an address that is not public, and that the effect did not name, is decided anew as
// private, and dialled again.
func (d Dialer) Dial(ctx context.Context, e permission.Effect) (net.Conn, error) {
	conn, err := d.once(ctx, e)
	if d.Decide == nil || !errors.Is(err, errNotAsPrivate) {
		return conn, err
	}
	e.Class = permission.ClassPrivate
	if err := d.Decide(ctx, e); err != nil {
		return nil, err
	}
	return d.once(ctx, e)
}

func (d Dialer) once(ctx context.Context, e permission.Effect) (net.Conn, error) {
	name, port, err := split(e)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	addresses, err := d.addresses(ctx, e, name)
	if err != nil {
		return nil, err
	}
	return connect(ctx, e.Target, addresses, port)
}

// split is the host of a target, without brackets, and its port.
func split(e permission.Effect) (host string, port uint16, err error) {
	plain, err := permission.NetTarget(e.Target)
	if err != nil || plain.Target != e.Target || e.Kind != permission.Net {
		return "", 0, fault.New(fault.Internal, "bug", "%.200q is no decided host", e.Target)
	}
	host, text, err := net.SplitHostPort(hostPort(e.Target))
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseUint(text, 10, 16)
	return host, uint16(number), err
}

// addresses are those that the host has now, all of them checked.
func (d Dialer) addresses(ctx context.Context, e permission.Effect, name string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{addr}, checkLiteral(e, addr)
	}
	resolve := d.Resolve
	if resolve == nil {
		resolve = system
	}
	found, err := resolve(ctx, name)
	if err != nil || len(found) == 0 {
		return nil, unresolved(ctx, name, err)
	}
	for _, addr := range found {
		if err := checkResolved(e, addr); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(found, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() })
	return found[:min(len(found), maxAddresses)], nil
}

// system asks the resolvers of the machine. Of a name with dots that is not private, only
// the name itself: the search list of resolv.conf would make another host of it.
func system(ctx context.Context, host string) ([]netip.Addr, error) {
	e, err := permission.NetTarget("https://" + host)
	if err != nil {
		return nil, err
	}
	if strings.Contains(host, ".") && e.Class != permission.ClassPrivate {
		host += "."
	}
	return (&net.Resolver{PreferGo: true}).LookupNetIP(ctx, "ip", host)
}

func unresolved(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return timedOut(ctx, "resolving "+name)
	}
	var dns *net.DNSError
	if err == nil || errors.As(err, &dns) && dns.IsNotFound {
		return fault.New(fault.Unavailable, "no_such_host", "the host %s has no address", name)
	}
	return retryable(fault.New(fault.Unavailable, "unreachable", "resolving %s: %w", name, err))
}

// connect tries the addresses one after the other.
func connect(ctx context.Context, target string, addresses []netip.Addr, port uint16) (net.Conn, error) {
	var failed []error
	for _, addr := range addresses {
		dialer := net.Dialer{Timeout: perAddress, FallbackDelay: -1}
		conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr.Unmap(), port).String())
		if err == nil {
			return conn, nil
		}
		failed = append(failed, err)
	}
	if ctx.Err() != nil {
		return nil, timedOut(ctx, "connecting to "+target)
	}
	return nil, retryable(fault.New(fault.Unavailable, "unreachable", "connecting to %s: %w", target, errors.Join(failed...)))
}

func timedOut(ctx context.Context, doing string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	return retryable(fault.New(fault.Unavailable, "unreachable", "%s: no answer in time", doing))
}

func retryable(e *fault.Error) *fault.Error {
	e.Retryable = true
	return e
}
