package capabilities

import (
	"context"
	"slices"
	"strings"
)

// comparePowers compares what two manifests allow once they are consented to, one thing at
// a time. A narrower pattern in place of a wider one counts as both new and gone: patterns
// are compared letter by letter.
func comparePowers(_ context.Context, _ *textDiff, before, after Side) (lines, more []string) {
	was, is := powers(before.Manifest), powers(after.Manifest)
	for _, p := range is {
		if slices.Contains(was, p) {
			continue
		}
		lines = append(lines, "+ "+p.String())
		if !p.within(was) {
			more = append(more, p.String())
		}
	}
	for _, p := range was {
		if !slices.Contains(is, p) {
			lines = append(lines, "- "+p.String())
		}
	}
	return lines, more
}

// power is one thing that a capability may do: an act, and what it may be done to.
type power struct{ act, what string }

const (
	readInside  = "read in the project"
	readAll     = "read every file of the project but protected ones (.git, .env, keys)"
	writeInside = "create, change and delete in the project"
	writeAll    = "create, change and delete every file of the project but protected ones"
	callOwn     = "call air's own tools for what it may do, and no other capability's"
	callTool    = "call the tools"
	publish     = "publish the events"
	store       = "store artifacts of the types"
)

func (p power) String() string {
	if p.what == "" {
		return p.act
	}
	return p.act + ": " + shown(p.what)
}

// within reports whether what was allowed contained p already, in other words.
func (p power) within(was []power) bool {
	switch p.act {
	case onlyInput:
		return true
	case readInside:
		return slices.Contains(was, power{readAll, ""})
	case writeInside:
		return slices.Contains(was, power{writeAll, ""})
	case callTool:
		return slices.Contains(was, power{callOwn, ""}) && isReserved(ownerOf(p.what))
	}
	return false
}

func powers(m *Manifest) []power {
	var all []power
	add := func(has bool, act string, what ...string) {
		for _, w := range what {
			if has {
				all = append(all, power{act, w})
			}
		}
	}
	if !m.abi().KnowsAir() {
		return []power{{onlyInput, ""}}
	}
	p, s := m.Permissions, m.Permissions.Scopes
	readIn, readOut := places(s.Read)
	writeIn, writeOut := places(s.Write)
	add(p.ReadProject && s.Read == nil, readAll, "")
	add(p.ReadProject, readInside, readIn...)
	add(p.ReadProject, "read OUTSIDE the project", readOut...)
	add(p.WriteProject && s.Write == nil, writeAll, "")
	add(p.WriteProject, writeInside, writeIn...)
	add(p.WriteProject && p.ProjectOutsideWrite, "create, change and delete OUTSIDE the project", writeOut...)
	add(p.ExecuteCommands, "run the commands", s.Commands...)
	add(p.Network, "talk to", s.Network...)
	add(p.Credentials, "have these secrets put into its requests, without seeing them", s.Secrets...)
	add(p.Credentials, "ask for files that hold credentials, each time after a question", "")
	add(p.SystemSensitive, "ask for what concerns the whole machine, each time after a question", "")
	add(true, callTool, s.Tools...)
	add(s.Tools == nil && len(all) > 0, callOwn, "")
	add(true, publish, m.Events.Produced...)
	add(true, store, m.ArtifactTypes...)
	return all
}

// compareDeclared compares what the permissions say word for word, such as a flag that
// gives nothing without a scope.
func compareDeclared(_ context.Context, _ *textDiff, before, after Side) (lines, more []string) {
	b, a := before.Manifest, after.Manifest
	bs, as := b.Permissions.Scopes, a.Permissions.Scopes
	for _, list := range []struct {
		name    string
		was, is []string
	}{
		{"", flagNames(b.Permissions), flagNames(a.Permissions)},
		{"would like to see the event: ", b.Events.Consumed, a.Events.Consumed},
		{"generates: ", b.Permissions.GeneratedArtifacts, a.Permissions.GeneratedArtifacts},
		{"notes: ", b.Permissions.Notes, a.Permissions.Notes},
		{"scope read: ", bs.Read, as.Read}, {"scope write: ", bs.Write, as.Write}, {"scope commands: ", bs.Commands, as.Commands},
		{"scope network: ", bs.Network, as.Network}, {"scope tools: ", bs.Tools, as.Tools}, {"scope secrets: ", bs.Secrets, as.Secrets},
		{"events produced: ", b.Events.Produced, a.Events.Produced}, {"artifact types: ", b.ArtifactTypes, a.ArtifactTypes},
	} {
		lines = appendSet(lines, list.name, list.was, list.is)
	}
	return lines, nil
}

func flagNames(p PermissionDeclaration) []string { return beyond(p, PermissionDeclaration{}) }

// appendSet adds what is in one list and not in the other.
func appendSet(lines []string, name string, was, is []string) []string {
	before := len(lines)
	for _, x := range is {
		if !slices.Contains(was, x) {
			lines = append(lines, "+ "+name+shown(x))
		}
	}
	for _, x := range was {
		if !slices.Contains(is, x) {
			lines = append(lines, "- "+name+shown(x))
		}
	}
	if len(lines) == before && !slices.Equal(was, is) {
		lines = append(lines, "~ "+name+"the same in another order: "+shown(strings.Join(is, ", ")))
	}
	return lines
}
