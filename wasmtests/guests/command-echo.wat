;; A command whose output is its input, read in pieces of three bytes and of two, and which
;; traps where the end does not come again.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\64\00\00\00\03\00\00\00" "\67\00\00\00\02\00\00\00" "\64\00\00\00")
  (func $read (result i32)
    (if (call $fd_read (i32.const 0) (i32.const 0) (i32.const 2) (i32.const 20)) (then (unreachable)))
    (i32.load (i32.const 20))) ;; which is the size of the piece at 16, too
  (func (export "_start")
    (block $end
      (loop $more
        (br_if $end (i32.eqz (call $read)))
        (if (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24)) (then (unreachable)))
        (br_if $end (i32.ne (i32.load (i32.const 24)) (i32.load (i32.const 20))))
        (br $more)))
    (if (call $read) (then (unreachable)))))
