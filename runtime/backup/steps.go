package backup

import "slices"

// Step is what undoing a run does to one file, whatever the run did to it in between.
type Step struct {
	Path string
	To   *State // nil: the file goes
	// Made are the folders above the file that the run made, innermost first: when the
	// file goes and leaves them empty, they go too.
	Made []Folder
	// Removed are the folders above the file that the run removed, outermost first.
	Removed []Folder

	after   *State // as the run left the file
	between *State // as it was before the last change, which a crash may have kept from happening
	foreign bool   // something else changed the file between two changes of the run, or may have
	content int64
}

// Standing is how a file stands to a step.
type Standing int

const (
	Changed Standing = iota // neither: something else changed it since
	Undone                  // there is nothing to do
	Undoable
)

// Judge says how the file stands in its current state, nil when there is none.
func (s Step) Judge(current *State) Standing {
	switch {
	case current.Same(s.To):
		return Undone
	case s.foreign:
		return Changed
	case current.Same(s.after), current.Same(s.between):
		return Undoable
	}
	return Changed
}

// Steps are what undoes the run: one step for each file, the file that was changed last
// first.
func (p *Past) Steps() []Step {
	at := map[Path]int{}
	var steps []Step
	for _, c := range slices.Backward(p.Changes) {
		i, known := at[c.Path]
		if !known {
			i, at[c.Path] = len(steps), len(steps)
			steps = append(steps, Step{Path: string(c.Path), after: c.After, between: c.Before, foreign: c.Pending})
		} else if c.Pending || !follows(steps[i].To, c) {
			steps[i].foreign = true
		}
		steps[i].To, steps[i].content = c.Before, c.content
	}
	made, removed := p.folders()
	for i := range steps {
		steps[i].Made = above(steps[i].Path, made)
		slices.Reverse(steps[i].Made)
		steps[i].Removed = above(steps[i].Path, removed)
	}
	return steps
}

// follows reports whether a file that was found as before can have been left so by the
// change: it happened, or a crash or an error kept it from happening.
func follows(before *State, c Change) bool { return before.Same(c.After) || before.Same(c.Before) }

// folders are those that the run as a whole has made and removed.
func (p *Past) folders() (made, removed map[Path]uint32) {
	made, removed = map[Path]uint32{}, map[Path]uint32{}
	for _, f := range p.alsoMade {
		made[f.Path] = f.Mode
	}
	for _, c := range p.Changes {
		for _, f := range c.Made {
			made[f.Path] = f.Mode
		}
		for _, f := range c.Removed {
			removed[f.Path] = f.Mode
		}
	}
	return made, removed
}

// above are the folders above a path, outermost first.
func above(path string, folders map[Path]uint32) (found []Folder) {
	if len(folders) == 0 {
		return nil
	}
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if mode, ok := folders[Path(path[:i])]; ok {
			found = append(found, Folder{Path: Path(path[:i]), Mode: mode})
		}
	}
	return found
}
