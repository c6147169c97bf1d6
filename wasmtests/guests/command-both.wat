;; A guest of either ABI: its output is 1 when air_call ran, 2 when _start did after the
;; start function, 3 without that.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (global $started (mut i32) (i32.const 0))
  (data (i32.const 0) "\10\00\00\00\01\00\00\00" "\00\00\00\00\00\00\00\00" "123")
  (func $start (global.set $started (i32.const 1)))
  (start $start)
  (func $write (param $fd i32) (param $digit i32)
    (i32.store (i32.const 0) (i32.add (i32.const 15) (local.get $digit)))
    (drop (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func (export "air_call") (param i32) (result i32)
    (call $write (i32.const 2) (i32.const 1))
    (i32.const 0))
  (func (export "_start")
    (call $write (i32.const 1) (i32.sub (i32.const 3) (global.get $started)))))
