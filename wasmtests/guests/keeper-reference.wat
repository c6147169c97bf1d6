;; G9: the same for mutable globals that an image cannot hold, of reference and vector type.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "truefalse")
  (elem declare func $f)
  (global $r (mut funcref) (ref.null func))
  (global $v (mut v128) (v128.const i64x2 1 2))
  (func $f)
  (func (export "air_call") (param i32) (result i32)
    (local $clean i32)
    (local.set $clean
      (i32.and (ref.is_null (global.get $r))
        (i8x16.all_true (i8x16.eq (global.get $v) (v128.const i64x2 1 2)))))
    (global.set $r (ref.func $f))
    (global.set $v (v128.const i64x2 3 4))
    (if (result i32) (local.get $clean)
      (then (call $output_write (i32.const 0) (i32.const 4)))
      (else (call $output_write (i32.const 4) (i32.const 5))))))
