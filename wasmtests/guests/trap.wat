;; Prints a line with an escape sequence in it to stderr and traps, two calls deep.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\0f\00\00\00")
  (data (i32.const 16) "about to \1b[2Jgo")
  (func $inner (unreachable))
  (func $outer (call $inner))
  (func (export "air_call") (param i32) (result i32)
    (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 64)))
    (call $outer)
    (i32.const 0)))
