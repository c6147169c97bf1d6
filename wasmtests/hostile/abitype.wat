;; G7: imports a function of the ABI with another type.
(module
  (import "air_v1" "tool_call" (func (param i32 i32 i32 i32) (result i64)))
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
