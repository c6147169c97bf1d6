package network

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/gitfile"
	"github.com/aircoding/air/internal/regular"
)

// talking are the commands of git that speak to a remote that its configuration names.
var talking = []string{"fetch", "pull", "push", "ls-remote", "remote", "submodule", "lfs"}

// gitHosts are those of the remotes that a command names, or that git takes where it names
// none, as git-config(1) and git-fetch(1) say. Files that the configuration includes are not
// read.
func gitHosts(a asking) []string {
	words, dir := gitCommand(a.words[1:], a.dir)
	if len(words) == 0 || !slices.Contains(talking, words[0]) {
		return nil
	}
	a.dirs = a.folders(dir)
	folder, config := a.repository()
	urls := addresses(config, words[0] == "push", remotes(config, words[1:], folder))
	if words[0] == "submodule" {
		urls = append(urls, values(a.read(".gitmodules"), "url")...)
	}
	for i, url := range urls {
		urls[i] = withScheme(instead(config, url))
	}
	return urls
}

// gitCommand is the command behind the options of git itself, and the folder that these
// options have it run in.
func gitCommand(words []string, dir string) (command []string, in string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		takesNext := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"}, words[0])
		if words[0] == "-C" && len(words) > 1 {
			dir = from(dir, words[1])
		}
		if takesNext && len(words) > 1 {
			words = words[1:]
		}
		words = words[1:]
	}
	return words, dir
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// repository is the git folder of the closest working tree, and what its configuration says:
// that of a submodule or of a worktree lies elsewhere in the project. One that lies outside
// is not read.
func (a asking) repository() (folder string, config []gitfile.Setting) {
	for _, dir := range a.dirs {
		entry := filepath.Join(dir, ".git")
		if _, err := os.Lstat(entry); err != nil {
			continue
		}
		folder, common, err := a.gitFolders(entry)
		if err != nil {
			return "", nil
		}
		if content, err := regular.Read(filepath.Join(common, "config"), maxConfig, false); err == nil {
			config, _ = gitfile.Settings(string(content)) // git itself says what is wrong with it
			return folder, config
		}
	}
	return "", nil
}

// gitFolders are those that an entry .git leads to: its own, and the one with the
// configuration.
func (a asking) gitFolders(entry string) (own, common string, err error) {
	if own, err = gitfile.Dir(entry); err != nil {
		return "", "", err
	}
	if common, err = gitfile.Common(own); err == nil && !(isBelow(a.Root, own) && isBelow(a.Root, common)) {
		err = os.ErrPermission
	}
	return own, common, err
}

// remotes are the names of those that the words name; otherwise the branch's, or origin.
func remotes(config []gitfile.Setting, words []string, folder string) (names []string) {
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
	checkedOut := branch(folder)
	for _, s := range config {
		if s.Section == "branch" && s.Sub == checkedOut && (s.Key == "remote" || s.Key == "pushremote") {
			names = append(names, s.Value)
		}
	}
	return append(names, "origin")
}

func remoteNames(config []gitfile.Setting) (names []string) {
	for _, s := range config {
		if s.Section == "remote" && (s.Key == "url" || s.Key == "pushurl") {
			names = append(names, s.Sub)
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
func addresses(config []gitfile.Setting, push bool, names []string) (urls []string) {
	for _, name := range names {
		var url, pushURL []string
		for _, s := range config {
			switch {
			case s.Section != "remote" || s.Sub != name:
			case s.Key == "url":
				url = append(url, s.Value)
			case s.Key == "pushurl":
				pushURL = append(pushURL, s.Value)
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
func instead(config []gitfile.Setting, url string) string {
	longest, replaced := "", url
	for _, s := range config {
		if s.Section == "url" && s.Key == "insteadof" && len(s.Value) > len(longest) && strings.HasPrefix(url, s.Value) {
			longest, replaced = s.Value, s.Sub+url[len(s.Value):]
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
