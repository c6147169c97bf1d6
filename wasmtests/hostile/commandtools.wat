;; G7: is a program, and imports what only guests of air.v1 may.
(module
  (import "air_v1" "tool_call" (func (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")))
