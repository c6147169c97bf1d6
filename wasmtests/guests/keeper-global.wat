;; G9: answers true when its globals hold what they were declared with, bit by bit: a NaN
;; has a payload, and zero a sign; then changes all of them.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "truefalse")
  (global $constant i32 (i32.const 7))
  (global $i (mut i32) (i32.const -2))
  (global $l (mut i64) (i64.const 0x8000000000000001))
  (global $f (mut f32) (f32.const nan:0x200001))
  (global $d (mut f64) (f64.const -0))
  (func (export "air_call") (param i32) (result i32)
    (local $clean i32)
    (local.set $clean
      (i32.and
        (i32.and (i32.eq (global.get $i) (i32.const -2))
          (i64.eq (global.get $l) (i64.const 0x8000000000000001)))
        (i32.and (i32.eq (i32.reinterpret_f32 (global.get $f)) (i32.const 0x7fa00001))
          (i64.eq (i64.reinterpret_f64 (global.get $d)) (i64.const 0x8000000000000000)))))
    (global.set $i (global.get $constant))
    (global.set $l (i64.const 1))
    (global.set $f (f32.const 1))
    (global.set $d (f64.const 1))
    (if (result i32) (local.get $clean)
      (then (call $output_write (i32.const 0) (i32.const 4)))
      (else (call $output_write (i32.const 4) (i32.const 5))))))
