;; G9: what guests/remember does, but nothing that an image cannot hold: its calls follow each
;; other in one instance. It answers true when it finds nothing that an earlier call left in
;; its memory or in a global, and then leaves something everywhere.
;; wat2wasm secret.wat -o secret.wasm
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 5)
  (global $g (mut i32) (i32.const 7))
  (global $h (mut i64) (i64.const 0))
  (data (i32.const 0) "truefalse")
  (data (i32.const 200000) "\01\02\03\04")
  (func (export "_initialize")
    (global.set $h (i64.const 9))
    (i32.store (i32.const 100000) (i32.const 5)))
  (func (export "air_call") (param i32) (result i32)
    (local $sum i32) (local $at i32)
    (local.set $at (i32.const 16))
    (loop $word
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $word (i32.lt_u (local.get $at) (i32.mul (memory.size) (i32.const 65536)))))
    (local.set $at (i32.and
      (i32.eq (local.get $sum) (i32.const 0x04030206)) ;; 5 and the data
      (i32.and (i32.eq (global.get $g) (i32.const 7)) (i64.eq (global.get $h) (i64.const 9)))))
    (global.set $g (i32.const 1))
    (global.set $h (i64.const 1))
    (memory.fill (i32.const 16) (i32.const 255) (i32.const 327664))
    (if (result i32) (local.get $at)
      (then (call $output_write (i32.const 0) (i32.const 4)))
      (else (call $output_write (i32.const 4) (i32.const 5))))))
