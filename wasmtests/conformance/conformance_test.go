package conformance

import (
	"testing"

	"github.com/aircoding/air/runtime/engine/wazero"
)

func TestWazeroCompiler(t *testing.T) {
	Run(t, func() Engine { return &wazero.Engine{} })
}

func TestWazeroInterpreter(t *testing.T) {
	Run(t, func() Engine { return &wazero.Engine{Interpreter: true} })
}
