package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// systemCalls is a list of system calls by name, and what becomes of those not on it. A
// refused call answers EPERM. Where a call is named with conditions more than once, one set
// that holds is enough. Lists pile up: the strictest answer counts.
type systemCalls struct {
	absent     []string // answered as if the kernel did not have them, so that programs use others
	refuse     []string
	refuseWhen []seccomp.NameWithConditions
	allow      []string
	allowWhen  []seccomp.NameWithConditions
	otherwise  seccomp.Action
}

// install puts the list into force for all threads. It needs no_new_privs. The flags of
// clone3 lie in memory, where no filter can look, so it is absent from every list, and the C
// library uses clone.
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
	if cpu.IsBigEndian {
		return nil, errors.New("listing system calls: this processor has the words of an argument the other way round")
	}
	const noSuchCall = uint32(seccomp.ActionErrno) | uint32(unix.ENOSYS)
	// A list of refusals must not let through what comes by the entries of other
	// architectures, such as that of 32-bit programs.
	foreign := uint32(s.otherwise)
	if s.otherwise == seccomp.ActionAllow {
		foreign = noSuchCall
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(native.ID), SkipTrue: 1},
		bpf.RetConstant{Val: foreign},
		callNumber(),
	}
	if s.otherwise == seccomp.ActionAllow {
		// Nor must a list of refusals let through what nobody knew when it was written.
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: newestCall(native), SkipFalse: 1}, bpf.RetConstant{Val: noSuchCall})
	}
	for _, name := range append([]string{"clone3"}, s.absent...) {
		number, ok := native.SyscallNames[name]
		if !ok {
			return nil, fmt.Errorf("listing system calls: %s has no number", name)
		}
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(number), SkipFalse: 1}, bpf.RetConstant{Val: noSuchCall})
	}
	for _, c := range slices.Concat(s.refuseWhen, s.allowWhen) {
		if len(c.Conditions) > mostConditions {
			return nil, fmt.Errorf("listing system calls: %s has %d conditions, more than a jump can skip", c.Name, len(c.Conditions))
		}
	}
	const refused = uint32(seccomp.ActionErrno) | uint32(unix.EPERM)
	program = append(program, answers(native, s.refuse, s.refuseWhen, refused)...)
	program = append(program, answers(native, s.allow, s.allowWhen, uint32(seccomp.ActionAllow))...)
	return append(program, bpf.RetConstant{Val: uint32(s.otherwise)}), nil
}

// callNumber and argument load from struct seccomp_data; of an argument's two words the
// higher one lies behind the lower.
func callNumber() bpf.Instruction { return bpf.LoadAbsolute{Off: 0, Size: 4} }

func argument(number uint32, isHigh bool) bpf.Instruction {
	if isHigh {
		return bpf.LoadAbsolute{Off: 16 + 8*number + 4, Size: 4}
	}
	return bpf.LoadAbsolute{Off: 16 + 8*number, Size: 4}
}

// answers leaves out the names that this architecture does not have: open is amd64's, openat
// is everybody's. Each name is a piece of program of its own, which finds the number of the
// call loaded and leaves it so. The library's assembler does not: after conditions that do
// not hold it compares an argument with the numbers of the calls that follow.
func answers(native *arch.Info, names []string, when []seccomp.NameWithConditions, answer uint32) (program []bpf.Instruction) {
	for _, name := range names {
		if number, ok := native.SyscallNames[name]; ok {
			program = append(program,
				bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(number), SkipFalse: 1}, bpf.RetConstant{Val: answer})
		}
	}
	for _, c := range when {
		if number, ok := native.SyscallNames[c.Name]; ok {
			program = append(program, answerWhen(uint32(number), c.Conditions, answer)...)
		}
	}
	return program
}

// mostConditions of one set keep its longest jump, 4 for each and 2, within 8 bits.
const mostConditions = (255 - 2) / 4

// answerWhen looks at both words of each condition's argument.
func answerWhen(number uint32, conditions []seccomp.Condition, answer uint32) []bpf.Instruction {
	left := uint8(4*len(conditions) + 1) // instructions until the call's number is loaded again
	program := []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: left + 1}}
	for _, c := range conditions {
		high, low := bpf.JumpIf{Val: uint32(c.Value >> 32)}, bpf.JumpIf{Val: uint32(c.Value)}
		const holds = 2 // skips the lower word
		fails := left - 2
		switch c.Operation {
		case seccomp.Equal:
			high.Cond, high.SkipFalse, low.Cond, low.SkipFalse = bpf.JumpEqual, fails, bpf.JumpEqual, fails-2
		case seccomp.NotEqual:
			high.Cond, high.SkipFalse, low.Cond, low.SkipTrue = bpf.JumpEqual, holds, bpf.JumpEqual, fails-2
		case seccomp.BitsSet:
			high.Cond, high.SkipTrue, low.Cond, low.SkipFalse = bpf.JumpBitsSet, holds, bpf.JumpBitsSet, fails-2
		case seccomp.BitsNotSet:
			high.Cond, high.SkipTrue, low.Cond, low.SkipTrue = bpf.JumpBitsSet, fails, bpf.JumpBitsSet, fails-2
		default:
			panic("a list of system calls has the condition " + string(c.Operation)) // none of those below
		}
		program = append(program, argument(c.Argument, true), high, argument(c.Argument, false), low)
		left -= 4
	}
	return append(program, bpf.RetConstant{Val: answer}, callNumber())
}

// newestCall is the highest number of a call that is known by name.
func newestCall(native *arch.Info) uint32 {
	newest := 0
	for _, number := range native.SyscallNames {
		newest = max(newest, number)
	}
	return uint32(newest)
}

// when is one set of conditions, all of which must hold, on a call's arguments.
func when(name string, conditions ...seccomp.Condition) seccomp.NameWithConditions {
	return seccomp.NameWithConditions{Name: name, Conditions: conditions}
}

// is and not compare all 64 bits. In a list of refusals, is leaves a hole wherever the kernel
// looks at 32 of them: use low there.
func is(argument uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.Equal, Value: value}
}

func not(argument uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.NotEqual, Value: value}
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
