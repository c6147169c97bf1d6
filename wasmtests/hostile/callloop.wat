;; G1: an endless loop of host calls.
(module
  (import "air_v1" "input_read" (func $input_read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32)
    (loop (drop (call $input_read (i32.const 0) (i32.const 64) (i32.const 0))) (br 0))
    (i32.const 0)))
