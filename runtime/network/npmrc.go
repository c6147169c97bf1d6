package network

import "strings"

// NpmEnvironment says by variables what the files .npmrc of a project say about where
// packages come from: commands do not see these files, which may hold a token. The closest
// to dir counts.
func (c Configured) NpmEnvironment(dir string) (pairs []string) {
	seen := map[string]bool{}
	for _, s := range (asking{Configured: c, dirs: c.folders(dir)}).read(".npmrc") {
		if (s.key == "registry" || strings.HasSuffix(s.key, ":registry")) && !seen[s.key] && isPlainURL(s.value) {
			seen[s.key] = true
			pairs = append(pairs, "npm_config_"+s.key+"="+s.value)
		}
	}
	return pairs
}

// isPlainURL reports whether a text is the URL of a host, and nobody's name or password.
func isPlainURL(text string) bool {
	return len(effects([]string{text})) == 1 && !strings.ContainsAny(text, "@ \t\x00$")
}
