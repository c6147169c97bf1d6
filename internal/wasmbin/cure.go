package wasmbin

// The cure is for compares that wazero's compiler gets wrong. This is what wazero v1.12.0
// does, by its internal/engine/wazevo; another version needs reading anew.
//
// A branch on an integer compare takes the processor's flags at once (LowerConditionalBranch
// and lowerExitIfTrueWithCode in backend/isa), and where one operand of the compare is the
// constant 0 and the other an `and`, tryLowerBandToFlag takes the flags of the `and`, on
//
//	amd64: TEST, which is right for `and`, 0. For 0, `and` it would have to swap the
//	       condition and does not, which spoils all compares but eq and ne.
//	arm64: ANDS, which is wrong for 0, `and` in the same way; and for `and`, 0 it leaves
//	       another carry than a compare would, which spoils the unsigned ones.
//
// A compare's right operand that is neither an `and` nor a constant is out of reach for
// both, and `const 0; or` makes it such: no pass (ssa/pass*.go) folds that away. It need
// not be written where the engine cannot fuse:
//
// The fused `and` and the compare are of one group (MatchInstr in backend/compiler.go).
// Jumps, branches, calls and stores each end a group, in the order in which basic blocks
// are laid out (passDeadCodeEliminationOpt and instructionSideEffects in ssa), and each
// basic block ends in a jump, a branch, a return or an exit. So a group never extends
// beyond its basic block, and frontend/lower.go ends one where it reads loop, if, else,
// end, br_if, a call, a store or global.set. Dead code, which it drops, ends at else or
// end. A compare with no `and` before it in its group is right.
//
// Most instructions make a value of their own in the frontend, which is neither. These
// do not: an instruction that leaves an older value on top; local.get, local.tee and
// global.get, which push the value that was set; and shifts, which are replaced by their
// operand if they shift by a constant 0 (passNopInstElimination, the only pass that
// replaces an instruction; the parameters of basic blocks are replaced by other passes,
// and come from the locals and operands of those instructions). A local that is not set
// is the constant 0.

// Opcodes that only the cure knows by name.
const (
	opBrIf         = 0x0d
	opCall         = 0x10
	opCallIndirect = 0x11
	opSelect       = 0x1b
	opGlobalSet    = 0x24
	opI32Load      = 0x28
	opI64Load32U   = 0x35
	opI32Store     = 0x36
	opI64Store32   = 0x3e
	opI32Eqz       = 0x45
	opI32LtS       = 0x48
	opI32GeU       = 0x4f
	opI64LtS       = 0x53
	opI64GeU       = 0x5a
	opI32Shl       = 0x74
	opI32ShrS      = 0x75
	opI32ShrU      = 0x76
	opI64Shl       = 0x86
	opI64ShrS      = 0x87
	opI64ShrU      = 0x88
	opI64Extend32S = 0xc4
)

// known is what the cure knows at an instruction. The zero value holds at the start of a
// function.
type known struct {
	and bool // the engine's group has an `and` so far
	top top
}

// top is what may be on top of the stack.
type top byte

const (
	topAny   top = iota // also the result of an `and` of the group, and a constant 0
	topZero             // a constant 0
	topOther            // neither
)

// cure comes before each instruction of one byte.
func (w *rewriter) cure(op byte) {
	k := &w.known
	if k.and && (ordered(op) && k.top == topAny || unsigned(op) && k.top == topZero) {
		w.orZero(op)
	}
	switch {
	case op == opI32And || op == opI64And:
		*k = known{and: true}
	case endsGroup(op):
		*k = known{}
	default:
		k.top = topAfter(op)
	}
}

// orZero makes the right operand of a compare the result of an `or`, with the same value.
func (w *rewriter) orZero(compare byte) {
	if compare <= opI32GeU {
		w.out = append(w.out, opI32Const, 0, opI32Or)
	} else {
		w.out = append(w.out, opI64Const, 0, opI64Or)
	}
}

// ordered tells lt, gt, le and ge of integers.
func ordered(op byte) bool {
	return op >= opI32LtS && op <= opI32GeU || op >= opI64LtS && op <= opI64GeU
}

// unsigned tells those of unsigned integers, of which the opcodes are odd for i32, and
// even for i64.
func unsigned(op byte) bool {
	return ordered(op) && (op <= opI32GeU) == (op%2 == 1)
}

func endsGroup(op byte) bool {
	switch op {
	case opLoop, opIf, opElse, opEnd, opBrIf, opCall, opCallIndirect, opGlobalSet:
		return true
	}
	return op >= opI32Store && op <= opI64Store32
}

// topAfter says topAny whenever it does not know better.
func topAfter(op byte) top {
	switch op {
	case opI32Const, opI64Const:
		return topZero // number knows better, once it has read which
	case opI32Shl, opI32ShrS, opI32ShrU, opI64Shl, opI64ShrS, opI64ShrU:
		return topAny
	case opSelect:
		return topOther
	}
	if op >= opI32Load && op <= opI64Load32U || op >= opI32Eqz && op <= opI64Extend32S {
		return topOther
	}
	return topAny
}
