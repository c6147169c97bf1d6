;; G9: uses a passive data segment and a passive element segment, which traps where an
;; earlier call dropped them, answers true and drops them.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (data $text "true")
  (elem $functions func $f)
  (func $f)
  (func (export "air_call") (param i32) (result i32)
    (memory.init $text (i32.const 0) (i32.const 0) (i32.const 4))
    (table.init $t $functions (i32.const 0) (i32.const 0) (i32.const 1))
    (data.drop $text)
    (elem.drop $functions)
    (call $output_write (i32.const 0) (i32.const 4))))
