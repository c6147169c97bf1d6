package network_test

import (
	"os"
	"testing"

	"github.com/aircoding/air/runtime/command/interpret"
	"github.com/aircoding/air/runtime/sandbox"
)

// TestMain lets the test program start itself again as what commands run in.
func TestMain(m *testing.M) {
	sandbox.ServeIfChild()
	interpret.ServeIfShell()
	os.Exit(m.Run())
}
