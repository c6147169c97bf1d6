;; G7: imports a version of the ABI that does not exist.
(module
  (import "air_v2" "input_read" (func (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
