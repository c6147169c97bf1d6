;; A module that fails before its call, each time.
;; wat2wasm --debug-names badstart.wat -o badstart.wasm
(module
  (memory (export "memory") 1)
  (func $prepare (unreachable))
  (func (export "_initialize") (call $prepare))
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
