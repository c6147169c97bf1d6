package sandbox

// initConfig is what the init is told, in a memory file. The encoding is gob, which keeps
// names as they are: JSON would change those that are not UTF-8.
type initConfig struct {
	Argv, Env []string
	Dir       string
	Mounts    []Mount
	Home      string
	Limits    CommandLimits
	Loopback  bool
	Self      bool // Argv are arguments of this program itself
	Talk      int  // descriptor of Command.Talk, 0 for none
	UID, GID  int  // of the user inside
	Root      bool // that user is root outside
	Groups    []joined
}

// joined is one of the host's control groups, and how it holds which limits.
type joined struct {
	// Tasks is the descriptor by which the thread that starts the program joins; 0 for a
	// group that the init was born in.
	Tasks             int
	Memory, Processes string // "" for a limit that it does not hold
}
