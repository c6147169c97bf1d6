;; G4: passes wild pointers to every function of the ABI and answers with the sum of what
;; they returned: five times EFAULT, which is -1.
(module
  (import "air_v1" "input_read" (func $input_read (param i32 i32 i32) (result i32)))
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "air_v1" "tool_call" (func $tool_call (param i32 i32 i32 i32) (result i32)))
  (import "air_v1" "emit" (func $emit (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "{\"sum\":-0}")
  (func (export "air_call") (param i32) (result i32)
    (local $sum i32)
    (local.set $sum (call $input_read (i32.const 0xfffffff0) (i32.const 64) (i32.const 0)))
    (local.set $sum (i32.add (local.get $sum) (call $output_write (i32.const 65535) (i32.const 2))))
    (local.set $sum (i32.add (local.get $sum) (call $output_write (i32.const 16) (i32.const -1))))
    (local.set $sum (i32.add (local.get $sum)
      (call $tool_call (i32.const 0x7fffffff) (i32.const 7) (i32.const 0) (i32.const 2))))
    (local.set $sum (i32.add (local.get $sum) (call $emit (i32.const 0) (i32.const 65530) (i32.const 64))))
    (i32.store8 (i32.const 8) (i32.sub (i32.const 48) (local.get $sum)))
    (call $output_write (i32.const 0) (i32.const 10))))
