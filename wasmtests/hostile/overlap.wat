;; G4: host calls with overlapping and empty ranges, and with the last byte. Answers true
;; when they did what they say.
(module
  (import "air_v1" "input_read" (func $input_read (param i32 i32 i32) (result i32)))
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "true")
  ;; one piece that is the vector itself
  (data (i32.const 16) "\10\00\00\00\08\00\00\00")
  (func (export "air_call") (param i32) (result i32)
    ;; the number of bytes written goes over the vector
    (if (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 16)) (then (unreachable)))
    (if (i32.ne (i32.load (i32.const 16)) (i32.const 8)) (then (unreachable)))
    (if (call $input_read (i32.const 65536) (i32.const 0) (i32.const 0)) (then (unreachable)))
    (if (call $output_write (i32.const 65536) (i32.const 0)) (then (unreachable)))
    (if (i32.ne (call $input_read (i32.const 65535) (i32.const 1) (i32.const 0)) (i32.const 1)) (then (unreachable)))
    (if (i32.ne (i32.load8_u (i32.const 65535)) (i32.const 0x7b)) (then (unreachable)))
    (call $output_write (i32.const 0) (i32.const 4))))
