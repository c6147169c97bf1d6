;; G5: fills 600 MiB of memory before its call, of which no image is kept, and answers true.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "true")
  (func (export "_initialize")
    (drop (memory.grow (i32.const 9599)))
    (memory.fill (i32.const 4) (i32.const 1) (i32.const 629145596)))
  (func (export "air_call") (param i32) (result i32)
    (call $output_write (i32.const 0) (i32.const 4))))
