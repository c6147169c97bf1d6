package capabilities

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aircoding/air/internal/schema"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/resources"
	"github.com/aircoding/air/runtime/event"
)

const (
	maxText  = 4096 // characters of a description
	maxTitle = 128  // characters of a name
	maxList  = 128  // entries of a list
)

// validate reports everything that a manifest of the right shape still has wrong.
func validate(m *Manifest, p *problems) {
	checkHead(m, p)
	checkNames(m, p)
	checkEntrypoint(m.Entrypoint, p)
	checkPermissions(m.Permissions, "/permissions", p)
	checkTools(m, p)
	checkEvents(m, p)
	checkArtifactTypes(m.ArtifactTypes, p)
	checkDependencies(m.Dependencies, p)
	if m.ConfigSchema != nil {
		checkSchema(m.ConfigSchema, "/config_schema", p)
	}
}

func checkHead(m *Manifest, p *problems) {
	if m.SchemaVersion != 1 {
		p.add("/schema_version", "is %d, this air knows 1", m.SchemaVersion)
	}
	checkShown(m.DisplayName, maxTitle, "/display_name", p)
	checkShown(m.Description, maxText, "/description", p)
	checkCharacters(m.Publisher, maxTitle, "/publisher", p)
	if !versionText.MatchString(m.Version) {
		p.add("/version", "%.80q is no version: letters, digits, dots, plus, hyphens and underscores, at most 64, such as 1.2.0", m.Version)
	}
	checkClaims(m, p)
}

// checkClaims refuses levels that nobody can claim for themselves: one comes with air,
// the other from a signature.
func checkClaims(m *Manifest, p *problems) {
	switch level := m.TrustLevel; {
	case level == BuiltIn || level == VerifiedPublisher:
		p.add("/trust_level", "a manifest cannot claim %q: the level is computed from where the capability comes from", level)
	case level != ProjectLocal && level != UserInstalled && level != Untrusted:
		p.add("/trust_level", "%.60q is none of project_local, user_installed, untrusted", level)
	}
	if m.Source.Kind == "built_in" {
		p.add("/source/kind", "a manifest cannot claim %q: only air's own capabilities are part of it", m.Source.Kind)
		return
	}
	checkSource(m.Source, "/source", p)
}

// sourceFields are the fields that each kind of source has; the first ones it must have.
var sourceFields = map[string]struct{ must, may []string }{
	"local_path": {must: []string{"path"}},
	"git":        {must: []string{"url"}, may: []string{"ref"}},
	"registry":   {must: []string{"registry_id", "package", "version"}},
}

func checkSource(s Source, at string, p *problems) {
	fields, known := sourceFields[s.Kind]
	if !known {
		p.add(at+"/kind", "%.60q is none of local_path, git, registry", s.Kind)
		return
	}
	given := map[string]string{"path": s.Path, "url": s.URL, "ref": s.Ref, "registry_id": s.RegistryID, "package": s.Package, "version": s.Version}
	for _, name := range fields.must {
		if given[name] == "" {
			p.add(at+"/"+name, "is missing: a source of kind %s has it", s.Kind)
		}
		delete(given, name)
	}
	for _, name := range fields.may {
		delete(given, name)
	}
	for name, value := range given {
		if value != "" {
			p.add(at+"/"+name, "a source of kind %s has no %s", s.Kind, name)
		}
	}
}

func checkEvents(m *Manifest, p *problems) {
	own := "capability." + m.CapabilityID + "."
	for i, name := range m.Events.Produced {
		if !strings.HasPrefix(name, own) || !event.IsCustom(name) {
			p.add(item("/events/produced", i), "%.128q: a capability's own events are named %s and lower-case words joined by dots", name, own)
		}
	}
	for i, name := range m.Events.Consumed {
		if !eventName.MatchString(name) || len(name) > 256 {
			p.add(item("/events/consumed", i), "%.128q is no event name", name)
		}
	}
	checkLength(len(m.Events.Produced), "/events/produced", p)
	checkLength(len(m.Events.Consumed), "/events/consumed", p)
}

func checkArtifactTypes(types []string, p *problems) {
	seen := map[string]bool{}
	for i, t := range types {
		if !artifactType.MatchString(t) {
			p.add(item("/artifact_types", i), "%.80q is no artifact type: a lower-case letter, then letters, digits, hyphens and underscores, at most 32", t)
		}
		if seen[t] {
			p.add(item("/artifact_types", i), "%.80q is listed twice", t)
		}
		seen[t] = true
	}
	checkLength(len(types), "/artifact_types", p)
}

// checkSchema compiles a schema as it will be compiled when it is used.
func checkSchema(doc []byte, at string, p *problems) {
	if _, err := schema.Compile(doc); err != nil {
		p.add(at, "%v", err)
	}
}

// checkOwnSchema holds the published schema of a document of ours against one that
// every other check has passed: the two must not say different things.
func checkOwnSchema(kind string, doc []byte, p *problems) {
	published, err := resources.Schema(kind)
	if err != nil {
		p.add("", "%v", err)
		return
	}
	s, err := schema.Compile(published)
	if err == nil {
		err = s.Validate(doc)
	}
	if err == nil {
		return
	}
	for line := range strings.Lines(err.Error()) {
		p.addLocated(strings.TrimSuffix(line, "\n"))
	}
}

// checkShown wants a text in which people see something.
func checkShown(shown string, limit int, at string, p *problems) {
	if text.Line(shown, limit) == "" {
		p.add(at, "is empty")
	}
	checkCharacters(shown, limit, at, p)
}

func checkCharacters(shown string, limit int, at string, p *problems) {
	if n := utf8.RuneCountInString(shown); n > limit {
		p.add(at, "has %d characters, the limit is %d", n, limit)
	}
}

func checkLength(n int, at string, p *problems) {
	if n > maxList {
		p.add(at, "has %d entries, the limit is %d", n, maxList)
	}
}

// item is the pointer of one entry of a list.
func item(list string, i int) string { return list + "/" + strconv.Itoa(i) }
