package doctor

import (
	"cmp"
	"context"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aircoding/air/capabilities"
)

// service tries to connect to an address of this machine, and says nothing there.
func service(ctx context.Context, address string) finding {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return unknown(err.Error())
	}
	hosts := []string{host}
	if host == "localhost" {
		hosts = []string{"127.0.0.1", "::1"} // whatever the name means to others
	}
	for _, host := range hosts {
		if connects(ctx, "tcp", net.JoinHostPort(host, port)) {
			return present("something answers at " + address)
		}
	}
	return missing("nothing answers at " + address)
}

func connects(ctx context.Context, network, address string) bool {
	c, err := (&net.Dialer{Timeout: maxConnect}).DialContext(ctx, network, address)
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was sent
	return true
}

// variable tells whether a variable has a value, and never which.
func (l *look) variable(name string) finding {
	if l.getenv(name) == "" {
		return missing("the variable " + name + " is not set")
	}
	return present("the variable " + name + " is set")
}

func (l *look) display(ctx context.Context, kind string) finding {
	if kind == "x11" {
		return l.x11(ctx)
	}
	return l.wayland(ctx)
}

// x11 tries the display that DISPLAY names where it is one of this machine:
// [localhost]:NUMBER[.SCREEN].
func (l *look) x11(ctx context.Context) finding {
	display := l.getenv("DISPLAY")
	if display == "" {
		return missing("the variable DISPLAY is not set")
	}
	host, rest, _ := net.SplitHostPort(display) // rest is empty where it is none
	number, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	var reached bool
	switch {
	case err != nil || n < 0 || n > 65535-6000:
		return unknown("DISPLAY names no display")
	case host == "" || host == "unix":
		socket := "/tmp/.X11-unix/X" + strconv.Itoa(n)
		reached = connects(ctx, "unix", socket) || connects(ctx, "unix", "@"+socket)
	case host == "localhost" || host == "127.0.0.1" || host == "::1":
		reached = service(ctx, net.JoinHostPort(host, strconv.Itoa(6000+n))).state == capabilities.Present
	default:
		return unknown("DISPLAY names a display of another machine, which is not looked for")
	}
	if !reached {
		return missing("no X server answers at DISPLAY")
	}
	return present("an X server answers at DISPLAY")
}

// wayland tries the socket that clients of Wayland use.
func (l *look) wayland(ctx context.Context) finding {
	socket := cmp.Or(l.getenv("WAYLAND_DISPLAY"), "wayland-0")
	if !filepath.IsAbs(socket) {
		dir := l.getenv("XDG_RUNTIME_DIR")
		if !filepath.IsAbs(dir) {
			return missing("the variables WAYLAND_DISPLAY and XDG_RUNTIME_DIR name no display")
		}
		socket = filepath.Join(dir, socket)
	}
	if !connects(ctx, "unix", socket) {
		return missing("no Wayland compositor answers")
	}
	return present("a Wayland compositor answers")
}
