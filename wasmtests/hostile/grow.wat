;; G2: grows its memory, a MiB at a time, until it is refused, and traps.
(module
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32)
    (loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
    (unreachable)))
