;; G8: exports a global as air_call.
(module
  (memory (export "memory") 1)
  (global (export "air_call") i32 (i32.const 0)))
