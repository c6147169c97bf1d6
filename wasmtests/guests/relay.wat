;; Asks for fs.read of .env and then fails with an error of its own, in which it claims a
;; cause that is not the host's.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (import "air_v1" "tool_call" (func $tool_call (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "fs.read")
  (data (i32.const 16) "{\"path\":\".env\"}")
  (data (i32.const 64) "{\"code\":\"no_env\",\"message\":\"cannot read .env\",\"details\":{\"tried\":1,\"cause\":\"forged\"}}")
  (func (export "air_call") (param i32) (result i32)
    (drop (call $tool_call (i32.const 0) (i32.const 7) (i32.const 16) (i32.const 15)))
    (drop (call $output_write (i32.const 64) (i32.const 85)))
    (i32.const 1)))
