package sandbox

import (
	"fmt"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// systemCalls is a list of system calls by name, and what becomes of those not on it. A
// refused call answers EPERM. Where a call is named with conditions more than once, one set
// that holds is enough. Lists pile up: the strictest answer counts.
type systemCalls struct {
	refuse     []string
	refuseWhen []seccomp.NameWithConditions
	allow      []string
	allowWhen  []seccomp.NameWithConditions
	otherwise  seccomp.Action
}

// install puts the list into force for all threads. It needs no_new_privs. The flags of
// clone3 lie in memory, where no filter can look, so it is answered as if the kernel did not
// have it, and the C library uses clone.
func (s systemCalls) install() error {
	program, err := s.program()
	if err != nil {
		return err
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("assembling a list of system calls: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// Not the library's own LoadFilter: it takes a thread that could not follow, which the
	// kernel reports as a positive result, for success.
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("installing a list of system calls: %w", errno)
	}
	if r != 0 {
		return fmt.Errorf("installing a list of system calls: thread %d did not follow", r)
	}
	return nil
}

func (s systemCalls) program() ([]bpf.Instruction, error) {
	native, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("listing system calls: %w", err)
	}
	policy := seccomp.Policy{DefaultAction: s.otherwise}
	for _, g := range []seccomp.SyscallGroup{
		{Action: seccomp.ActionErrno, Names: s.refuse, NamesWithCondtions: s.refuseWhen},
		{Action: seccomp.ActionAllow, Names: s.allow, NamesWithCondtions: s.allowWhen},
	} {
		g.Names, g.NamesWithCondtions = known(native, g.Names, g.NamesWithCondtions)
		if len(g.Names)+len(g.NamesWithCondtions) > 0 {
			policy.Syscalls = append(policy.Syscalls, g)
		}
	}
	rest, err := policy.Assemble()
	if err != nil {
		return nil, fmt.Errorf("assembling a list of system calls: %w", err)
	}
	const noSuchCall = uint32(seccomp.ActionErrno) | uint32(unix.ENOSYS)
	// The library lets calls through the entries of other architectures, such as that of
	// 32-bit programs, have the default, which a list of refusals must not.
	foreign := uint32(s.otherwise)
	if s.otherwise == seccomp.ActionAllow {
		foreign = noSuchCall
	}
	return append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(native.ID), SkipTrue: 1},
		bpf.RetConstant{Val: foreign},
		bpf.LoadAbsolute{Off: 0, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1},
		bpf.RetConstant{Val: noSuchCall},
	}, rest...), nil
}

// known leaves out the names that this architecture does not have: open is amd64's, openat
// is everybody's.
func known(native *arch.Info, names []string, when []seccomp.NameWithConditions) (n []string, w []seccomp.NameWithConditions) {
	for _, name := range names {
		if _, ok := native.SyscallNames[name]; ok {
			n = append(n, name)
		}
	}
	for _, c := range when {
		if _, ok := native.SyscallNames[c.Name]; ok {
			w = append(w, c)
		}
	}
	return n, w
}

// when is one set of conditions, all of which must hold, on a call's arguments.
func when(name string, conditions ...seccomp.Condition) seccomp.NameWithConditions {
	return seccomp.NameWithConditions{Name: name, Conditions: conditions}
}

// is compares all 64 bits. In a list of refusals that is a hole wherever the kernel looks at
// 32 of them: use low there.
func is(argument uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.Equal, Value: value}
}

// none holds where no bit of mask is set in an argument, some where at least one is.
func none(argument uint32, mask uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.BitsNotSet, Value: mask}
}

func some(argument uint32, mask uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.BitsSet, Value: mask}
}

// low compares the lower 32 bits, bit by bit, for the assembler knows no such comparison.
func low(argument uint32, value uint32) []seccomp.Condition {
	conditions := []seccomp.Condition{none(argument, uint64(^value))}
	for bit := uint32(1); bit != 0; bit <<= 1 {
		if value&bit != 0 {
			conditions = append(conditions, some(argument, uint64(bit)))
		}
	}
	return conditions
}
