;; G1: no loop, and still 2**200 calls, in the start function.
(module
  (memory (export "memory") 1)
  (func $f (param $n i32)
    (if (i32.eqz (local.get $n)) (then (return)))
    (call $f (i32.sub (local.get $n) (i32.const 1)))
    (call $f (i32.sub (local.get $n) (i32.const 1))))
  (func $s (call $f (i32.const 200)))
  (start $s)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
