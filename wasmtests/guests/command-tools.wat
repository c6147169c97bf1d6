;; A guest of air.v1 that has a _start, too.
(module
  (import "air_v1" "tool_call" (func (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "air_call") (param i32) (result i32) (i32.const 0))
  (func (export "_start")))
