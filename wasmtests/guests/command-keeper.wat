;; A command that answers true as long as no call finds in its memory or globals what
;; another left. It ends by proc_exit, in the middle of a function.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (global $seen (mut i32) (i32.const 0))
  (data (i32.const 0) "\10\00\00\00\04\00\00\00" "\00\00\00\00\00\00\00\00" "true")
  (func (export "_start")
    (if (i32.or (global.get $seen) (i32.load (i32.const 1000))) (then (unreachable)))
    (global.set $seen (i32.const 1))
    (i32.store (i32.const 1000) (i32.const 1))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $proc_exit (i32.const 0))
    (unreachable)))
