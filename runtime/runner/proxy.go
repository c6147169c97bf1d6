package runner

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/network"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// usesHosts reports whether the program may reach hosts: some were decided for it, or some
// may be while it runs.
func usesHosts(l runtime.Launch) bool {
	return slices.ContainsFunc(l.Effects, func(e permission.Effect) bool {
		return e.Kind == permission.Net || l.Text != "" && !l.Bash && l.Decide != nil && e.Kind == permission.Run && e.UsesNetwork()
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
// stop is called, which returns what was refused. Hosts that are decided while l runs are
// let through from then on. The answers of l.Decide come one at a time, as before.
func (r *Runner) serveProxy(ctx context.Context, listener net.Listener, l *runtime.Launch) (stop func() []network.Refusal) {
	if listener == nil {
		return func() []network.Refusal { return nil }
	}
	hosts := network.NewHosts(l.Effects)
	proxy := &network.Proxy{Hosts: hosts, Dialer: r.config.Dialer}
	if decide := l.Decide; decide != nil {
		var one sync.Mutex
		l.Decide = func(ctx context.Context, effects []permission.Effect) error {
			one.Lock()
			defer one.Unlock()
			err := decide(ctx, effects)
			if err == nil {
				hosts.Add(effects)
			}
			return err
		}
		proxy.Decide = l.Decide
	}
	return proxy.Serve(ctx, listener)
}

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
	var targets []string
	for _, f := range refused {
		targets = append(targets, f.Target)
	}
	if ended.Held != nil {
		ended.Held["hosts"] = "not reached: " + strings.Join(targets, ", ")
	}
}
