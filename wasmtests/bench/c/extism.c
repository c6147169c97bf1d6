/* The task as a plugin of Extism, by the imports of its kernel. */
#include "task.h"

#define IMPORT(name) __attribute__((import_module("extism:host/env"), import_name(#name)))
IMPORT(input_length) uint64_t input_length(void);
IMPORT(input_load_u8) uint32_t input_load_u8(uint64_t offset);
IMPORT(input_load_u64) uint64_t input_load_u64(uint64_t offset);
IMPORT(alloc) uint64_t kernel_alloc(uint64_t length);
IMPORT(store_u8) void store_u8(uint64_t offset, uint32_t value);
IMPORT(store_u64) void store_u64(uint64_t offset, uint64_t value);
IMPORT(output_set) void output_set(uint64_t offset, uint64_t length);

static _Alignas(8) char in[TASK_MAX], out[TASK_MAX + 128];

__attribute__((export_name("run"))) int32_t run(void) {
  uint32_t length = input_length(), i;
  task t = {0};
  if (length > TASK_MAX) return 2;
  for (i = 0; i + 8 <= length; i += 8) *(uint64_t *)(in + i) = input_load_u64(i);
  for (; i < length; i++) in[i] = input_load_u8(i);
  cursor c = {in, in + length};
  if (!parse_task(&c, &t)) return 3;
  length = answer(&t, out);
  uint64_t at = kernel_alloc(length);
  for (i = 0; i + 8 <= length; i += 8) store_u64(at + i, *(uint64_t *)(out + i));
  for (; i < length; i++) store_u8(at + i, (uint8_t)out[i]);
  output_set(at, length);
  return 0;
}
