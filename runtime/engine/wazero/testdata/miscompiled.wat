;; Ordered compares of a constant 0 with an `and`, which wazero's compiler gets wrong on
;; amd64: it forgets to swap the operands. Go compiles `for x&y > 0` to this.
(module
  ;; for n = 0; x&y > 0 && n < 100; n++ { x >>= 1 }
  (func (export "loop") (param $x i64) (param $y i64) (result i32) (local $n i32)
    (block $done
      (loop $more
        (block $go
          (br_if $go (i64.lt_s (i64.const 0) (i64.and (local.get $x) (local.get $y))))
          (br $done))
        (br_if $done (i32.ge_u (local.get $n) (i32.const 100)))
        (local.set $x (i64.shr_s (local.get $x) (i64.const 1)))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br $more)))
    (local.get $n))
  (func (export "branch") (param $x i64) (param $y i64) (result i32)
    (block $yes
      (br_if $yes (i64.gt_s (i64.const 0) (i64.and (local.get $x) (local.get $y))))
      (return (i32.const 0)))
    (i32.const 1))
  ;; The constant comes through a local that nothing sets.
  (func (export "local") (param $x i64) (param $y i64) (result i32) (local $zero i64)
    (block $yes
      (br_if $yes (i64.gt_s (local.get $zero) (i64.and (local.get $x) (local.get $y))))
      (return (i32.const 0)))
    (i32.const 1))
  (func (export "value") (param $x i64) (param $y i64) (result i32)
    (i64.ge_s (i64.const 0) (i64.and (local.get $x) (local.get $y))))
  (func (export "if") (param $x i64) (param $y i64) (result i32)
    (if (result i32) (i32.lt_u (i32.const 0) (i32.and (i32.wrap_i64 (local.get $x)) (i32.wrap_i64 (local.get $y))))
      (then (i32.const 1))
      (else (i32.const 0))))
  (func (export "narrow") (param $x i64) (param $y i64) (result i32)
    (block $yes
      (br_if $yes (i32.gt_s (i32.const 0) (i32.and (i32.wrap_i64 (local.get $x)) (i32.wrap_i64 (local.get $y)))))
      (return (i32.const 0)))
    (i32.const 1))
  ;; The other order, and equality, were never wrong.
  (func (export "swapped") (param $x i64) (param $y i64) (result i32)
    (block $yes
      (br_if $yes (i64.lt_s (i64.and (local.get $x) (local.get $y)) (i64.const 0)))
      (return (i32.const 0)))
    (i32.const 1)))
