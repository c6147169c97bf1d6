;; G5: writes 4 GiB of output and then claims success.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32)
    (local $i i32)
    (memory.fill (i32.const 0) (i32.const 55) (i32.const 65536))
    (loop $again
      (drop (call $output_write (i32.const 0) (i32.const 65536)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 65536))))
    (i32.const 0)))
