package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aircoding/air/internal/schema"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// BenchmarkExampleCall measures calls of the example through the registry, with their
// permissions, nested calls and events, in a running process.
func BenchmarkExampleCall(b *testing.B) {
	w := newInsightWorkshop(b)
	for _, c := range []struct{ name, input string }{
		{"small", `{"path":"small.csv","by":"zone","value":"change"}`},
		{"shipped", `{"path":"shipped.csv","by":"zone","value":"change"}`},
	} {
		got := medians(b,
			timed(func() { w.Must("csv-insight.group", c.input, nil) }),
			timed(func() { w.run(w.insight, "group", c.input) }),
		)
		report("isolated_call_"+c.name+"/native_process", got[0], got[1])
	}
}

// BenchmarkSteps splits the cost of a durable call in one process by what it is made of.
func BenchmarkSteps(b *testing.B) {
	w := newInsightWorkshop(b)
	tool, err := w.Registry.Lookup(b.Context(), "fs.stat")
	fatal(b, err)
	input, err := schema.Compile(tool.InputSchema)
	fatal(b, err)
	paths := permission.NewPaths(permission.PathsConfig{ProjectRoot: w.Root, AirHome: w.Home.Dir})
	rules, err := permission.Load(permission.Options{Paths: paths})
	fatal(b, err)
	text := []byte(`{"path":"small.csv"}`)
	request := permission.Request{Subject: permission.Subject{Tool: tool.Name, BuiltIn: true, Permissions: tool.Permissions}}
	many := func(work func()) part {
		return timed(func() {
			for range 100 {
				work()
			}
		})
	}
	got := medians(b,
		many(func() { w.Must("fs.stat", string(text), nil) }),
		many(func() { fatal(b, input.Validate(text)) }),
		many(func() {
			e, err := paths.Resolve(permission.Effect{Kind: permission.Read, Target: "small.csv"})
			fatal(b, err)
			request.Effects = []permission.Effect{{Kind: permission.ToolCall, Target: tool.Name}, e}
		}),
		many(func() { rules.Decide(request) }),
		many(func() {
			_, err := os.Lstat(filepath.Join(w.Root, "small.csv"))
			fatal(b, err)
		}),
		many(func() {
			for _, eventType := range []string{event.ToolStarted, event.PermissionDecided, event.ToolCompleted} {
				_, err := w.Session.Events.Append(b.Context(), event.Event{Type: eventType, Payload: text})
				fatal(b, err)
			}
		}),
	)
	for i, step := range []string{"validate", "plan", "decide", "lstat_alone", "record_three_events"} {
		report("step_"+step+"/durable_call_fs_stat", got[i+1]/100, got[0]/100)
	}
}
