;; G3: unbounded recursion in the start function.
(module
  (memory (export "memory") 1)
  (func $s (call $s) (call $s))
  (start $s)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
