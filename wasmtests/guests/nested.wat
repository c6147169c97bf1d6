;; Calls the tool t.t with an empty input and answers with the envelope.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "air_v1" "tool_call" (func $tool_call (param i32 i32 i32 i32) (result i32)))
  (import "air_v1" "result_read" (func $result_read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "t.t{}")
  (func (export "air_call") (param i32) (result i32)
    (local $n i32)
    (local.set $n (call $tool_call (i32.const 0) (i32.const 3) (i32.const 3) (i32.const 2)))
    (if (i32.lt_s (local.get $n) (i32.const 0)) (then (return (i32.const 2))))
    (local.set $n (call $result_read (i32.const 16) (i32.const 60000) (i32.const 0)))
    (call $output_write (i32.const 16) (local.get $n))))
