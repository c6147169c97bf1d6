;; G2: grows a table by ten million entries at a time.
(module
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (func (export "air_call") (param i32) (result i32)
    (loop (br_if 0 (i32.ne (table.grow $t (ref.null func) (i32.const 10000000)) (i32.const -1))))
    (unreachable)))
