;; G7: imports env.system.
(module
  (import "env" "system" (func $system (param i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "id > /tmp/owned\00")
  (func (export "air_call") (param i32) (result i32) (call $system (i32.const 0))))
