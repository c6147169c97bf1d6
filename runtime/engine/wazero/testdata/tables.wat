;; Answers "clean" when its table is as declared, and then changes it: an image cannot
;; hold that.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $t 2 2 funcref)
  (elem declare func $f)
  (data (i32.const 0) "cleandirty")
  (func $f)
  (func (export "air_call") (param i32) (result i32)
    (local $dirty i32)
    (local.set $dirty (i32.eqz (ref.is_null (table.get $t (i32.const 1)))))
    (table.set $t (i32.const 1) (ref.func $f))
    (drop (call $output_write (i32.mul (local.get $dirty) (i32.const 5)) (i32.const 5)))
    (i32.const 0)))
