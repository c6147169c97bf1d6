;; Succeeds with an output that is not JSON.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "not JSON")
  (func (export "air_call") (param i32) (result i32)
    (call $output_write (i32.const 0) (i32.const 8))))
