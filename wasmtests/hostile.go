package wasmtests

import (
	"slices"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

// Phase is where a hostile module is stopped.
type Phase string

const (
	Proof   Phase = "proof"   // before any worker sees it: internal/wasmbin checks that
	Compile Phase = "compile" // in a worker that compiles, and runs nothing: its code is compile_limit
	Call    Phase = "call"    // in a worker that runs it, be it before air_call
)

// Case is a hostile module and how a call of it ends under default limits.
type Case struct {
	Name   string // of a committed module, or of the function that makes it
	Module func(t testing.TB) []byte
	Phase  Phase
	Kind   fault.Kind // "" for a call that succeeds; timeout for one that lasts until its deadline
	Code   string
	Says   string // a part of the message
	Output string // of a call that succeeds
}

// Hostile lists all hostile modules. Those of phase compile take what the compile limit
// gives them.
func Hostile() []Case {
	return slices.Concat(endless(), greedy(), unlinkable(), misshapen(), bombs(), survivors())
}

func committed(phase Phase, kind fault.Kind, code, says string, names ...string) (cases []Case) {
	for _, name := range names {
		name = "hostile/" + name
		cases = append(cases, Case{
			Name: name, Module: func(t testing.TB) []byte { return Module(t, name) },
			Phase: phase, Kind: kind, Code: code, Says: says,
		})
	}
	return cases
}

func made(name string, module func() []byte, phase Phase, kind fault.Kind, code string) Case {
	return Case{Name: name, Module: func(testing.TB) []byte { return module() }, Phase: phase, Kind: kind, Code: code}
}

// endless modules do not come back (G1).
func endless() []Case {
	return committed(Call, fault.Timeout, "", "", "loop", "startloop", "initloop", "callloop", "sleep", "explode", "startexplode")
}

// greedy modules want more than there is for them (G2, G3, G5).
func greedy() []Case {
	return slices.Concat(
		committed(Proof, fault.InvalidInput, "initial_memory", "", "memorymin"),
		committed(Proof, fault.InvalidInput, "module_too_complex", "table entries", "tablemin", "tablemid"),
		committed(Call, fault.ResourceExhausted, "memory", "", "grow", "startgrow"),
		committed(Call, fault.GuestTrap, "trap", "stack overflow", "recursion", "startrecursion"),
		committed(Call, fault.GuestTrap, "trap", "unreachable", "table", "inittrap"),
		committed(Call, fault.GuestTrap, "trap", "integer overflow", "trunc"),
		committed(Call, fault.ResourceExhausted, "output_bytes", "", "output"),
		committed(Call, fault.GuestError, "bad_output", "", "deepjson"),
	)
}

// unlinkable modules import what guests may not have (G7).
func unlinkable() []Case {
	return slices.Concat(
		committed(Proof, fault.InvalidInput, "forbidden_import", `"system" from "env"`, "system"),
		committed(Proof, fault.InvalidInput, "forbidden_import", `"air_v2"`, "abi2"),
		committed(Proof, fault.InvalidInput, "forbidden_import", `"exec" from "air_v1"`, "abiname"),
		committed(Proof, fault.InvalidInput, "forbidden_import", "(i32, i32, i32, i32) -> (i64)", "abitype"),
		committed(Proof, fault.InvalidInput, "forbidden_import", `global "secret"`, "abiglobal"),
		committed(Proof, fault.InvalidInput, "forbidden_import", `"wasi_unstable"`, "wasiold"),
		committed(Proof, fault.InvalidInput, "forbidden_import", `"proc_spawn"`, "wasiname"),
		committed(Proof, fault.InvalidInput, "forbidden_import", `memory "memory"`, "memoryimport"),
	)
}

// misshapen modules do not export what a guest must (G8).
func misshapen() []Case {
	return slices.Concat(
		committed(Proof, fault.InvalidInput, "forbidden_export", `its memory under the name "memory"`, "nomemory", "hiddenmemory"),
		committed(Proof, fault.InvalidInput, "forbidden_export", "the function air_call (i32) -> (i32)", "nocall", "callglobal"),
		committed(Proof, fault.InvalidInput, "forbidden_export", "as (i64) -> (i64)", "calltype"),
		committed(Proof, fault.InvalidInput, "forbidden_export", "as (i32) -> ()", "inittype"),
		committed(Proof, fault.InvalidInput, "forbidden_export", "WASI command", "command", "commandtools"),
		committed(Proof, fault.InvalidInput, "forbidden_export", `"air.start"`, "reserved"),
		[]Case{made("TwoMemories", twoMemories, Proof, fault.InvalidInput, "unsupported_module")},
	)
}

// bombs want their compiler to give up (G10, G18).
func bombs() []Case {
	return []Case{
		made("Locals", Locals, Proof, fault.InvalidInput, "module_too_complex"),
		made("Functions", functions, Proof, fault.InvalidInput, "module_too_complex"),
		// No bundle of this size can be installed, so this file is not the one that was.
		made("Data", func() []byte { return filled(64) }, Proof, fault.Integrity, "module_unreadable"),
		made("Nest", Nest, Compile, fault.ResourceExhausted, "compile_limit"),
		made("BranchTable", BranchTable, Compile, fault.ResourceExhausted, "compile_limit"),
		made("LocalsTimesLoops", LocalsTimesLoops, Compile, fault.ResourceExhausted, "compile_limit"),
	}
}

// survivors try something and are none the better for it: they answer well.
func survivors() []Case {
	cases := committed(Call, "", "", "", "memorymax", "tablemax", "miscompile", "sockets", "overlap")
	cases = append(cases,
		made("Overlong", overlong, Call, "", ""),
		made("LargeData", func() []byte { return filled(24) }, Call, "", ""),
		made("Straight", func() []byte { return straight(100_000) }, Call, "", ""))
	pointers := committed(Call, "", "", "", "pointers")
	million := committed(Call, "", "", "", "million")
	// Of its two million calls a thousand are made, and half of them emit what is no log line.
	return slices.Concat(answering("true", cases), answering(`{"sum":-5}`, pointers), answering("500", million))
}

func answering(output string, cases []Case) []Case {
	for i := range cases {
		cases[i].Output = output
	}
	return cases
}
