;; G8: is a program, not a library.
(module
  (memory (export "memory") 1)
  (func (export "_start")))
