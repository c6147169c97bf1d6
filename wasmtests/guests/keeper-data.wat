;; G9: answers true when its data still reads as declared; then overwrites it. The second
;; segment lies in a page of its own, and its zeros are as much part of it as its letters.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 3)
  (data (i32.const 0) "truefalse")
  (data (i32.const 131064) "a\00\00\00\00\00\00b")
  (func (export "air_call") (param i32) (result i32)
    (local $dirty i32)
    (local.set $dirty (i64.ne (i64.load (i32.const 131064)) (i64.const 0x6200000000000061)))
    (i64.store (i32.const 131064) (i64.const -1))
    (if (result i32) (local.get $dirty)
      (then (call $output_write (i32.const 4) (i32.const 5)))
      (else (call $output_write (i32.const 0) (i32.const 4))))))
