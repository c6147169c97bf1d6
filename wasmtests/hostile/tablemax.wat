;; G2: declares a maximum of four billion table entries, and grows by five million. It is
;; refused, and can live with that: answers true.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $t 1 4000000000 funcref)
  (data (i32.const 0) "true")
  (func (export "air_call") (param i32) (result i32)
    (if (i32.ne (table.grow $t (ref.null func) (i32.const 5000000)) (i32.const -1)) (then (unreachable)))
    (call $output_write (i32.const 0) (i32.const 4))))
