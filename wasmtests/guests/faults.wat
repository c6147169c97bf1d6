;; Traps in the way that the first byte of its input names: b out of bounds, d division by
;; zero, o integer overflow, n call of a null reference, s signature that does not match,
;; t conversion of NaN, m out of bounds in memory.fill, u unreachable, g the same once it
;; asked for 128 MiB of memory. Before that it writes output, which goes nowhere.
(module
  (import "air_v1" "input_read" (func $input_read (param i32 i32 i32) (result i32)))
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table 2 funcref)
  (elem (i32.const 1) func $f)
  (func $f (param i64))
  (func $is (param $c i32) (result i32) (i32.eq (i32.load8_u (i32.const 0)) (local.get $c)))
  (func (export "air_call") (param i32) (result i32)
    (drop (call $input_read (i32.const 0) (i32.const 1) (i32.const 0)))
    (drop (call $output_write (i32.const 0) (i32.const 1)))
    (if (call $is (i32.const 0x62)) (then (i64.store (i32.const 65529) (i64.const 1))))
    (if (call $is (i32.const 0x64)) (then (drop (i32.div_u (i32.const 1) (i32.load (i32.const 64))))))
    (if (call $is (i32.const 0x6f)) (then
      (drop (i32.div_s (i32.const 0x80000000) (i32.sub (i32.load (i32.const 64)) (i32.const 1))))))
    (if (call $is (i32.const 0x6e)) (then (call_indirect (i32.const 0))))
    (if (call $is (i32.const 0x73)) (then (call_indirect (i32.const 1))))
    (if (call $is (i32.const 0x74)) (then (drop (i32.trunc_f32_s (f32.const nan)))))
    (if (call $is (i32.const 0x6d)) (then (memory.fill (i32.const 65530) (i32.const 1) (i32.const 7))))
    (if (call $is (i32.const 0x67)) (then (drop (memory.grow (i32.const 2048)))))
    (unreachable)))
