;; G1: an endless loop.
(module
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32) (loop (br 0)) (i32.const 0)))
