;; G5: fills all of its 64 MiB of memory, makes three nested calls, and writes 63 MiB of
;; output: spaces, and the number of calls that were answered.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "air_v1" "tool_call" (func $tool_call (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "t.t{}")
  (func (export "air_call") (param i32) (result i32)
    (local $left i32) (local $answered i32)
    (if (i32.lt_s (memory.grow (i32.const 1023)) (i32.const 0)) (then (return (i32.const 2))))
    (memory.fill (i32.const 16) (i32.const 0x20) (i32.const 67108848))
    (local.set $left (i32.const 3))
    (loop $call
      (local.set $answered (i32.add (local.get $answered) (i32.gt_s
        (call $tool_call (i32.const 0) (i32.const 3) (i32.const 3) (i32.const 2)) (i32.const 0))))
      (br_if $call (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (local.set $left (i32.const 63))
    (loop $write
      (drop (call $output_write (i32.const 16) (i32.const 1048576)))
      (br_if $write (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (i32.store8 (i32.const 16) (i32.add (local.get $answered) (i32.const 0x30)))
    (call $output_write (i32.const 16) (i32.const 1))))
