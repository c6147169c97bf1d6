package runner

import (
	"os"
	"testing"

	"github.com/aircoding/air/runtime/command/interpret"
	"github.com/aircoding/air/runtime/sandbox"
)

// TestMain lets the test program start itself again as what runs commands.
func TestMain(m *testing.M) {
	sandbox.ServeIfChild()
	interpret.ServeIfShell()
	ServeIfKeeper()
	os.Exit(m.Run())
}
