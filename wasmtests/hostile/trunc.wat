;; Converts to an integer a number that it reads across data and zeros, and divides by zero
;; behind it: the conversion comes first, and 2**1007 fits no integer.
(module
  (memory (export "memory") 1)
  (data (i32.const 0) "\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\7e\7e\7e\7e")
  (func (export "air_call") (param i32) (result i32)
    (i32.wrap_i64
      (i64.div_s
        (i64.rotr (i64.const -32768) (i64.trunc_f64_s (f64.load offset=3 (i32.and (local.get 0) (i32.const 0)))))
        (i64.const 0)))))
