package capabilities

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/aircoding/air/runtime/permission"
)

const maxPattern = 512

// checkPermissions refuses scopes that mean nothing or that have no flag to narrow.
func checkPermissions(d PermissionDeclaration, at string, p *problems) {
	s := d.Scopes
	for _, scope := range []struct {
		name, flag string
		list       []string
		has        bool
		check      func(string) string
	}{
		{"read", "read_project", s.Read, d.ReadProject, badPattern(permission.Read)},
		{"write", "write_project", s.Write, d.WriteProject, badPattern(permission.Write)},
		{"commands", "execute_commands", s.Commands, d.ExecuteCommands, badPattern(permission.Run)},
		{"network", "network", s.Network, d.Network, badEndpoint},
		{"tools", "", s.Tools, true, badTool},
		{"secrets", "credentials", s.Secrets, d.Credentials, badSecret},
	} {
		here := at + "/scopes/" + scope.name
		if len(scope.list) > 0 && !scope.has {
			p.add(here, "narrows %s, which is not declared", scope.flag)
		}
		if scope.list != nil && len(scope.list) == 0 && scope.name != "tools" {
			p.add(here, "is an empty list, which means nothing at all: name something or leave it out")
		}
		checkLength(len(scope.list), here, p)
		for i, entry := range scope.list {
			if why := scope.check(entry); why != "" {
				p.add(item(here, i), "%.100q %s", entry, why)
			}
		}
	}
	if d.ProjectOutsideWrite && (!d.WriteProject || len(s.Write) == 0) {
		p.add(at+"/project_outside_write", "also needs write_project and a scopes.write that names the places")
	}
	checkLines(d.GeneratedArtifacts, at+"/generated_artifacts", p)
	checkLines(d.Notes, at+"/notes", p)
}

func checkLines(list []string, at string, p *problems) {
	checkLength(len(list), at, p)
	for i, text := range list {
		if why := badLine(text); why != "" {
			p.add(item(at, i), "%.100q %s", text, why)
		}
	}
}

func badLine(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is empty"
	case len(text) > maxPattern:
		return "is longer than 512 bytes"
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "contains characters that cannot be seen"
	}
	return ""
}

// badPattern refuses what the permission engine would let match nothing.
func badPattern(kind permission.Kind) func(pattern string) string {
	return func(pattern string) string {
		if why := badLine(pattern); why != "" {
			return why
		}
		if err := permission.CheckScope(kind, pattern); err != nil {
			return "is refused: " + err.Error()
		}
		return ""
	}
}

// badEndpoint wants scheme, host and port and nothing else: that is what is compared.
func badEndpoint(endpoint string) string {
	const want = "is no scheme://host:port, such as https://api.example.com:443"
	if badLine(endpoint) != "" {
		return want
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return want
	}
	if port, err := strconv.Atoi(u.Port()); err != nil || port < 1 || port > 65535 {
		return want
	}
	if u.Scheme+"://"+u.Host != endpoint {
		return want
	}
	host, wildcard := strings.CutPrefix(u.Hostname(), "*.")
	if strings.Contains(host, "*") || wildcard && !strings.Contains(host, ".") {
		return "names too many hosts: write the whole name, with *. in front at most"
	}
	return badPattern(permission.Net)(endpoint)
}

func badTool(name string) string {
	if !anyToolName.MatchString(name) || len(name) > maxToolName {
		return "is no tool's name"
	}
	return ""
}

func badSecret(name string) string {
	if !secretName.MatchString(name) {
		return "is no secret's name: letters, digits, dots, hyphens and underscores, at most 128"
	}
	return ""
}

// beyond lists in words what a declaration asks for that a ceiling does not contain.
// A scope is contained when the ceiling has none or names it letter by letter.
func beyond(d, ceiling PermissionDeclaration) []string {
	var out []string
	for _, flag := range []struct {
		name       string
		asked, has bool
	}{
		{"read_project", d.ReadProject, ceiling.ReadProject},
		{"write_project", d.WriteProject, ceiling.WriteProject},
		{"execute_commands", d.ExecuteCommands, ceiling.ExecuteCommands},
		{"network", d.Network, ceiling.Network},
		{"system_sensitive", d.SystemSensitive, ceiling.SystemSensitive},
		{"credentials", d.Credentials, ceiling.Credentials},
		{"project_outside_write", d.ProjectOutsideWrite, ceiling.ProjectOutsideWrite},
	} {
		if flag.asked && !flag.has {
			out = append(out, flag.name)
		}
	}
	for _, scope := range []struct {
		name       string
		asked, has []string
		whole      bool // no scope means everything, not nothing
		flag       bool
	}{
		{"read", d.Scopes.Read, ceiling.Scopes.Read, true, d.ReadProject},
		{"write", d.Scopes.Write, ceiling.Scopes.Write, true, d.WriteProject},
		{"commands", d.Scopes.Commands, ceiling.Scopes.Commands, false, d.ExecuteCommands},
		{"network", d.Scopes.Network, ceiling.Scopes.Network, false, d.Network},
		{"tools", d.Scopes.Tools, ceiling.Scopes.Tools, true, true},
		{"secrets", d.Scopes.Secrets, ceiling.Scopes.Secrets, false, d.Credentials},
	} {
		if scope.flag && len(scope.has) > 0 {
			out = append(out, outside(scope.name, scope.asked, scope.has, scope.whole)...)
		}
	}
	return out
}

func outside(name string, asked, has []string, whole bool) []string {
	if len(asked) == 0 && whole {
		return []string{name + " without a scope"}
	}
	var out []string
	for _, entry := range asked {
		if !slices.Contains(has, entry) {
			out = append(out, name+"("+entry+")")
		}
	}
	return out
}
