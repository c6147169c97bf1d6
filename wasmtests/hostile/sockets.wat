;; G7: the names of WASI's files and sockets link, and there is nothing behind them:
;; answers true when each says ENOSYS, which is 52.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_send" (func $send (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_readdir" (func $readdir (param i32 i32 i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "true")
  (data (i32.const 16) "/etc/passwd")
  (func $unless (param $code i32) (if (i32.ne (local.get $code) (i32.const 52)) (then (unreachable))))
  (func (export "air_call") (param i32) (result i32)
    (call $unless (call $accept (i32.const 3) (i32.const 0) (i32.const 64)))
    (call $unless (call $send (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 64)))
    (call $unless (call $open (i32.const 3) (i32.const 0) (i32.const 16) (i32.const 11) (i32.const 0)
      (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 64)))
    (call $unless (call $readdir (i32.const 3) (i32.const 64) (i32.const 64) (i64.const 0) (i32.const 64)))
    (call $output_write (i32.const 0) (i32.const 4))))
