;; G9: answers true when it finds no secret that an earlier call left in memory, be it in
;; the first page, at its end, or in pages that it grows into: in some of them anywhere, in
;; the others, which are too many for an interpreter, in each KiB. Then it leaves one all over.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "truefalse")
  (func (export "air_call") (param i32) (result i32)
    (local $dirty i32) (local $at i32)
    (local.set $dirty (i32.ne (memory.grow (i32.const 400)) (i32.const 2)))
    (local.set $at (i32.const 16))
    (loop $word
      (local.set $dirty (i32.or (local.get $dirty)
        (i64.ne (i64.load (local.get $at)) (i64.const 0))))
      (local.set $at (i32.add (local.get $at)
        (select (i32.const 8) (i32.const 1024) (i32.lt_u (local.get $at) (i32.const 1441792))))) ;; 22 pages
      (br_if $word (i32.lt_u (local.get $at) (i32.mul (memory.size) (i32.const 65536)))))
    (memory.fill (i32.const 16) (i32.const 0x5e) (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 16)))
    (if (result i32) (local.get $dirty)
      (then (call $output_write (i32.const 4) (i32.const 5)))
      (else (call $output_write (i32.const 0) (i32.const 4))))))
