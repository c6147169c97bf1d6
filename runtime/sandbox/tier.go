package sandbox

// Tier is how well this machine holds a profile.
type Tier struct {
	// Held is false where nothing holds: such a profile runs nothing.
	Held bool
	// Reason says in words what holds, or why nothing does.
	Reason string
}

// Report is what Check found.
type Report struct {
	Kernel   string // release; "" where it is not Linux
	Landlock int    // version of the kernel's interface; 0 is none
	Worker   Tier
	Command  Tier
	Rows     []Row // one for each attempt to escape
}

// Escaped returns the attempts that were not refused.
func (r Report) Escaped() []Row {
	var escaped []Row
	for _, row := range r.Rows {
		if !row.Refused {
			escaped = append(escaped, row)
		}
	}
	return escaped
}

// Row is one escape that a process tried from inside a profile.
type Row struct {
	Profile string // "worker", "command"
	Attempt string // what was tried
	Refused bool
	How     string // what stopped it, or what came of it
}
