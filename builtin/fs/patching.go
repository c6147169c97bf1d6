package fs

import (
	"context"
	"fmt"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/patch"
	"github.com/aircoding/air/runtime"
)

// maxPatched bounds the content of all files that a patch leaves, in bytes.
const maxPatched = 256 << 20

// patching is a patch on its way.
type patching struct {
	access      *runtime.Access
	changes     []runtime.FileChange
	done        []patch.File // as they apply
	rejected    []patch.File // with the hunks that do not
	firstReject error
	size        int
	work        patch.Work
	out         patchOutput
}

// file works out what becomes of one file. Nothing is changed yet.
func (p *patching) file(ctx context.Context, f *patch.File) error {
	old, err := p.old(ctx, f)
	if err != nil {
		return err
	}
	r := patch.Apply(string(old.content), f.Hunks, &p.work)
	if len(r.Rejects) > 0 {
		p.addRejects(f, old.shown, r.Rejects)
		return p.grow(len(old.content))
	}
	if f.Kind == patch.Delete && r.Content != "" {
		return fault.New(fault.Conflict, "not_emptied", "%s is to be deleted, and it holds more than the patch takes out of it", old.shown).
			WithHint("fs.read it, and make the patch of what it holds now")
	}
	if err := p.grow(len(r.Content)); err != nil {
		return err
	}
	p.change(f, old, r.Content)
	applied := *f
	applied.Hunks = r.Hunks
	p.done = append(p.done, applied)
	return nil
}

// grow bounds what is held, and so what is read.
func (p *patching) grow(size int) error {
	if p.size += size; p.size > maxPatched {
		return fault.New(fault.ResourceExhausted, "patch_size", "the patched files hold more than %d bytes together", maxPatched).WithHint("split the patch")
	}
	return nil
}

// oldFile is what a patch finds.
type oldFile struct {
	content []byte
	shown   string
	sha256  string // "" where there was nothing
}

// old is the file before the patch, which the task has to have read.
func (p *patching) old(ctx context.Context, f *patch.File) (oldFile, error) {
	if ctx.Err() != nil {
		return oldFile{}, context.Cause(ctx)
	}
	if f.Old == "" {
		return oldFile{shown: f.New}, nil
	}
	if f.MayCreate {
		info, err := p.access.Files.Stat(f.Old)
		if err != nil || !info.Exists {
			return oldFile{shown: f.New}, err
		}
	}
	if f.Kind == patch.Delete || f.Kind == patch.Rename {
		info, err := p.access.Files.Stat(f.Old)
		if err != nil {
			return oldFile{}, err
		}
		if info.Type == "symlink" {
			return oldFile{}, fault.New(fault.InvalidInput, "file_type", "%s is a symbolic link: only regular files can be deleted or renamed by a patch", info.Path)
		}
	}
	content, shown, err := readSeen(ctx, p.access, f.Old, "")
	return oldFile{content: content, shown: shown, sha256: digestOf(content)}, err
}

// change adds what has to be done.
func (p *patching) change(f *patch.File, old oldFile, content string) {
	if f.Kind == patch.Delete || f.Kind == patch.Rename {
		p.changes = append(p.changes, runtime.FileChange{Path: f.Old, Delete: true, ExpectSHA256: old.sha256})
	}
	if f.Kind == patch.Delete {
		return
	}
	c := runtime.FileChange{Path: f.New, Content: []byte(content)}
	switch f.Kind {
	case patch.Modify:
		c.ExpectSHA256 = old.sha256
	case patch.Rename, patch.Copy:
		c.Like = f.Old
	}
	if yes, told := f.Executable(); told && yes {
		c.Executable = runtime.IsExecutable
	} else if told {
		c.Executable = runtime.NotExecutable
	}
	p.changes = append(p.changes, c)
}

func (p *patching) addRejects(f *patch.File, shown string, rejects []patch.Reject) {
	rejected := *f
	rejected.Hunks = nil
	for _, r := range rejects {
		h := f.Hunks[r.Hunk]
		rejected.Hunks = append(rejected.Hunks, h)
		if p.firstReject == nil {
			p.firstReject = fmt.Errorf("%s: hunk %d, line %d of the patch, does not apply: %s", shown, r.Hunk+1, h.At, r.Reason)
		}
	}
	p.rejected = append(p.rejected, rejected)
}

// reject keeps the hunks that do not apply.
func (p *patching) reject(ctx context.Context) (any, error) {
	id, err := p.keep(ctx, "patch.rej", p.rejected)
	if err != nil {
		return nil, err
	}
	p.out.RejectedHunksArtifactID = id
	count := 0
	for _, f := range p.rejected {
		count += len(f.Hunks)
	}
	return p.out, fault.New(fault.Conflict, "rejected_hunks", "%w; nothing was changed", p.firstReject).
		WithHint("%d hunks do not apply, artifact %s holds them: fs.read the files, and make the patch of what they hold now", count, id).
		With("rejected_hunks", count)
}
