;; A command that ends in the way that the ninth byte of its input names, {"how":"…"}: r
;; returns without output, 0 and 3 exit with that status after true, t traps, l loops for
;; ever, o writes output until that is refused and says that all is well, m the same with
;; memory and status 2. Before that it writes to the log.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\00\01\00\00\00\01\00\00" "\20\00\00\00\08\00\00\00" "\28\00\00\00\04\00\00\00")
  (data (i32.const 32) "the log\0a" "true")
  (func $is (param $c i32) (result i32) (i32.eq (i32.load8_u (i32.const 264)) (local.get $c)))
  (func $true (drop (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 64))))
  (func (export "_start")
    (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 64)))
    (drop (call $fd_write (i32.const 2) (i32.const 8) (i32.const 1) (i32.const 64)))
    (if (call $is (i32.const 0x72)) (then (return)))
    (if (call $is (i32.const 0x30)) (then (call $true) (call $proc_exit (i32.const 0))))
    (if (call $is (i32.const 0x33)) (then (call $true) (call $proc_exit (i32.const 3))))
    (if (call $is (i32.const 0x6c)) (then (loop $again (br $again))))
    (if (call $is (i32.const 0x6f)) (then
      (loop $more (br_if $more (i32.eqz (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 64)))))
      (return)))
    (if (call $is (i32.const 0x6d)) (then
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
      (call $proc_exit (i32.const 2))))
    (unreachable)))
