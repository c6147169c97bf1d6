;; G8: has a memory, and exports a table under its name.
(module
  (memory 1)
  (table (export "memory") 1 funcref)
  (func (export "air_call") (param i32) (result i32) (i32.const 0)))
