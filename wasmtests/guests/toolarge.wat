;; Calls a tool with a request of 16 MiB and one byte, and one of 16 MiB; answers with both
;; results as two little-endian words.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "air_v1" "tool_call" (func $tool_call (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 257)
  (data (i32.const 0) "t.t")
  (func (export "air_call") (param i32) (result i32)
    (i32.store (i32.const 8) (call $tool_call (i32.const 0) (i32.const 3) (i32.const 16) (i32.const 0x1000001)))
    (i32.store (i32.const 12) (call $tool_call (i32.const 0) (i32.const 3) (i32.const 16) (i32.const 0x1000000)))
    (call $output_write (i32.const 8) (i32.const 8))))
