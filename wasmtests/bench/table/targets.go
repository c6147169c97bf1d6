package main

// target says what a ratio of medians should be.
type target struct {
	name    string
	limit   float64
	atLeast bool // the ratio should be at least limit, and not at most
}

func atMost(name string, limit float64) target { return target{name, limit, false} }

func atLeast(name string, limit float64) target { return target{name, limit, true} }

// targets lists what make bench should reach, in the order of the table.
func targets() []target {
	return []target{
		// An isolated call of 1 KiB of JSON in Go: at most a sixth of Extism's with a fresh
		// plugin, below its reused one, at most 0.45 of a native process. A reused plugin with
		// a timeout can be stopped, as AIR's guests always can; without one, endless loops
		// never end.
		atMost("isolated_call_go/extism_fresh", 1./6),
		atMost("isolated_call_go/extism_reused_timeout", 1),
		atMost("isolated_call_go/extism_reused", 1),
		atMost("isolated_call_go/native_process", 0.45),
		// In C: at most 0.4 of Extism's with a fresh plugin when both ends block, a sixth when
		// idle processors wait in a loop.
		atMost("isolated_call_c_two_callers/extism_fresh", 0.4),
		atMost("isolated_call_c/extism_fresh", 1./6),
		// Calls per second: at least 1.7 times as many from one to two processors.
		atLeast("throughput_two_workers_go/one", 1.7),
		atLeast("throughput_two_workers_c/one", 1.7),
		// A nested tool_call of 1 KiB without its decision: below 30 µs.
		atMost("nested_tool_call_go/30us", 1),
		atMost("nested_tool_call_c/30us", 1),
		// The first call of a Go module of 3.2 MB in a new process: below 90 ms.
		atMost("first_call_in_new_process/90ms", 1),
		// A call after a killed one, with a spare worker: no slower; a tenth is noise.
		atMost("call_after_kill_go/normal_call", 1.1),
		atMost("call_after_kill_c/normal_call", 1.1),
		// Resident memory of an idle worker: after calls in the benchmarks' own program, whose
		// file is smaller, and in the program air.
		atMost("idle_worker_resident_go/27MB", 1),
		atMost("idle_worker_resident_c/8MB", 1),
		atMost("air_call_worker_resident_go/27MB", 1),
		atMost("air_call_worker_resident_c/8MB", 1),
		// A thousand installed capabilities slow the start of air call by at most a tenth.
		atMost("air_call_with_1000_installed/with_one", 1.1),
		// Nor do ten thousand installed bundles, half of them versions of the one that is called.
		atMost("start_10000_installed", 1.1),
		// The rewriter costs at most 3 % where a guest only computes.
		atMost("rewritten_sieve/plain", 1.03),
		atMost("rewritten_matmul/plain", 1.03),
		atMost("rewritten_fib/plain", 1.03),
		atMost("rewritten_crc/plain", 1.03),
		// Loading a signed bundle of some kilobytes, signature and state included: below
		// 1 ms; hashing adds to it what the module is larger.
		atMost("verify_at_load_ms", 1),
		// A pull of 256 MiB in 8 layers: at most a quarter longer than reading, hashing and
		// writing the same bytes once, and no slower than the peers, which do not wait for
		// the disk.
		atMost("pull_256MiB/read_hash_write", 1.25),
		atMost("pull_256MiB/crane", 1),
		atMost("pull_256MiB/oras", 1),
		// Files: 200,000 listed recursively, and lines at the end of one of 100 MB.
		atMost("fs_list_200000/find", 3),
		atMost("fs_read_range_100MB/dd", 3),
		// A command that does nothing: at most 20 ms over starting it without the sandbox.
		atMost("run_true_over_fork_exec_ms", 20),
		// The state of a repository of 20,000 files: at most half as long again as git.
		atMost("git_status_20000/git", 1.5),
	}
}
