package fs_test

import (
	"os"
	"testing"

	"github.com/aircoding/air/runtime/command/interpret"
	"github.com/aircoding/air/runtime/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.ServeIfChild()
	interpret.ServeIfShell()
	os.Exit(m.Run())
}
