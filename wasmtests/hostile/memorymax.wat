;; G2: declares a maximum of 4 GiB and grows by almost as much at once. It is refused, and
;; can live with that: answers true.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1 65536)
  (data (i32.const 0) "true")
  (func (export "air_call") (param i32) (result i32)
    (if (i32.ne (memory.grow (i32.const 60000)) (i32.const -1)) (then (unreachable)))
    (call $output_write (i32.const 0) (i32.const 4))))
