package git

import (
	"context"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// settings are names of git's configuration that would have it execute something, reach a
// network, or change what it is asked to do, with values under which it does not.
// https://git-scm.com/docs/git-config
var settings = []string{
	"core.hooksPath", "/dev/null",
	"core.fsmonitor", "false",
	"core.attributesFile", "/dev/null",
	"core.excludesFile", "/dev/null",
	"core.pager", "cat",
	"core.editor", "false",
	"core.askPass", "false",
	"core.sshCommand", "false",
	"core.gitProxy", "",
	"core.alternateRefsCommand", "false",
	"credential.helper", "",
	"protocol.allow", "never",
	"diff.external", "",
	"diff.submodule", "short",
	"diff.ignoreSubmodules", "dirty",
	"diff.relative", "false",
	"status.submoduleSummary", "false",
	"submodule.recurse", "false",
	"merge.default", "text",
	"merge.renormalize", "false",
	"merge.verifySignatures", "false",
	"commit.gpgSign", "false",
	"gpg.program", "false",
	"gpg.ssh.program", "false",
	"gpg.ssh.defaultKeyCommand", "false",
	"gpg.x509.program", "false",
	"log.showSignature", "false",
	"branch.autoSetupMerge", "false",
	"worktree.guessRemote", "false",
	"gc.auto", "0",
	"maintenance.auto", "false",
	// The person chose the project, and nothing of the repository is executed: whose it is
	// does not matter.
	"safe.directory", "*",
	"safe.bareRepository", "explicit",
}

// drivers are the ends of names under which a repository configures programs of its own,
// by the section that they are in. A filter without a program changes nothing; anything
// else fails rather than being left out.
var drivers = map[string]map[string]string{
	"filter":     {"clean": "", "smudge": "", "process": "", "required": "false"},
	"merge":      {"driver": "false"},
	"diff":       {"command": "false", "textconv": "false"},
	"remote":     {"promisor": "false", "uploadpack": "false", "receivepack": "false", "vcs": "false", "proxy": ""},
	"gpg":        {"program": "false"},
	"credential": {"helper": ""},
	"protocol":   {"allow": "never"},
	"submodule":  {"update": "none"},
	"hook":       {"command": "false", "event": "", "enabled": "false"},
}

const (
	maxNames    = 20_000 // settings of a repository
	maxPrograms = 500    // among them that name a program; an environment holds no more than 1,000
)

// disarm reads which names the repository configures, with all that it includes, and has
// those that name programs stand for none. Reading them executes nothing. Git is not asked
// where a plain configuration names no program: there are no others, see environment.
func (r *repo) disarm(ctx context.Context) error {
	r.settings = settings
	text, err := r.at.Config()
	if names, plain := plainNames(text); err == nil && plain && len(overrides(names)) == 0 {
		return nil
	}
	out, err := r.must(ctx, call{args: []string{"config", "--list", "--null", "--name-only", "--includes"}, top: true, whole: true, limit: 4 << 20})
	if err != nil {
		return err
	}
	names := fields(out)
	if len(names) > maxNames {
		return fault.New(fault.ResourceExhausted, "git_config", "the repository has %d settings, the limit is %d", len(names), maxNames)
	}
	programs := overrides(names)
	if len(programs)/2 > maxPrograms {
		return fault.New(fault.ResourceExhausted, "git_config", "the repository configures %d programs, the limit is %d", len(programs)/2, maxPrograms)
	}
	r.settings = append(settings[:len(settings):len(settings)], programs...)
	return nil
}

// overrides are the names among those of a configuration that have to stand for nothing,
// each once, with their values.
func overrides(names []string) []string {
	var found []string
	seen := map[string]bool{}
	for _, name := range names {
		section, rest, _ := strings.Cut(name, ".")
		dot := strings.LastIndexByte(rest, '.')
		if dot < 0 || seen[name] {
			continue
		}
		if value, isProgram := drivers[section][rest[dot+1:]]; isProgram {
			seen[name] = true
			found = append(found, name, value)
		}
	}
	return found
}

// environment is all that git is told beside its arguments. The settings are in it because
// as an argument a name that contains = would end there.
func (r *repo) environment() map[string]string {
	env := map[string]string{
		"GIT_DIR": r.at.Dir, "GIT_WORK_TREE": r.at.Top,
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ATTR_NOSYSTEM": "1",
		"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0",
		"GIT_PAGER": "cat", "GIT_EDITOR": "false", "GIT_SEQUENCE_EDITOR": "false", "GIT_ASKPASS": "false", "GIT_SSH_COMMAND": "false",
		"GIT_CONFIG_COUNT": strconv.Itoa(len(r.settings) / 2), "LC_ALL": "C.UTF-8",
	}
	for i := 0; i < len(r.settings); i += 2 {
		n := strconv.Itoa(i / 2)
		env["GIT_CONFIG_KEY_"+n], env["GIT_CONFIG_VALUE_"+n] = r.settings[i], r.settings[i+1]
	}
	return env
}
