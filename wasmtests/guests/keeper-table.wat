;; G9: answers true when its table is as declared, in size and in every entry; then changes
;; and grows it.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "truefalse")
  (type $number (func (result i32)))
  (table $t 3 64 funcref)
  (elem (table $t) (i32.const 1) func $one)
  (elem declare func $two)
  (func $one (result i32) (i32.const 1))
  (func $two (result i32) (i32.const 2))
  (func (export "air_call") (param i32) (result i32)
    (local $clean i32)
    (local.set $clean
      (i32.and
        (i32.and (i32.eq (table.size $t) (i32.const 3))
          (i32.eq (call_indirect $t (type $number) (i32.const 1)) (i32.const 1)))
        (i32.and (ref.is_null (table.get $t (i32.const 0))) (ref.is_null (table.get $t (i32.const 2))))))
    (table.fill $t (i32.const 0) (ref.func $two) (i32.const 3))
    (drop (table.grow $t (ref.func $two) (i32.const 8)))
    (if (result i32) (local.get $clean)
      (then (call $output_write (i32.const 0) (i32.const 4)))
      (else (call $output_write (i32.const 4) (i32.const 5))))))
