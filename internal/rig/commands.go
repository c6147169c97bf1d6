package rig

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aircoding/air/runtime/sandbox"
)

// NeedsSandbox skips a test where no command can be kept apart.
func NeedsSandbox(t testing.TB) {
	t.Helper()
	if tier := sandbox.CommandTier(t.Context()); !tier.Held {
		t.Skip(tier.Reason)
	}
}

// Processes are those of the machine that have exactly this among their arguments.
func Processes(t testing.TB, argument string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(text), "\x00"+argument+"\x00") {
			continue // most often it has ended since
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		check(t, err)
		pids = append(pids, pid)
	}
	return pids
}
