package sandbox

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// landlockVersion is the newest version of Landlock's interface that both the kernel and
// the library know; 0 is none.
func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return max(0, min(v, len(landlockConfigs())))
}

// landlockConfigs holds, at version-1, all that a version can restrict.
func landlockConfigs() []landlock.Config {
	return []landlock.Config{
		landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
		landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11,
	}
}

// landlockConfig is all that the kernel can restrict, and by which version of the interface:
// files and, as far as the version goes, the network, and signals and abstract sockets to
// processes outside. Version 0 is a kernel that was built or started without Landlock.
func landlockConfig() (config landlock.Config, version int) {
	version = landlockVersion()
	if version == 0 {
		return config, 0
	}
	config = landlockConfigs()[version-1]
	if signalsBreakThreads() {
		config.Scoped &^= ll.ScopeSignal
	}
	return config, version
}

// restrictFiles takes from all threads what the config names and no rule gives. It restricts
// all of that or fails.
func restrictFiles(config landlock.Config, rules ...landlock.Rule) error {
	if err := config.Restrict(rules...); err != nil {
		return fmt.Errorf("restricting files (Landlock %v): %w", config, err)
	}
	return nil
}

// signalsBreakThreads says that the kernel counts threads of one process as strangers
// where signals are scoped: erratum 2 of Landlock, unfixed. The runtime preempts its own
// threads with a signal.
func signalsBreakThreads() bool {
	const scopedSignals = 1 << 1
	errata, err := ll.LandlockGetErrata()
	return err != nil || errata&scopedSignals == 0
}
