;; G5: a million tool calls, then a million log lines; answers with how many were made.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "air_v1" "tool_call" (func $tool_call (param i32 i32 i32 i32) (result i32)))
  (import "air_v1" "emit" (func $emit (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "fs.stat{}")
  (func (export "air_call") (param i32) (result i32)
    (local $i i32) (local $made i32) (local $at i32)
    (loop $again
      (local.set $made (i32.add (local.get $made)
        (i32.ge_s (call $tool_call (i32.const 0) (i32.const 7) (i32.const 7) (i32.const 2)) (i32.const 0))))
      (local.set $made (i32.add (local.get $made)
        (i32.ge_s (call $emit (i32.const 0) (i32.const 7) (i32.const 2)) (i32.const 0))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1000000))))
    (local.set $at (i32.const 512))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $made) (i32.const 10))))
      (br_if $digit (local.tee $made (i32.div_u (local.get $made) (i32.const 10)))))
    (call $output_write (local.get $at) (i32.sub (i32.const 512) (local.get $at)))))
