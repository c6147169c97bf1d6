package network

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/permission"
)

// Configured reads which hosts a package manager or git needs, from where that reads it: its
// command line, the environment, and its files in the project and in the home of commands.
// Nothing is executed. What a program does by itself where nothing is configured is not known
// here, and what cannot be read adds nothing: then the host is decided when it is asked for.
type Configured struct {
	Root   string              // the project's folder, canonical; "" for none
	Home   string              // the home that commands find; "" for none
	Trees  string              // the folder that other working trees of the project lie in; "" for none
	Getenv func(string) string // of the person, from whom commands have the variables asked for
}

const (
	maxConfig     = 256 << 10 // bytes of a file
	maxConfigured = 16        // hosts of one command
	maxFolders    = 32        // between a folder and the project's
)

// asking is one command whose hosts are looked for.
type asking struct {
	Configured
	words []string // the program and its arguments
	dir   string   // that it starts in, canonical
	dirs  []string // where its files may be, the closest first
}

// managers are the programs whose configuration is known.
var managers = map[string]func(asking) []string{
	"go":  goHosts,
	"npm": npmHosts, "npx": npmHosts, "pnpm": npmHosts, "pnpx": npmHosts, "bun": npmHosts, "bunx": npmHosts, "yarn": npmHosts, "corepack": npmHosts,
	"pip": pipHosts, "pip3": pipHosts, "pipx": pipHosts, "poetry": pipHosts, "uv": uvHosts, "uvx": uvHosts,
	"cargo": cargoHosts,
	"git":   gitHosts,
}

// Hosts are those that the program of a run effect needs in its folder. It is for
// runtime.Config.
func (c Configured) Hosts(e permission.Effect) []permission.Effect {
	words, err := permission.SplitArgv(e.Target)
	if err != nil || len(words) == 0 {
		return nil
	}
	words = withoutPython(words)
	find := managers[path.Base(words[0])]
	if find == nil {
		return nil
	}
	return effects(find(asking{Configured: c, words: words, dir: e.Dir, dirs: c.folders(e.Dir)}))
}

// withoutPython takes python -m pip for pip.
func withoutPython(words []string) []string {
	if strings.HasPrefix(path.Base(words[0]), "python") && len(words) > 2 && words[1] == "-m" {
		return words[2:]
	}
	return words
}

// folders are dir and those above it in the project, or in another working tree of it; of a
// folder elsewhere, the project's.
func (c Configured) folders(dir string) (all []string) {
	if c.Root == "" {
		return nil
	}
	top := c.Root
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if c.Trees != "" && isBelow(c.Trees, dir) && dir != c.Trees {
		name, _, _ := strings.Cut(strings.TrimPrefix(dir, c.Trees+"/"), "/")
		top = filepath.Join(c.Trees, name)
	}
	for at := dir; len(all) < maxFolders && at != top && isBelow(top, at); at = filepath.Dir(at) {
		all = append(all, at)
	}
	return append(all, top)
}

func isBelow(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// effects are those of reaching URLs; what is none that a proxy lets through, or that git
// speaks over ssh, is left out.
func effects(urls []string) (all []permission.Effect) {
	for _, text := range urls {
		e, err := permission.NetTarget(withoutPath(text))
		known := err == nil && (strings.HasPrefix(e.Target, "http") || strings.HasPrefix(e.Target, "ssh://"))
		same := func(have permission.Effect) bool { return have.Target == e.Target }
		if known && len(all) < maxConfigured && !slices.ContainsFunc(all, same) {
			all = append(all, e)
		}
	}
	return all
}

// withoutPath is the scheme and host of a URL, without a user's name and password: they are
// not what is decided.
func withoutPath(url string) string {
	url = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(url), "sparse+"), "git+")
	scheme, rest, found := strings.Cut(url, "://")
	if !found {
		return ""
	}
	rest = rest[:strings.IndexAny(rest+"/", "/?#")]
	return strings.ToLower(scheme) + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
}

// read returns the settings of files in the folders, those of the closest first.
func (a asking) read(names ...string) (all []setting) {
	for _, dir := range a.dirs {
		for _, name := range names {
			all = append(all, readSettings(filepath.Join(dir, name))...)
		}
	}
	return all
}

// readHome returns those of a file in the home of commands.
func (a asking) readHome(name string) []setting {
	if a.Home == "" {
		return nil
	}
	return readSettings(filepath.Join(a.Home, name))
}

func readSettings(file string) []setting {
	content, err := regular.Read(file, maxConfig, false)
	if err != nil {
		return nil
	}
	return settings(string(content))
}

// env is a variable of the person's environment, the first of these that is set.
func (a asking) env(names ...string) string {
	for _, name := range names {
		if a.Getenv == nil {
			break
		}
		if value := a.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// given are the URLs on the command line: those behind one of the options, which take the
// place of what is configured, and the others.
func (a asking) given(options ...string) (instead, besides []string) {
	for i, w := range a.words[1:] {
		name, value, joined := strings.Cut(w, "=")
		behind := i > 0 && slices.Contains(options, a.words[i])
		switch {
		case joined && slices.Contains(options, name):
			instead = append(instead, value)
		case behind:
			instead = append(instead, w)
		default:
			if at := strings.Index(w, "http"); at >= 0 && strings.Contains(w[at:], "://") {
				besides = append(besides, w[at:])
			}
		}
	}
	return instead, besides
}
