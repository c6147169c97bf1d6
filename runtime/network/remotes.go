package network

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/regular"
)

// talking are the commands of git that speak to a remote that its configuration names.
var talking = []string{"fetch", "pull", "push", "ls-remote", "remote", "submodule", "lfs"}

// gitHosts are those of the remotes that a command names, or that git takes where it names
// none, as git-config(1) and git-fetch(1) say. Files that the configuration includes are not
// read.
func gitHosts(a asking) []string {
	at := slices.IndexFunc(a.words, func(w string) bool { return slices.Contains(talking, w) })
	if at < 0 {
		return nil
	}
	folder, config := a.repository()
	urls := addresses(config, a.words[at] == "push", remotes(config, a.words[at+1:], folder))
	if a.words[at] == "submodule" {
		urls = append(urls, values(a.read(".gitmodules"), "url")...)
	}
	for i, url := range urls {
		urls[i] = withScheme(instead(config, url))
	}
	return urls
}

// repository is the closest folder .git, and what its configuration says.
func (a asking) repository() (folder string, config []setting) {
	for _, dir := range a.dirs {
		folder = filepath.Join(dir, ".git")
		if config = readSettings(filepath.Join(folder, "config")); config != nil {
			return folder, config
		}
	}
	return "", nil
}

// remotes are the names of those that the words name; otherwise the branch's, or origin.
func remotes(config []setting, words []string, folder string) (names []string) {
	all := remoteNames(config)
	if slices.Contains(words, "--all") || slices.Contains(words, "--multiple") {
		return all
	}
	for _, name := range all {
		if slices.Contains(words, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return names
	}
	for _, s := range config {
		if s.section == `branch "`+branch(folder)+`"` && (s.key == "remote" || strings.EqualFold(s.key, "pushRemote")) {
			names = append(names, s.value)
		}
	}
	return append(names, "origin")
}

func remoteNames(config []setting) (names []string) {
	for _, s := range config {
		if name, ok := strings.CutPrefix(s.section, `remote "`); ok && (s.key == "url" || strings.EqualFold(s.key, "pushurl")) {
			names = append(names, strings.TrimSuffix(name, `"`))
		}
	}
	return names
}

// branch is the one that is checked out, "" for none.
func branch(folder string) string {
	head, err := regular.Read(filepath.Join(folder, "HEAD"), maxConfig, false)
	if err != nil {
		return ""
	}
	name, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	return name
}

// addresses are the URLs of remotes. To push, another one may be set.
func addresses(config []setting, push bool, names []string) (urls []string) {
	for _, name := range names {
		var url, pushURL []string
		for _, s := range config {
			switch {
			case s.section != `remote "`+name+`"`:
			case s.key == "url":
				url = append(url, s.value)
			case strings.EqualFold(s.key, "pushurl"):
				pushURL = append(pushURL, s.value)
			}
		}
		if push && len(pushURL) > 0 {
			url = pushURL
		}
		urls = append(urls, url...)
	}
	return urls
}

// instead is what git uses in place of a URL: the longest prefix that the configuration
// replaces counts.
func instead(config []setting, url string) string {
	longest, replaced := "", url
	for _, s := range config {
		base, ok := strings.CutPrefix(s.section, `url "`)
		if ok && strings.EqualFold(s.key, "insteadOf") && len(s.value) > len(longest) && strings.HasPrefix(url, s.value) {
			longest, replaced = s.value, strings.TrimSuffix(base, `"`)+url[len(s.value):]
		}
	}
	return replaced
}

// withScheme writes user@host:path, which git reaches by ssh, as a URL.
func withScheme(url string) string {
	host, path, found := strings.Cut(url, ":")
	if strings.Contains(url, "://") || !found || path == "" || strings.Contains(host, "/") {
		return url
	}
	return "ssh://" + host
}
