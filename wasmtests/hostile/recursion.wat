;; G3: unbounded recursion.
(module
  (memory (export "memory") 1)
  (func $f (param i64 i64 i64 i64) (result i64)
    (i64.add
      (call $f (i64.add (local.get 0) (i64.const 1)) (local.get 1) (local.get 2) (local.get 3))
      (i64.add (local.get 1) (local.get 0))))
  (func (export "air_call") (param i32) (result i32)
    (i32.wrap_i64 (call $f (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4)))))
