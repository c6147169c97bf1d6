package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lead gives a path in the project the class of a name by which a link led there, where
// that is stricter: what is closed, or obeyed, under a name is so wherever it lies.
func (p *Paths) lead(e *Effect, links []string) {
	if e.Kind != Read && e.Kind != Delete && p.isAboveObeyed(e.Target) {
		e.sharpen(ClassObeyed)
	}
	for _, name := range links {
		if !p.InProject(name) {
			continue
		}
		e.sharpen(p.classByName(name, e.Kind))
		if e.Kind != Read && p.isAboveObeyed(name) {
			e.sharpen(ClassObeyed)
		}
	}
}

// strictness orders the classes that lie in a project.
var strictness = []Class{ClassProject, ClassObeyed, ClassProtected, ClassForbidden}

func (e *Effect) sharpen(class Class) {
	if now := slices.Index(strictness, e.Class); now >= 0 && slices.Index(strictness, class) > now {
		e.Class, e.Led = class, true
	}
}

// isAboveObeyed reports whether a path in the project is that of a folder in which others
// look for what they obey. What becomes one as a whole, as a link, brings that along.
func (p *Paths) isAboveObeyed(canonical string) bool {
	rel, ok := p.projectPath(canonical, fold(canonical))
	return ok && slices.ContainsFunc(obeyedPaths, func(path string) bool {
		return strings.HasSuffix("/"+fold(rel), "/"+path[:strings.IndexByte(path, '/')])
	})
}

// repositoryNames are those in a repository of git by which git runs something, or which
// make a folder one; of a folder, all in it.
var repositoryNames = []string{"head", "config", "config.worktree", "commondir", "objects", "refs", "hooks"}

// MarkRepositories finds among resolved effects the writes to what is a repository of git
// whatever its name is, for it holds HEAD, objects and refs, or HEAD and commondir: git
// obeys it for who works there. What is written to one is protected, and what makes a
// folder one, together with the other effects, is obeyed.
func (p *Paths) MarkRepositories(effects []Effect) {
	made := map[string]bool{}
	for i := range effects {
		if e := &effects[i]; e.Kind == Create && e.Class == ClassProject {
			for at := e.Target; !made[at] && p.InProject(at); at = filepath.Dir(at) {
				made[at] = true
			}
		}
	}
	for i := range effects {
		e := &effects[i]
		if !e.Kind.IsPath() || e.Kind == Read || e.Class != ClassProject && e.Class != ClassObeyed {
			continue
		}
		for _, dir := range repositoryFolders(e.Target, p.root) {
			switch {
			case HoldsRepository(dir):
				e.sharpen(ClassProtected)
			case e.Kind != Delete && isRepository(dir, func(path string) bool { return made[path] || isThere(path) }):
				e.sharpen(ClassObeyed)
			}
		}
	}
}

// repositoryFolders are those that a path would be a part of, were they repositories.
func repositoryFolders(canonical, root string) (dirs []string) {
	for at := canonical; at != root && at != "/"; at = filepath.Dir(at) {
		if slices.Contains(repositoryNames, fold(filepath.Base(at))) {
			dirs = append(dirs, filepath.Dir(at))
		}
	}
	return dirs
}

// HoldsRepository reports whether git takes a folder for a repository, whatever its name is.
func HoldsRepository(dir string) bool { return isRepository(dir, isThere) }

func isRepository(dir string, there func(path string) bool) bool {
	return there(dir+"/HEAD") && (there(dir+"/objects") && there(dir+"/refs") || there(dir+"/commondir"))
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
