;; Can be frozen. start and _initialize count in globals of every numeric type and in
;; memory, which _initialize grows. A call answers with "clean" when all is as they left
;; it, and then changes it. An input of one byte also grows the memory, one of two bytes
;; ends in a trap.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1 10)
  (data (i32.const 0) "cleandirty")
  (data (i32.const 70) "x")
  (global $i32 (mut i32) (i32.const 1))
  (global $i64 (mut i64) (i64.const -2))
  (global $f32 (mut f32) (f32.const 0.5))
  (global $f64 (mut f64) (f64.const 1e300))
  (global $fixed i32 (i32.const 3))
  (func $start (global.set $i32 (i32.add (global.get $i32) (i32.const 1))))
  (start $start)
  (func (export "_initialize")
    (global.set $i32 (i32.mul (global.get $i32) (i32.const 10)))
    (global.set $i64 (i64.sub (global.get $i64) (i64.const 0x100000000)))
    (global.set $f32 (f32.mul (global.get $f32) (f32.const 3)))
    (global.set $f64 (f64.neg (global.get $f64)))
    (drop (memory.grow (i32.const 2)))
    (i32.store8 (i32.const 150000) (i32.const 7)))
  ;; The bytes from 20 on, as a sum: 120 of the data and 7 of _initialize.
  (func $sum (result i32) (local $at i32) (local $sum i32)
    (local.set $at (i32.const 20))
    (loop $next
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (i32.mul (memory.size) (i32.const 65536)))))
    (local.get $sum))
  (func $clean (result i32)
    (i32.and (i32.and (i32.and
      (i32.eq (global.get $i32) (i32.const 20))
      (i64.eq (global.get $i64) (i64.const -4294967298)))
      (i32.and
      (f32.eq (global.get $f32) (f32.const 1.5))
      (f64.eq (global.get $f64) (f64.const -1e300))))
      (i32.and
      (i32.eq (memory.size) (i32.const 3))
      (i32.eq (call $sum) (i32.const 127)))))
  (func (export "air_call") (param $len i32) (result i32)
    (drop (call $output_write (select (i32.const 0) (i32.const 5) (call $clean)) (i32.const 5)))
    (global.set $i32 (i32.const 99))
    (global.set $i64 (i64.const 99))
    (global.set $f32 (f32.const 99))
    (global.set $f64 (f64.const 99))
    (if (i32.eq (local.get $len) (i32.const 1)) (then (drop (memory.grow (i32.const 3)))))
    (memory.fill (i32.const 20) (i32.const 255) (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 20)))
    (if (i32.eq (local.get $len) (i32.const 2)) (then unreachable))
    (i32.const 0)))
