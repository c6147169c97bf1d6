;; G5: JSON nested 100,000 deep.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 4)
  (func (export "air_call") (param i32) (result i32)
    (memory.fill (i32.const 0) (i32.const 0x5b) (i32.const 100000))
    (memory.fill (i32.const 100000) (i32.const 0x5d) (i32.const 100000))
    (call $output_write (i32.const 0) (i32.const 200000))))
