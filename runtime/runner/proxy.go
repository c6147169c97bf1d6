package runner

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/network"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// usesHosts reports whether the program may reach hosts: some were decided for it, or it was
// decided that it needs some, and those may be while it runs.
func usesHosts(l runtime.Launch) bool {
	return slices.ContainsFunc(l.Effects, func(e permission.Effect) bool {
		return e.Kind == permission.Net || l.Decide != nil && e.UsesNetwork()
	})
}

// proxyEnv is the environment by which programs find the proxy, but for what the call sets
// itself, and where npm finds its packages. What listens inside is reached without it.
func (r *Runner) proxyEnv(l runtime.Launch) (pairs []string) {
	if !usesHosts(l) {
		return nil
	}
	proxy, inside := "http://"+sandbox.LoopbackAddress, strings.Join(insideHosts(l), ",")
	for _, v := range [][2]string{{"HTTP_PROXY", proxy}, {"HTTPS_PROXY", proxy}, {"NO_PROXY", inside}} {
		for _, name := range []string{v[0], strings.ToLower(v[0])} {
			pairs = append(pairs, name+"="+v[1])
		}
	}
	if r.getenv("npm_config_registry") == "" {
		pairs = append(pairs, network.Configured{Root: r.config.Root}.NpmEnvironment(l.Dir)...)
	}
	return slices.DeleteFunc(pairs, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		_, set := l.Env[name]
		return set
	})
}

// insideHosts are the names of the sandbox's own loopback, but for those that were decided:
// with these the person's machine is meant.
func insideHosts(l runtime.Launch) []string {
	return slices.DeleteFunc([]string{"localhost", "127.0.0.1", "::1"}, func(host string) bool {
		return slices.ContainsFunc(l.Effects, func(e permission.Effect) bool {
			return e.Kind == permission.Net && (strings.Contains(e.Target, "://"+host+":") || strings.Contains(e.Target, "://["+host+"]:"))
		})
	})
}

// serveProxy lets the program reach the hosts that were decided, and nothing else, until
// stop is called, which returns what was refused. About others l.Decide is asked, by the
// proxy as by the interpreter, one call at a time.
func (r *Runner) serveProxy(ctx context.Context, listener net.Listener, l *runtime.Launch) (stop func() []network.Refusal) {
	if listener == nil {
		return func() []network.Refusal { return nil }
	}
	hosts := network.NewHosts(l.Effects, l.Decide)
	if l.Decide != nil {
		l.Decide = hosts.Decide
	}
	proxy := &network.Proxy{Hosts: hosts, Dialer: r.config.Dialer, Command: l.Text}
	return proxy.Serve(ctx, listener)
}

// maxWhy is how many bytes of a reason events keep.
const maxWhy = 200

// noteRefused tells the program's reader, and the events, which hosts it did not get: most
// programs only say that their proxy refused. Of a program that failed, also which decided
// hosts no proxy lets through.
func noteRefused(l runtime.Launch, ended *runtime.Ended, refused []network.Refusal) {
	if ended.Code != 0 {
		for _, e := range l.Effects {
			if e.Kind == permission.Net && !strings.HasPrefix(e.Target, "http") {
				refused = append(refused, network.Refusal{Target: e.Target, Why: "only http and https are let out of the sandbox, and ssh is neither; a remote can be reached by its https address"})
			}
		}
	}
	if len(refused) == 0 {
		return
	}
	if l.Stderr != nil {
		_, _ = l.Stderr.Write([]byte(network.Refused(refused)))
	}
	var told []string
	for _, f := range refused {
		told = append(told, f.Target+" ("+text.Head(f.Why, maxWhy)+")")
	}
	if ended.Held != nil {
		ended.Held["hosts"] = "not reached: " + strings.Join(told, ", ")
	}
}
