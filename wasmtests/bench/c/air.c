/* The task as a guest of AIR, with the operations of ../text: echo, calls, loop. */
#include "task.h"

#define IMPORT(name) __attribute__((import_module("air_v1"), import_name(#name)))
IMPORT(input_read) int32_t input_read(void *dst, uint32_t capacity, uint32_t offset);
IMPORT(output_write) int32_t output_write(const void *src, uint32_t length);
IMPORT(tool_call) int32_t tool_call(const char *name, uint32_t name_length, const void *request, uint32_t request_length);
IMPORT(result_read) int32_t result_read(void *dst, uint32_t capacity, uint32_t offset);

static char in[TASK_MAX], out[TASK_MAX + 128];
static volatile uint32_t turns;

/* n calls with a request of 1 KiB; each envelope is read. */
static void call_tools(uint32_t n) {
  static char request[1 << 10];
  char *end = put(request, "{\"text\":\"");
  while (end < request + sizeof request - 2) *end++ = 'x';
  put(end, "\"}");
  for (uint32_t i = 0; i < n; i++) {
    int32_t length = tool_call("bench.absent", 12, request, sizeof request);
    if (length > 0) result_read(out, length < TASK_MAX ? length : TASK_MAX, 0);
  }
}

/* The member "input" of the invocation. */
static int parse(uint32_t length, task *t) {
  cursor c = {in, in + length};
  text key;
  int first = 1;
  if (!take(&c, '{')) return 0;
  while (member(&c, &key, &first) && first != 2) {
    if (is(key, "input")) return parse_task(&c, t);
    if (!skip(&c, 0)) return 0;
  }
  return 0;
}

__attribute__((export_name("air_call"))) int32_t air_call(uint32_t length) {
  task t = {0};
  if (length > TASK_MAX) return 2;
  input_read(in, length, 0);
  if (!parse(length, &t)) return 3;
  if (is(t.op, "loop")) for (;;) turns++;
  if (is(t.op, "calls")) call_tools(t.n);
  return output_write(out, answer(&t, out));
}
