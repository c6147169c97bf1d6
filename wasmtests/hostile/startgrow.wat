;; G2: grows its memory until it is refused, in the start function, and traps.
(module
  (memory (export "memory") 1)
  (func $s
    (loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
    (unreachable))
  (start $s)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
