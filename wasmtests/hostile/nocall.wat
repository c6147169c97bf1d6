;; G8: does not export air_call.
(module
  (memory (export "memory") 1)
  (func (export "call") (param i32) (result i32) (i32.const 0)))
