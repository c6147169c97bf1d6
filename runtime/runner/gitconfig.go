package runner

import (
	"slices"
	"strings"
)

// harmlessKeys are the settings by section that git itself writes into a new repository, and
// by which it runs nothing.
var harmlessKeys = map[string][]string{
	"core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "symlinks", "ignorecase", "precomposeunicode"},
	"init": {"defaultbranch"}, "user": {"name", "email"}, "extensions": {"objectformat", "refstorage"},
	"remote": {"url", "fetch", "tagopt"}, "branch": {"remote", "merge", "rebase"}, "submodule": {"url", "active"},
}

// harmlessConfig reports whether each line of a file of settings is one of git's own plain
// ones. What it does not know is not harmless.
func harmlessConfig(text string) bool {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case strings.HasPrefix(line, "["):
			name, closed := strings.CutSuffix(line[1:], "]")
			section, _, _ = strings.Cut(strings.ToLower(name), " ")
			if _, known := harmlessKeys[section]; !known || !closed || strings.Contains(name, "]") {
				return false
			}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if !slices.Contains(harmlessKeys[section], strings.ToLower(strings.TrimSpace(key))) || !plainSetting(strings.TrimSpace(value)) {
			return false
		}
	}
	return text != ""
}

// plainSetting refuses a value that goes on in the next line, and addresses that are commands
// or options.
func plainSetting(value string) bool {
	return !strings.HasSuffix(value, `\`) && !strings.Contains(value, "::") && !strings.HasPrefix(strings.Trim(value, `"`), "-")
}
