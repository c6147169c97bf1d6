package runtime

import (
	"context"
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/permission"
)

const (
	// keptFile bounds a file that is kept before a command changes it, keptBytes all of them.
	keptFile  = 16 << 20
	keptBytes = 64 << 20
	// keptFiles bounds how many.
	keptFiles = 10_000
	// settledFile bounds a file that is looked at after a command.
	settledFile = 64 << 20
)

// kept are the files that a command line was decided to change, as they were before. What
// else it changes in the project nothing brings back, and an undo says so; outside nothing
// is changed that is not kept.
type kept struct {
	commands Commands
	targets  map[string]bool
	files    []keptChange
	bytes    int64
}

// keptChange is one of them.
type keptChange struct {
	target string
	before *backup.State // nil: there was nothing
	number int           // of its record
}

// keepBefore keeps what the launch may change, and has what turns up while it runs kept
// before that goes on.
func (c Commands) keepBefore(ctx context.Context, l *Launch) (*kept, error) {
	k := &kept{commands: c, targets: map[string]bool{}}
	if l.Text == "" {
		return k, nil
	}
	if decide := l.Decide; decide != nil {
		l.Decide = func(ctx context.Context, effects []permission.Effect) error {
			if err := decide(ctx, effects); err != nil {
				return err
			}
			resolved, err := k.resolve(effects)
			if err != nil {
				return err
			}
			return k.keep(ctx, resolved)
		}
	}
	return k, k.keep(ctx, l.Effects)
}

func (k *kept) resolve(effects []permission.Effect) (resolved []permission.Effect, err error) {
	for _, e := range effects {
		if e, err = k.commands.registry.resolve(k.commands.run, e); err != nil {
			return nil, err
		}
		resolved = append(resolved, e)
	}
	return resolved, nil
}

func (k *kept) keep(ctx context.Context, effects []permission.Effect) error {
	for _, e := range effects {
		switch {
		case e.Kind == permission.Run && changesMore(e):
			if err := k.partial(ctx); err != nil {
				return err
			}
		case !e.Kind.IsPath() || e.Kind == permission.Read || k.targets[e.Target]:
		default:
			k.targets[e.Target] = true
			if err := k.keepTarget(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// plain are the programs that change what their words name and nothing else.
var plain = map[string]bool{
	"cp": true, "dd": true, "ln": true, "mkdir": true, "mv": true, "rm": true, "rmdir": true, "sed": true, "tee": true, "touch": true, "truncate": true,
}

// changesMore reports whether a program may change files that no effect names.
func changesMore(e permission.Effect) bool {
	if e.Risk == permission.RiskReadOnly || e.Risk == "" {
		return false
	}
	argv, err := permission.SplitArgv(e.Target)
	return err != nil || len(argv) == 0 || e.Risk == permission.RiskOpaque || !plain[path.Base(argv[0])]
}

// partial has an undo say that there may be more.
func (k *kept) partial(ctx context.Context) error {
	journal, err := k.commands.registry.journal(ctx, k.commands.run, "")
	if err != nil {
		return err
	}
	return journal.Partial()
}

// keepTarget keeps one file. What cannot be kept is left to the command in the project,
// and nowhere else.
func (k *kept) keepTarget(ctx context.Context, e permission.Effect) error {
	why, err := k.tryTarget(ctx, e)
	switch {
	case err != nil || why == "":
		return err
	case outside(e):
		return fault.New(fault.ResourceExhausted, "no_backup", "%s would be changed by the command, and it cannot be kept first: %s", k.commands.registry.config.Paths.Show(e.Target), why).
			WithHint("outside the project nothing is changed without a backup: name single files of at most %d bytes, or have a person change it", keptFile)
	}
	return k.partial(ctx)
}

func outside(e permission.Effect) bool {
	switch e.Class {
	case permission.ClassProject, permission.ClassProtected, permission.ClassObeyed:
		return false
	}
	return true
}

// tryTarget keeps a file, or says why it is none that is kept.
func (k *kept) tryTarget(ctx context.Context, e permission.Effect) (why string, err error) {
	info, err := os.Lstat(e.Target)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		if e.Recursive {
			return "", k.partialIn(ctx, e)
		}
		return "", k.record(ctx, e.Target, nil, nil)
	case err != nil:
		return "", fileFault("looking at "+k.commands.registry.config.Paths.Show(e.Target), err)
	case info.IsDir() && !e.Recursive && e.Kind == permission.Delete:
		return "", k.partial(ctx) // it is removed when it is empty
	case info.IsDir() && !e.Recursive:
		return "", nil
	case e.Recursive:
		return "all in a folder may change", nil
	case !info.Mode().IsRegular():
		return "it is no regular file", nil
	case info.Size() > keptFile || k.bytes+info.Size() > keptBytes || len(k.files) >= keptFiles:
		return "it is too large, or one of too many", nil
	}
	return "", k.keepFile(ctx, e.Target)
}

// partialIn is for a folder that the command makes: undo leaves it.
func (k *kept) partialIn(ctx context.Context, e permission.Effect) error {
	if e.Kind == permission.Delete {
		return nil
	}
	return k.partial(ctx)
}

func (k *kept) keepFile(ctx context.Context, target string) error {
	w, file, state, err := k.look(ctx, target)
	if err != nil || file == nil {
		return err
	}
	defer w.folder.Close()
	defer file.Close()
	k.bytes += state.Size
	return k.record(ctx, target, state, file)
}
