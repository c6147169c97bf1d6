package runtime

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/gitfile"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/permission"
)

// Repository is the git repository that a folder lies in. All paths are canonical.
type Repository struct {
	Top    string // of its files
	Dir    string // its own git folder
	Common string // the git folder that all worktrees of the repository share
	// Own is true where Common is the folder .git of the project itself.
	Own bool
}

// Repository finds the git repository that a folder lies in, as git does: the nearest one
// upwards. A folder that is a bare repository by itself is none. It is an error of kind
// permission_denied when the repository's own folder lies outside the project, and of kind
// not_found when there is none, or one that begins above the project. Reading the folder
// has to be decided.
func (a *Access) Repository(dir string) (Repository, error) {
	f := &files{registry: a.registry, run: a.run, decisions: a.Commands.decisions}
	e, err := f.decided(permission.Read, dir)
	if err != nil {
		return Repository{}, err
	}
	top, err := a.repositoryTop(e.Target)
	if err != nil {
		return Repository{}, err
	}
	return a.registry.repositoryAt(top)
}

// repositoryTop is the nearest folder upwards that has an entry .git, in the project.
func (a *Access) repositoryTop(dir string) (string, error) {
	paths := a.registry.config.Paths
	none := fault.New(fault.NotFound, "no_repository", "%q lies in no git repository", paths.Show(dir)).WithHint("git init makes one")
	for at := dir; ; at = filepath.Dir(at) {
		inside := paths.InProject(at)
		if !inside && !a.Direct() { // a capability learns nothing of what lies above
			return "", none
		}
		_, err := os.Lstat(filepath.Join(at, ".git"))
		switch {
		case err == nil && inside:
			return at, nil
		case err == nil:
			return "", fault.New(fault.NotFound, "repository_outside", "the top folder of the git repository of %q lies outside the project, whose folder is %s", paths.Show(dir), paths.Root()).
				WithHint("git tools work on repositories inside the project: make the top folder of the repository the project, with air init there")
		case at == "/":
			return "", none
		}
	}
}

// repositoryAt follows what the entry .git of a folder says.
func (r *Registry) repositoryAt(top string) (Repository, error) {
	dir, err := gitfile.Dir(filepath.Join(top, ".git"))
	if err != nil {
		return Repository{}, unreadableRepository(top, err)
	}
	common, err := gitfile.Common(dir)
	if err != nil {
		return Repository{}, unreadableRepository(top, err)
	}
	for _, folder := range []string{dir, common} {
		if !r.config.Paths.InProject(folder) || !slices.Contains(strings.Split(folder, "/"), ".git") {
			return Repository{}, fault.New(fault.PermissionDenied, "foreign_gitdir", "the repository of %q keeps its data in a folder outside the project, or in none that is named .git", r.config.Paths.Show(top)).
				WithHint("a file or link .git that leads elsewhere is not followed: use the repository that it leads to as a project of its own")
		}
	}
	return Repository{Top: top, Dir: dir, Common: common, Own: common == filepath.Join(r.config.Paths.Root(), ".git")}, nil
}

func unreadableRepository(top string, err error) error {
	return fault.New(fault.Integrity, "bad_repository", "the repository at %s cannot be used: %w", top, err)
}

// maxRepositoryConfig bounds what is read of a repository's configuration.
const maxRepositoryConfig = 64 << 10

// Config is the file that configures all worktrees of the repository, of at most 64 KiB.
func (r Repository) Config() (string, error) {
	path := filepath.Join(r.Common, "config")
	fd, err := openCanonical(path, unix.O_RDONLY|safeFlags)
	if err != nil {
		return "", err
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	text, err := regular.ReadFile(file, maxRepositoryConfig)
	return string(text), err
}

// Shown is a canonical path as outputs have it: relative to the project inside it.
func (a *Access) Shown(canonical string) string { return a.registry.config.Paths.Show(canonical) }

// MayRead reports for each path whether what is at it was decided to be read. The paths are
// absolute, clean and go through no links; what is there is not looked at.
func (c Commands) MayRead(paths []string) ([]bool, error) {
	may := make([]bool, len(paths))
	for i, path := range paths {
		e, err := c.registry.config.Paths.ByName(permission.Effect{Kind: permission.Read, Target: path})
		if err != nil {
			return nil, badPath(err)
		}
		may[i] = c.registry.bound(c.run, e) == nil && c.registry.permits(c.run, c.decisions, e) == nil
	}
	return may, nil
}
