;; G7: imports a function that the ABI does not have.
(module
  (import "air_v1" "exec" (func (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
