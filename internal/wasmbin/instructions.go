package wasmbin

import "fmt"

// shape says what follows an opcode.
type shape byte

const (
	immUnknown     shape = iota
	immNone              // nothing
	immBlock             // a block type
	immElse              // nothing, in an if
	immEnd               // nothing
	immIndex             // one index
	immIndexes           // two
	immLabels            // a vector of labels, and one label more
	immTypes             // value types
	immReference         // a reference type
	immAccess            // alignment and offset
	immAccessLane        // the same, and a lane
	immLane              // one byte
	immMemory            // a zero byte: the memory
	immMemories          // two of them
	immIndexMemory       // an index and a memory
	immI32               // a signed number
	immI64               //
	imm4                 // as they are
	imm8                 //
	imm16                //
)

// Opcodes that the rewriter knows by name.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opElse        = 0x05
	opEnd         = 0x0b
	opGlobalGet   = 0x23
	opTableSet    = 0x26
	opI32Const    = 0x41
	opI64Const    = 0x42
	opF32Const    = 0x43
	opF64Const    = 0x44
	opI32And      = 0x71
	opI32Or       = 0x72
	opI64And      = 0x83
	opI64Or       = 0x84
	opRefNull     = 0xd0
	opRefFunc     = 0xd2
	prefixMisc    = 0xfc
	prefixVector  = 0xfd

	opV128Const = 12 // after prefixVector
)

// Opcodes after prefixMisc.
const (
	opMemoryInit = 8
	opDataDrop   = 9
	opTableInit  = 12
	opElemDrop   = 13
	opTableCopy  = 14
	opTableGrow  = 15
	opTableFill  = 17
)

// shapeOf knows the instructions of WebAssembly 2.0 that have one byte.
func shapeOf(op byte) shape {
	switch {
	case op >= 0x45 && op <= 0xc4: // comparisons, arithmetic, conversions
		return immNone
	case op >= 0x28 && op <= 0x3e: // loads and stores
		return immAccess
	case op >= 0x20 && op <= 0x26: // locals, globals, table.get and table.set
		return immIndex
	}
	switch op {
	case 0x00, 0x01, 0x0f, 0x1a, 0x1b: // unreachable, nop, return, drop, select
		return immNone
	case opBlock, opLoop, opIf:
		return immBlock
	case opElse:
		return immElse
	case opEnd:
		return immEnd
	case 0x0c, 0x0d, 0x10, opRefFunc: // br, br_if, call
		return immIndex
	case 0x0e: // br_table
		return immLabels
	case 0x11: // call_indirect
		return immIndexes
	case 0x1c: // select
		return immTypes
	case 0x3f, 0x40: // memory.size, memory.grow
		return immMemory
	case opI32Const:
		return immI32
	case opI64Const:
		return immI64
	case opF32Const:
		return imm4
	case opF64Const:
		return imm8
	case opRefNull:
		return immReference
	case 0xd1: // ref.is_null
		return immNone
	}
	return immUnknown
}

// shapeOfMisc knows the instructions behind the prefix 0xfc.
func shapeOfMisc(op uint32) shape {
	switch op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
		return immNone
	case opMemoryInit:
		return immIndexMemory
	case 10: // memory.copy
		return immMemories
	case 11: // memory.fill
		return immMemory
	case opTableInit, opTableCopy:
		return immIndexes
	case opDataDrop, opElemDrop, opTableGrow, 16, opTableFill: // 16: table.size
		return immIndex
	}
	return immUnknown
}

// shapeOfVector knows the instructions behind the prefix 0xfd.
func shapeOfVector(op uint32) shape {
	switch {
	case op <= 11 || op == 92 || op == 93: // loads and stores
		return immAccess
	case op == opV128Const || op == 13: // i8x16.shuffle
		return imm16
	case op >= 21 && op <= 34: // extract_lane, replace_lane
		return immLane
	case op >= 84 && op <= 91: // load_lane, store_lane
		return immAccessLane
	case op > 0xff:
		return immUnknown
	}
	switch op {
	case 0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb,
		0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3, 0xd4, 0xe2, 0xee: // never assigned
		return immUnknown
	}
	return immNone
}

// refusal explains an unknown instruction of one byte.
func refusal(op byte) error {
	switch op {
	case 0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f:
		return unsupported("exceptions")
	case 0x12, 0x13:
		return unsupported("tail calls")
	case 0x14, 0x15, 0xd3, 0xd4, 0xd5, 0xd6, 0xfb:
		return unsupported("typed references (garbage collection)")
	case 0xfe:
		return unsupported("atomic instructions (threads)")
	}
	return fmt.Errorf("unknown instruction %#x", op)
}

func refusalOf(prefix byte, op uint32) error {
	if prefix == prefixVector && op >= 0x100 && op <= 0x12f {
		return unsupported("relaxed vector instructions")
	}
	return fmt.Errorf("unknown instruction %#x %#x", prefix, op)
}
