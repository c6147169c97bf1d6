package runner

import (
	"os"
	"testing"
)

// TestMain lets the test program start itself again as what keeps commands.
func TestMain(m *testing.M) {
	ServeIfKeeper()
	os.Exit(m.Run())
}
