package runtime

import (
	"errors"
	"os"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// plan names what the call would do, in the words of its input: nothing has been looked
// at yet.
func (r *Registry) plan(c *run) ([]permission.Effect, error) {
	if r.config.Paths.Root() == "" && c.tool.needsProject() {
		return nil, fault.New(fault.InvalidInput, "no_project", "%s needs a project, and there is none here", c.tool.Name).WithHint("air init makes this folder a project")
	}
	if c.tool.DirectOnly && len(c.chain) > 0 {
		return nil, fault.New(fault.PermissionDenied, "direct_only", "%s is for people and their agents: no capability can call it", c.tool.Name)
	}
	named, err := c.tool.Implementation.Plan(c.call.Input)
	if err != nil {
		return nil, fault.From(err)
	}
	return append([]permission.Effect{{Kind: permission.ToolCall, Target: c.tool.Name}}, named...), nil
}

// canonical makes the paths of a plan canonical, and binds its commands to the scripts
// that they would execute. The hosts that commands need and do not name follow. With an
// error it returns the effects before the one that it is about.
func (r *Registry) canonical(c *run, plan []permission.Effect) ([]permission.Effect, error) {
	effects := make([]permission.Effect, 0, len(plan))
	scripts := binder{files: &files{registry: r, run: c}}
	for _, e := range plan {
		e, err := r.resolve(c, e)
		if err == nil && e.Kind == permission.Signal {
			e, err = r.resolveSignal(c, e)
		}
		if err == nil {
			err = r.checkNames(e)
		}
		if err != nil {
			return effects, r.earlier(c, effects, err)
		}
		effects = append(effects, scripts.bind(e))
	}
	r.config.Paths.MarkRepositories(effects)
	return r.configuredHosts(effects), nil
}

// earlier has a capability's call that would be denied for one of its effects end with
// that denial, and not with what is wrong behind a later one: which of them it is tells
// what is there.
func (r *Registry) earlier(c *run, effects []permission.Effect, err error) error {
	if len(c.chain) == 0 {
		return err
	}
	for _, d := range r.config.Permission.Decide(c.request(r.config.Session.ID, effects)) {
		if d.Verdict == permission.Deny {
			return &permission.DeniedError{Decision: d}
		}
	}
	return err
}

// checkNames refuses a file that is another name of a protected one: who opens it for a
// command is not here to look.
func (r *Registry) checkNames(e permission.Effect) error {
	if !e.Kind.IsPath() || e.Kind == permission.Create {
		return nil
	}
	info, err := os.Lstat(e.Target)
	if err != nil || !info.Mode().IsRegular() {
		return nil // what is there is for whoever opens it to say
	}
	return r.config.Paths.CheckLinks(r.config.Paths.Show(e.Target), info)
}

// resolve makes the target of a path effect canonical. A capability learns nothing of
// what lies beyond its ceiling: its path is judged by its name before the file system is
// looked at, ".." in it goes up by name, and a path that leads out of the ceiling is
// denied as that, whatever is wrong with it there.
func (r *Registry) resolve(c *run, e permission.Effect) (permission.Effect, error) {
	paths := r.config.Paths
	if len(c.chain) == 0 {
		resolved, err := paths.Resolve(e)
		return resolved, badPath(err)
	}
	named, err := paths.ByName(e)
	if err != nil {
		return named, badPath(err)
	}
	if err := r.bound(c, named); err != nil {
		return named, err
	}
	resolved, err := paths.Resolve(named)
	if err == nil {
		return resolved, nil
	}
	return resolved, r.unusable(c, resolved)
}

// unusable is why a capability cannot use a path inside its ceiling that leads nowhere.
// It tells a denial from that, and nothing of what is wrong where.
func (r *Registry) unusable(c *run, e permission.Effect) error {
	if beyond := r.bound(c, e); beyond != nil {
		return beyond
	}
	d := r.config.Permission.Decide(c.request(r.config.Session.ID, []permission.Effect{e}))[0]
	if d.Verdict == permission.Deny {
		return &permission.DeniedError{Decision: d}
	}
	return fault.New(fault.InvalidInput, "bad_path", "the path %.200q leads to nothing that could be opened or made", e.Named)
}

// bound denies what no rule and no person can allow.
func (r *Registry) bound(c *run, e permission.Effect) error {
	d, denied := r.config.Permission.Bound(c.request(r.config.Session.ID, []permission.Effect{e}), e)
	if !denied {
		return nil
	}
	return &permission.DeniedError{Decision: d}
}

// badPath gives an error of resolving a path its kind, where it has none.
func badPath(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return fault.New(fault.InvalidInput, "bad_path", "%w", err)
}
