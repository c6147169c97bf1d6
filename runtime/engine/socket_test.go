package engine

import (
	"io"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/sandbox"
)

// TestSpinningRead reads what is there, what comes later, and the end, each after a spin.
func TestSpinningRead(t *testing.T) {
	host, file, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	worker := &socket{fd: int(file.Fd())}
	read := func(want string, wantErr error) {
		t.Helper()
		worker.spin()
		p := make([]byte, 10)
		if n, err := worker.Read(p); string(p[:n]) != want || err != wantErr {
			t.Errorf("got %q, %v, want %q, %v", p[:n], err, want, wantErr)
		}
		if worker.spins {
			t.Error("the next read would spin, too")
		}
	}
	host.Write([]byte("now"))
	read("now", nil)
	time.AfterFunc(100*spinTime, func() { host.Write([]byte("later")) })
	read("later", nil)
	host.close()
	read("", io.EOF)
}

// TestIdleWorkerIsSmall waits until a worker has given back what loading took.
func TestIdleWorkerIsSmall(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	mustInvoke(t, p, m, `{}`)
	w := p.idle[0].worker
	if w.fresh == 0 {
		t.Skip("this system does not say how large a process is")
	}
	for range 1000 {
		if sandbox.ResidentBytes(w.cmd.Process.Pid) < w.fresh {
			return
		}
		if w.gone(10 * time.Millisecond) {
			t.Fatal("the worker ended")
		}
	}
	t.Errorf("%d bytes, %d after loading", sandbox.ResidentBytes(w.cmd.Process.Pid), w.fresh)
}
