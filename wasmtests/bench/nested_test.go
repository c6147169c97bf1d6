package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// nested is how many calls a guest makes more in one part than in the other.
const nested = 1000

// oneTool provides a single tool of a capability.
type oneTool struct{ tool *runtime.Tool }

var _ runtime.Provider = oneTool{}

func (p oneTool) Tool(_ context.Context, name string) (*runtime.Tool, error) {
	if name != p.tool.Name {
		return nil, runtime.UnknownTool(name)
	}
	return p.tool, nil
}

func (p oneTool) Tools(context.Context) ([]*runtime.Tool, error) { return []*runtime.Tool{p.tool}, nil }

// BenchmarkNestedCall measures one tool_call of a guest with a request and an envelope of
// 1 KiB, without its decision: the registry refuses calls beyond a tool's budget before
// their first step, and the engine is told of a larger budget than the registry. The
// text of the refusal names the tool, whose name is long for that.
func BenchmarkNestedCall(b *testing.B) {
	object := json.RawMessage(`{"type": "object"}`)
	for _, c := range []struct{ name, path string }{{"go", built(b).textModule}, {"c", cModule}} {
		tool := &runtime.Tool{
			Name: "text." + strings.Repeat("x", 800), Version: 1, Capability: "text", InputSchema: object, OutputSchema: object,
			Limits: runtime.Limits{HostCalls: 1},
			Owner: permission.Caller{
				Capability: "text", Digest: "sha256:text", Consented: true, Scopes: permission.Scopes{Tools: []string{"bench.absent"}},
			},
			Implementation: newGuest(b, c.path).implementation,
		}
		r := rig.New(b, rig.Options{Provider: oneTool{tool}})
		calling := func(n int) part {
			input := fmt.Sprintf(`{"op":"calls","n":%d,"text":"x"}`, n)
			return timed(func() { r.Must(tool.Name, input, nil) })
		}
		got := medians(b, calling(1+nested), calling(1))
		report("nested_tool_call_"+c.name+"/30us", (got[0]-got[1])/nested, 30*time.Microsecond)
	}
}
