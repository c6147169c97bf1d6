;; An ordered comparison with constant 0 on the left and an `and` on the right, of both
;; widths, as a value, in br_if, if and select, and through a local: wazero's compiler for
;; amd64 loses the swap of the operands. Answers true when each is right.
(module
  (import "air_v1" "output_write" (func $output_write (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "truefalse")
  (func $value (param i64 i64) (result i32)
    (i64.gt_s (i64.const 0) (i64.and (local.get 0) (local.get 1))))
  (func $branch (param i64 i64) (result i32)
    (block
      (br_if 0 (i64.gt_s (i64.const 0) (i64.and (local.get 0) (local.get 1))))
      (return (i32.const 0)))
    (i32.const 1))
  (func $branch32 (param i32 i32) (result i32)
    (block
      (br_if 0 (i32.gt_s (i32.const 0) (i32.and (local.get 0) (local.get 1))))
      (return (i32.const 0)))
    (i32.const 1))
  (func $unsigned (param i32 i32) (result i32)
    (block
      (br_if 0 (i32.lt_u (i32.const 0) (i32.and (local.get 0) (local.get 1))))
      (return (i32.const 0)))
    (i32.const 1))
  (func $if (param i32 i32) (result i32)
    (if (result i32) (i32.le_s (i32.const 0) (i32.and (local.get 0) (local.get 1)))
      (then (i32.const 1)) (else (i32.const 0))))
  (func $select (param i32 i32) (result i32)
    (select (i32.const 1) (i32.const 0) (i32.lt_s (i32.const 0) (i32.and (local.get 0) (local.get 1)))))
  (func $local (param i64 i64) (result i32)
    (local $and i64)
    (local.set $and (i64.and (local.get 0) (local.get 1)))
    (block
      (br_if 0 (i64.lt_s (i64.const 0) (local.get $and)))
      (return (i32.const 0)))
    (i32.const 1))
  ;; $shift is the loop of `for x&y > 0 { x >>= 1 }`, which must end.
  (func $shift (param i64 i64) (result i32)
    (local $n i32)
    (loop $again
      (if (i64.lt_s (i64.const 0) (i64.and (local.get 0) (local.get 1))) (then
        (local.set 0 (i64.shr_s (local.get 0) (i64.const 1)))
        (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 100))))))
    (local.get $n))
  (func (export "air_call") (param i32) (result i32)
    (local $right i32)
    ;; 12 & 10 = 8 is above 0; -16 & -8 = -16 is below; 12 & 3 = 0 is neither.
    (local.set $right
      (i32.and
        (i32.and
          (i32.and (i32.eqz (call $value (i64.const 12) (i64.const 10))) (call $value (i64.const -16) (i64.const -8)))
          (i32.and (i32.eqz (call $branch (i64.const 12) (i64.const 10))) (call $branch (i64.const -16) (i64.const -8))))
        (i32.and
          (i32.and (i32.eqz (call $branch32 (i32.const 12) (i32.const 3))) (call $branch32 (i32.const -16) (i32.const -8)))
          (i32.and (i32.eqz (call $unsigned (i32.const 12) (i32.const 3))) (call $unsigned (i32.const -16) (i32.const -8))))))
    (local.set $right
      (i32.and (local.get $right)
        (i32.and
          (i32.and (i32.eqz (call $if (i32.const -16) (i32.const -8))) (call $if (i32.const 12) (i32.const 10)))
          (i32.and (i32.eqz (call $select (i32.const -16) (i32.const -8))) (call $select (i32.const 12) (i32.const 10))))))
    (local.set $right
      (i32.and (local.get $right)
        (i32.and
          (i32.and (i32.eqz (call $local (i64.const -16) (i64.const -8))) (call $local (i64.const 12) (i64.const 10)))
          (i32.eq (call $shift (i64.const 0xff) (i64.const 0x10)) (i32.const 4)))))
    (if (result i32) (local.get $right)
      (then (call $output_write (i32.const 0) (i32.const 4)))
      (else (call $output_write (i32.const 4) (i32.const 5))))))
