;; G1: an endless loop in the start function.
(module
  (memory (export "memory") 1)
  (func $s (loop (br 0)))
  (start $s)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
