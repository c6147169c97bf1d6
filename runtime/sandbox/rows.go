package sandbox

// Row is one escape that a process tried from inside a profile.
type Row struct {
	Profile string // "worker", "command"
	Attempt string // what was tried
	Refused bool
	How     string // what stopped it, or what came of it
}
