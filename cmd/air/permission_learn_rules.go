package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// ruleChange is a rule file with what is to be added.
type ruleChange struct {
	File  string     `json:"file"`
	Rules []ruleView `json:"rules"`

	texts    []permission.RuleText
	project  bool
	before   []byte // nil: there is no file
	after    []byte
	accepted bool // a person has accepted it as it was, or there was none
}

// ruleView is a rule as it is shown.
type ruleView struct {
	Allow string `json:"allow"`
	For   string `json:"for,omitempty"`
}

// shown is one line for each rule.
func (f *ruleChange) shown() string {
	var b strings.Builder
	for _, r := range f.Rules {
		b.WriteString("\n  allow: " + oneLine(r.Allow))
		if r.For != "" {
			b.WriteString("  for: " + oneLine(r.For))
		}
	}
	return b.String()
}

// draft reads a rule file and fills in what it will be.
func (l *lesson) draft(f *ruleChange) (err error) {
	if f.before, err = f.read(); err != nil {
		return err
	}
	if f.project {
		accepted, err := permission.LoadAcceptance(l.at.project)
		if err != nil {
			return err
		}
		f.accepted = f.before == nil || accepted.Covers("permissions.yaml", f.before)
	}
	tier := permission.TierUser
	if f.project {
		tier = permission.TierProject
	}
	f.after, err = permission.AppendRules(f.File, f.before, tier, f.texts, l.paths)
	return err
}

// read returns nil where there is no file.
func (f *ruleChange) read() ([]byte, error) {
	text, err := regular.Read(f.File, maxRuleFile, !f.project)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "bad_rules", "reading rules: %w", err)
	}
	return append([]byte{}, text...), nil
}

// prove tries the rules: those that are asked about all the same are named.
func (l *lesson) prove(asked []permission.Request) error {
	drafts := map[bool]string{}
	for _, f := range l.files {
		file, remove, err := temporary(f.after)
		if err != nil {
			return err
		}
		defer remove()
		drafts[f.project] = file
	}
	trial, err := l.app.permissions(l.at, l.paths, func(o *permission.Options) {
		o.GrantsFile = ""
		if file := drafts[false]; file != "" {
			o.UserFile = file
		}
		if file := drafts[true]; file != "" {
			o.ProjectFile, o.Accepted = file, func([]byte) bool { return true }
		}
	})
	if err != nil {
		return err
	}
	for _, r := range asked {
		for _, d := range trial.Decide(r) {
			if d.Verdict != permission.Allow && !slices.Contains(l.open, d.Effect) {
				l.notes = append(l.notes, fmt.Sprintf("with these rules %s is not allowed yet: %s", d.Effect, d.Reason))
			}
		}
	}
	return nil
}

// temporary is a file with a text in a folder that remove takes away.
func temporary(text []byte) (file string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "air-rules-*")
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(dir, "permissions.yaml")
	return file, func() { _ = os.RemoveAll(dir) }, os.WriteFile(file, text, 0o600)
}

// write replaces a rule file, unless it has changed since it was read.
func (l *lesson) write(ctx context.Context, f *ruleChange) error {
	lock := f.File + ".lock"
	if f.project {
		lock = filepath.Join(l.at.project.Dir, "locks", "rules")
	}
	unlock, err := home.Lock(ctx, lock)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := f.read()
	if err != nil {
		return err
	}
	if (now == nil) != (f.before == nil) || string(now) != string(f.before) {
		return fault.New(fault.Conflict, "changed", "%s has changed meanwhile: nothing was written to it", f.File).WithHint("try again")
	}
	if err := f.replace(); err != nil {
		return err
	}
	return l.record(ctx, f)
}

func (f *ruleChange) replace() error {
	file, mode := f.File, fs.FileMode(0o644)
	if !f.project {
		mode = 0o600
		if real, err := filepath.EvalSymlinks(file); err == nil { // people keep such files elsewhere, behind a link
			file = real
		}
	}
	return fault.IO("writing rules", atomicfile.Write(file, f.after, mode))
}

// record accepts the project's file where the person had accepted what it was, and
// notes what they allowed.
func (l *lesson) record(ctx context.Context, f *ruleChange) error {
	events, err := l.app.projectEvents(l.at)
	if err != nil {
		return err
	}
	if err := appendEvent(ctx, events, event.PermissionGranted, map[string]any{"rules": f.Rules, "file": f.File}); err != nil {
		return err
	}
	if !f.project {
		return nil
	}
	if !f.accepted {
		l.app.warn("%s was not accepted as it was, so what it allows does not count yet: air accept", f.File)
		return nil
	}
	written := permission.SharedFile{Path: "permissions.yaml", SHA256: strings.TrimPrefix(canon.Digest(f.after), "sha256:")}
	accepted, pending, all, err := pendingFiles(l.at.project)
	if err != nil {
		return err
	}
	keep := slices.DeleteFunc(all, func(s permission.SharedFile) bool {
		return s.Path == written.Path || slices.Contains(pending, s)
	})
	return l.app.accept(ctx, l.at, accepted, []permission.SharedFile{written}, append(keep, written))
}
