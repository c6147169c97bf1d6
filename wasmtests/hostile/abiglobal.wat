;; G7: imports a global.
(module
  (import "air_v1" "secret" (global i32))
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
