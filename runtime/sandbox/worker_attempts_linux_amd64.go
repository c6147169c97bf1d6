package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Calls that only amd64 has: those that newer ones replaced, and two other ways into the
// same kernel, with numbers of their own.
func oldCallAttempts() []attempt {
	const open32 = 5
	return []attempt{
		serving("open", func(p *probed) error { return call(unix.SYS_OPEN, at(p.notIn), unix.O_RDONLY, 0) }),
		serving("fork", forked(unix.SYS_FORK)),
		serving("vfork", forked(unix.SYS_VFORK)),
		serving("unlink", func(p *probed) error { return call(unix.SYS_UNLINK, at(p.notIn)) }),
		serving("open by its x32 number", func(p *probed) error { return call(0x40000000|unix.SYS_OPEN, at(p.notIn), 0, 0) }),
		serving("open by int 0x80", func(p *probed) error {
			if r := int32(p.oldCall(open32, p.lowPath, 0)); r < 0 {
				return unix.Errno(-r)
			}
			return nil
		}),
	}
}

// prepareOldCalls lays out the entry of 32-bit programs, while memory can still become code,
// and a path below 4 GiB for it. The instruction takes number and arguments from the
// registers in which a Go function has its first three, and leaves the result in the first.
func (p *probed) prepareOldCalls() error {
	code, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, anonymous)
	if err != nil {
		return err
	}
	copy(code, []byte{0xcd, 0x80, 0xc3}) // int 0x80; ret
	if err := unix.Mprotect(code, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return err
	}
	entry := unsafe.Pointer(&code[0])
	closure := unsafe.Pointer(&entry) // what a func value points to: the address of its code
	p.oldCall = *(*func(number, a, b uintptr) uintptr)(unsafe.Pointer(&closure))
	low, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, anonymous|unix.MAP_32BIT)
	if err != nil {
		return err
	}
	copy(low, p.outside+"/file")
	p.lowPath = uintptr(unsafe.Pointer(&low[0]))
	return nil
}
