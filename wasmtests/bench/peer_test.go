package bench

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aircoding/air/wasmtests"
)

// peer is the running program of the folder extism, and what it is measured with.
type peer struct {
	goPlugin, cPlugin string
	in                *json.Encoder
	out               *json.Decoder
}

// newPeer builds and starts it. It is a module of its own, which may not be had without a
// network.
func newPeer(b *testing.B) (*peer, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	program, plugin := filepath.Join(dir, "extism"), filepath.Join(dir, "extism.wasm")
	if err := wasmtests.GoBuild("extism", program, ""); err != nil {
		return nil, err
	}
	if err := wasmtests.GoBuild("extism/plugin", plugin, wasmtests.WASIP1, reactor...); err != nil {
		return nil, err
	}
	cPlugin, err := filepath.Abs("c/extism.wasm")
	if err != nil {
		return nil, err
	}
	p := &peer{goPlugin: plugin, cPlugin: cPlugin}
	return p, p.start(b, program)
}

// start runs the program until the benchmark is over.
func (p *peer) start(b *testing.B, program string) error {
	c := exec.Command(program)
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	b.Cleanup(func() {
		in.Close() // it ends at the end of its orders
		fatal(b, c.Wait())
	})
	p.in, p.out = json.NewEncoder(in), json.NewDecoder(out)
	return nil
}

// calls is the part that makes n calls by each of several callers; its time is the median
// of one call.
func (p *peer) calls(b *testing.B, plugin, mode string, n, callers int) part {
	order := map[string]any{"plugin": plugin, "mode": mode, "input": kilobyte, "calls": n, "callers": callers}
	return func() time.Duration {
		var report struct {
			Median time.Duration `json:"median_ns"`
			Output string        `json:"output"`
			Error  string        `json:"error"`
		}
		fatal(b, p.in.Encode(order))
		fatal(b, p.out.Decode(&report))
		if report.Error != "" || report.Output != upper {
			b.Fatalf("extism %v: %+v", order, report)
		}
		return report.Median
	}
}

// orSay prints why there is nothing to compare with.
func orSay(err error) {
	fmt.Printf("not compared with Extism: %v\n", err)
}
