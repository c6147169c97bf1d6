;; Answers with its passive segment, and then drops it: the next call would trap.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data $d "clean")
  (func (export "air_call") (param i32) (result i32)
    (memory.init $d (i32.const 0) (i32.const 0) (i32.const 5))
    (data.drop $d)
    (drop (call $output_write (i32.const 0) (i32.const 5)))
    (i32.const 0)))
