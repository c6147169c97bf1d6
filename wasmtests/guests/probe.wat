;; Calls one host function with any parameters and answers with what it returned, as a
;; JSON number. The input is a JSON string of hex numbers, eight digits each: the
;; function's place in the table below, then four parameters. It is found behind the
;; 23 bytes of {"tool":"t.t","input":" in the invocation. Memory is one page; the input
;; lies at 1024, scratch space for the test begins at 8192.
(module
  (import "air_v1" "input_read" (func $input_read (param i32 i32 i32) (result i32)))
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "air_v1" "tool_call" (func $tool_call (param i32 i32 i32 i32) (result i32)))
  (import "air_v1" "result_read" (func $result_read (param i32 i32 i32) (result i32)))
  (import "air_v1" "emit" (func $emit (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_fdstat_get" (func $fd_fdstat_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $fd_prestat_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 8192) "fs.read")
  (data (i32.const 8256) "{\"path\":\"a\"}")
  (data (i32.const 8320) "\c3") ;; the first byte of a two-byte character

  (func $hex (param $at i32) (result i32)
    (local $i i32) (local $c i32) (local $v i32)
    (loop $digit
      (local.set $c (i32.load8_u (i32.add (local.get $at) (local.get $i))))
      (local.set $c
        (select (i32.sub (local.get $c) (i32.const 48)) (i32.sub (local.get $c) (i32.const 87))
          (i32.le_u (local.get $c) (i32.const 57))))
      (local.set $v (i32.or (i32.shl (local.get $v) (i32.const 4)) (local.get $c)))
      (br_if $digit (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 8))))
    (local.get $v))

  (func $answer (param $v i32)
    (local $at i32) (local $negative i32)
    (local.set $at (i32.const 512))
    (local.set $negative (i32.lt_s (local.get $v) (i32.const 0)))
    (if (local.get $negative) (then (local.set $v (i32.sub (i32.const 0) (local.get $v)))))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $v) (i32.const 10))))
      (br_if $digit (local.tee $v (i32.div_u (local.get $v) (i32.const 10)))))
    (if (local.get $negative) (then
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at) (i32.const 45))))
    (drop (call $output_write (local.get $at) (i32.sub (i32.const 512) (local.get $at)))))

  (func $dispatch (param $f i32) (param $a i32) (param $b i32) (param $c i32) (param $d i32) (result i32)
    (block $12 (block $11 (block $10 (block $9 (block $8 (block $7 (block $6
    (block $5 (block $4 (block $3 (block $2 (block $1 (block $0
      (br_table $0 $1 $2 $3 $4 $5 $6 $7 $8 $9 $10 $11 $12 (local.get $f)))
      (return (call $input_read (local.get $a) (local.get $b) (local.get $c))))
      (return (call $output_write (local.get $a) (local.get $b))))
      (return (call $tool_call (local.get $a) (local.get $b) (local.get $c) (local.get $d))))
      (return (call $result_read (local.get $a) (local.get $b) (local.get $c))))
      (return (call $emit (local.get $a) (local.get $b) (local.get $c))))
      (return (call $fd_write (local.get $a) (local.get $b) (local.get $c) (local.get $d))))
      (return (call $random_get (local.get $a) (local.get $b))))
      (return (call $clock_time_get (local.get $a) (i64.const 0) (local.get $b))))
      (return (call $poll_oneoff (local.get $a) (local.get $b) (local.get $c) (local.get $d))))
      (return (call $args_sizes_get (local.get $a) (local.get $b))))
      (return (call $fd_fdstat_get (local.get $a) (local.get $b))))
      (return (call $fd_prestat_get (local.get $a) (local.get $b))))
    (call $path_open (i32.const 3) (i32.const 0) (local.get $a) (local.get $b) (i32.const 0)
      (i64.const -1) (i64.const -1) (i32.const 0) (local.get $c)))

  (func (export "air_call") (param $len i32) (result i32)
    (drop (call $input_read (i32.const 1024) (i32.const 4096) (i32.const 23)))
    (call $answer (call $dispatch
      (call $hex (i32.const 1024)) (call $hex (i32.const 1032)) (call $hex (i32.const 1040))
      (call $hex (i32.const 1048)) (call $hex (i32.const 1056))))
    (i32.const 0)))
