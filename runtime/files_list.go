package runtime

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// Each visits what is in a folder. What a rule denies to read is left out; what would
// be asked about is shown, as the name and size that it has in the folder.
func (f *files) Each(path string, visit func(Info) error) error {
	e, err := f.decided(permission.Read, path)
	if err != nil {
		return err
	}
	folder, err := openFolder(e.Target)
	if errors.Is(err, unix.ENOTDIR) {
		return fault.New(fault.InvalidInput, "not_a_directory", "%s is not a folder", f.show(e.Target))
	}
	if err != nil {
		return f.fault("opening", e.Target, err)
	}
	defer folder.Close()
	for {
		names, err := folder.Readdirnames(entryBatch)
		if err := f.visitBatch(folder, e, names, visit); err != nil {
			return err
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return f.fault("listing", e.Target, err)
		}
	}
}

// entryBatch bounds how many entries of a folder are held and decided at a time.
const entryBatch = 256

func (f *files) visitBatch(folder *os.File, dir permission.Effect, names []string, visit func(Info) error) error {
	infos, effects := make([]Info, 0, len(names)), make([]permission.Effect, 0, len(names))
	for _, name := range names {
		if info, e, ok := f.entry(folder, dir.Target, name); ok {
			infos, effects = append(infos, info), append(effects, e)
		}
	}
	decisions := f.registry.config.Permission.Decide(f.run.request(f.registry.config.Session.ID, effects))
	for i, info := range infos {
		if decisions[i].Verdict == permission.Deny {
			continue
		}
		if err := visit(info); err != nil {
			return err
		}
	}
	return nil
}

// entry looks at a name in an open folder with a canonical path, and names the effect of
// reading it. Only a link has to be followed for that: the path of anything else is
// canonical, as that of the folder is. ok is false for what is gone, or has no such path.
func (f *files) entry(folder *os.File, dir, name string) (info Info, e permission.Effect, ok bool) {
	canonical := strings.TrimSuffix(dir, "/") + "/" + name
	info, err := f.describe(folder, canonical)
	if err != nil || !info.Exists {
		return info, e, false
	}
	if info.Type != "symlink" {
		e, err = f.registry.config.Paths.Entry(canonical)
		return info, e, err == nil
	}
	e, _ = f.registry.resolve(f.run, permission.Effect{Kind: permission.Read, Target: canonical}) // one that leads nowhere is decided as far as it leads
	return info, e, true
}
