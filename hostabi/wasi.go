package hostabi

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// The stub of WASI preview 1: enough for language runtimes to start, print and read
// clocks. Nothing in it reaches a file, a socket, an argument or a variable. What commands
// have beside it is in command.go.
//
// Specification: github.com/WebAssembly/WASI, legacy/preview1/docs.md.

type errno = uint32

const (
	wasiOK     errno = 0
	wasiEBADF  errno = 8
	wasiEFAULT errno = 21
	wasiEINVAL errno = 28
	wasiENOSPC errno = 51
	wasiENOSYS errno = 52
	wasiESPIPE errno = 70
)

const (
	maxRandom = 1 << 20 // bytes a guest may draw at once
	maxVector = 1024    // pieces of an fd_read or fd_write
)

// wasiNames are all functions of preview 1 with their parameters. Those that the table
// below does not carry out link and answer ENOSYS: Go alone imports 16 and calls 7.
var wasiNames = map[string]string{
	"args_get": "ii", "args_sizes_get": "ii", "environ_get": "ii", "environ_sizes_get": "ii",
	"clock_res_get": "ii", "clock_time_get": "iIi",
	"fd_advise": "iIIi", "fd_allocate": "iII", "fd_close": "i", "fd_datasync": "i",
	"fd_fdstat_get": "ii", "fd_fdstat_set_flags": "ii", "fd_fdstat_set_rights": "iII",
	"fd_filestat_get": "ii", "fd_filestat_set_size": "iI", "fd_filestat_set_times": "iIIi",
	"fd_pread": "iiiIi", "fd_prestat_get": "ii", "fd_prestat_dir_name": "iii", "fd_pwrite": "iiiIi",
	"fd_read": "iiii", "fd_readdir": "iiiIi", "fd_renumber": "ii", "fd_seek": "iIii",
	"fd_sync": "i", "fd_tell": "ii", "fd_write": "iiii",
	"path_create_directory": "iii", "path_filestat_get": "iiiii", "path_filestat_set_times": "iiiiIIi",
	"path_link": "iiiiiii", "path_open": "iiiiiIIii", "path_readlink": "iiiiii", "path_remove_directory": "iii",
	"path_rename": "iiiiii", "path_symlink": "iiiii", "path_unlink_file": "iii",
	"poll_oneoff": "iiii", "proc_exit": "i", "proc_raise": "i", "sched_yield": "", "random_get": "ii",
	"sock_accept": "iii", "sock_recv": "iiiiii", "sock_send": "iiiii", "sock_shutdown": "ii",
}

// wasiCall carries out a function.
type wasiCall func(c *Call, m Memory, s []uint64) errno

func wasiCalls() map[string]wasiCall {
	nothing := func(*Call, Memory, []uint64) errno { return wasiOK }
	return map[string]wasiCall{
		"args_get":          nothing,
		"args_sizes_get":    noStrings,
		"environ_get":       nothing,
		"environ_sizes_get": noStrings,
		"clock_res_get":     clockRes,
		"clock_time_get":    clockTime,
		"fd_fdstat_get":     fdstat,
		"fd_prestat_get":    func(*Call, Memory, []uint64) errno { return wasiEBADF },
		"fd_write":          fdWrite,
		"poll_oneoff":       pollOneoff,
		"random_get":        randomGet,
		"sched_yield":       nothing,
	}
}

func wasiFunctions(known map[string]wasiCall) []Function {
	var list []Function
	for name, params := range wasiNames {
		f := Function{Module: WASIModule, Name: name, Params: types(params), Results: types("i")}
		call, carriedOut := known[name]
		switch {
		case name == "proc_exit":
			f.Results = nil
			f.call = func(_ *Call, _ Memory, s []uint64) error { return &ExitError{uint32(s[0])} }
		case carriedOut:
			f.call = returns(call)
		default:
			f.call = returns(func(*Call, Memory, []uint64) errno { return wasiENOSYS })
		}
		list = append(list, f)
	}
	return list
}

func returns(call wasiCall) func(*Call, Memory, []uint64) error {
	return func(c *Call, m Memory, s []uint64) error {
		s[0] = uint64(call(c, m, s))
		return nil
	}
}

func noStrings(_ *Call, m Memory, s []uint64) errno {
	if !put32(m, uint32(s[0]), 0) || !put32(m, uint32(s[1]), 0) {
		return wasiEFAULT
	}
	return wasiOK
}

func clockRes(_ *Call, m Memory, s []uint64) errno {
	if uint32(s[0]) > 1 {
		return wasiEINVAL
	}
	return stored(put64(m, uint32(s[1]), uint64(time.Microsecond)))
}

func clockTime(_ *Call, m Memory, s []uint64) errno {
	if uint32(s[0]) > 1 {
		return wasiEINVAL
	}
	return stored(put64(m, uint32(s[2]), uint64(now(uint32(s[0])))))
}

var started = time.Now()

// now reads the wall clock (0) or the monotonic one (1), which starts with the process.
func now(clock uint32) int64 {
	if clock == 0 {
		return time.Now().UnixNano()
	}
	// Not from 0: a guest whose state was kept by another worker must not see time go back.
	return started.UnixNano() + int64(time.Since(started))
}

// fdstat says that 0 to 2 are character devices without rights: no other is open.
func fdstat(_ *Call, m Memory, s []uint64) errno {
	if uint32(s[0]) > 2 {
		return wasiEBADF
	}
	stat := [24]byte{2}
	return stored(m.Write(uint32(s[1]), stat[:]))
}

// fdWrite appends to the log. What is over the limit is dropped, and the guest is told
// that all was written: printing too much is no reason to fail.
func fdWrite(c *Call, m Memory, s []uint64) errno {
	if fd := uint32(s[0]); fd != 1 && fd != 2 {
		return wasiEBADF
	}
	list, e := pieces(m, s)
	if e != wasiOK {
		return e
	}
	var written uint32
	for _, p := range list {
		data, ok := m.Read(p.at, p.size)
		if !ok {
			return wasiEFAULT
		}
		room := max(c.Limits.LogBytes-int64(len(c.Log)), 0)
		c.Log = append(c.Log, data[:min(int64(len(data)), room)]...)
		written += p.size
	}
	return stored(put32(m, uint32(s[3]), written))
}

// piece is a part of the guest's memory, or of what it takes for that.
type piece struct{ at, size uint32 }

// pieces reads what an fd_read or fd_write is about.
func pieces(m Memory, s []uint64) ([]piece, errno) {
	count := uint32(s[2])
	if count > maxVector {
		return nil, wasiEINVAL
	}
	vector, ok := m.Read(uint32(s[1]), count*8)
	if !ok {
		return nil, wasiEFAULT
	}
	list := make([]piece, count)
	for i := range list {
		list[i] = piece{binary.LittleEndian.Uint32(vector[i*8:]), binary.LittleEndian.Uint32(vector[i*8+4:])}
	}
	return list, wasiOK
}

func randomGet(_ *Call, m Memory, s []uint64) errno {
	size := uint32(s[1])
	if size > maxRandom {
		return wasiEINVAL
	}
	if _, ok := m.Read(uint32(s[0]), size); !ok {
		return wasiEFAULT
	}
	data := make([]byte, size)
	rand.Read(data)
	return stored(m.Write(uint32(s[0]), data))
}

func put32(m Memory, at, v uint32) bool {
	return m.Write(at, binary.LittleEndian.AppendUint32(nil, v))
}

func put64(m Memory, at uint32, v uint64) bool {
	return m.Write(at, binary.LittleEndian.AppendUint64(nil, v))
}

func stored(ok bool) errno {
	if !ok {
		return wasiEFAULT
	}
	return wasiOK
}
