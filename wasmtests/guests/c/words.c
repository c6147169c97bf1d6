// A guest in C that answers by the op of its input, as those in Go, Rust and
// AssemblyScript beside it do. Built twice: with wasi-libc as a reactor (words.wasm), and
// freestanding (words-free.wasm), where __wasi__ is not defined.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AIR(name) __attribute__((import_module("air_v1"), import_name(#name)))

AIR(input_read) int32_t input_read(void *dst, uint32_t size, uint32_t offset);
AIR(output_write) int32_t output_write(const void *src, uint32_t size);
AIR(tool_call) int32_t tool_call(const void *name, uint32_t name_size, const void *request, uint32_t size);
AIR(result_read) int32_t result_read(void *dst, uint32_t size, uint32_t offset);
AIR(emit) int32_t emit(int32_t kind, const void *payload, uint32_t size);

// Memory, standard error, random bytes and the clocks: from libc, or by our own hands.

#ifdef __wasi__
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *alloc(uint32_t size) {
	void *p = malloc(size);
	if (!p)
		abort();
	return p;
}

static void print(const char *text, uint32_t size) { fprintf(stderr, "%.*s\n", (int)size, text); }

static void random_bytes(void *dst, uint32_t size) { getentropy(dst, size); }

static uint64_t nanoseconds(bool wall) {
	struct timespec t;
	clock_gettime(wall ? CLOCK_REALTIME : CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#else
#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))

WASI(fd_write) int32_t fd_write(int32_t fd, const void *vector, uint32_t count, uint32_t *written);
WASI(random_get) int32_t random_bytes(void *dst, uint32_t size);
WASI(clock_time_get) int32_t clock_time_get(int32_t clock, int64_t precision, uint64_t *now);

extern unsigned char __heap_base;

// alloc never gives back: an instance lives for one call.
static void *alloc(uint32_t size) {
	static uint32_t top;
	uint32_t start = (top ? top : (uint32_t)&__heap_base) + 15 & ~15u;
	top = start + size;
	uint32_t need = (top + 65535) >> 16, have = __builtin_wasm_memory_size(0);
	if (need > have && __builtin_wasm_memory_grow(0, need - have) == (size_t)-1)
		__builtin_trap();
	return (void *)start;
}

static void print(const char *text, uint32_t size) {
	struct {
		const void *data;
		uint32_t size;
	} lines[2] = {{text, size}, {"\n", 1}};
	uint32_t written;
	fd_write(2, lines, 2, &written);
}

static uint64_t nanoseconds(bool wall) {
	uint64_t now = 0;
	clock_time_get(wall ? 0 : 1, 0, &now);
	return now;
}
#endif

// Reading JSON. What AIR hands over is valid; the text ends in a zero byte.

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static const char *space(const char *p) {
	while (is_space(*p))
		p++;
	return p;
}

static bool ends_value(char c) { return !c || is_space(c) || c == ',' || c == ':' || c == '}' || c == ']'; }

// skip returns what follows the value at p.
static const char *skip(const char *p) {
	int depth = 0;
	do {
		if (*p == '"')
			for (p++; *p != '"'; p++)
				p += *p == '\\';
		depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
		p++;
	} while (depth > 0 || !ends_value(*p));
	return p;
}

static bool same(const char *a, uint32_t size, const char *b) {
	for (uint32_t i = 0; i < size; i++)
		if (!b[i] || a[i] != b[i])
			return false;
	return !b[size];
}

// member returns the value of a key of the object at p, or null.
static const char *member(const char *p, const char *key) {
	if (!p || *p != '{')
		return NULL;
	for (p = space(p + 1); *p == '"'; p = space(p)) {
		const char *name = p + 1;
		p = skip(p);
		bool found = same(name, p - 1 - name, key);
		p = space(space(p) + 1);
		if (found)
			return p;
		p = space(skip(p));
		p += *p == ',';
	}
	return NULL;
}

static uint32_t number(const char *p) {
	uint32_t n = 0;
	for (; p && *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (*p - '0');
	return n;
}

typedef struct {
	char *data;
	uint32_t size;
} text;

static uint32_t hex4(const char *p) {
	uint32_t n = 0;
	for (int i = 0; i < 4; i++)
		n = n << 4 | (p[i] <= '9' ? p[i] - '0' : (p[i] & 15) + 9);
	return n;
}

static void put_utf8(text *t, uint32_t c) {
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	t->data[t->size++] = more ? (0xf0 << (3 - more) & 0xff) | c >> 6 * more : c;
	while (more--)
		t->data[t->size++] = 0x80 | (c >> 6 * more & 63);
}

// unescape writes the character behind a backslash and returns what follows.
static const char *unescape(text *t, const char *p) {
	uint32_t c;
	switch (*p) {
	case 'u':
		c = hex4(p + 1);
		p += 5;
		if (c >> 10 == 0xd800 >> 10) { // the first half of a pair
			c = 0x10000 + ((c & 0x3ff) << 10 | (hex4(p + 2) & 0x3ff));
			p += 6;
		}
		put_utf8(t, c);
		return p;
	case 'b': c = '\b'; break;
	case 'f': c = '\f'; break;
	case 'n': c = '\n'; break;
	case 'r': c = '\r'; break;
	case 't': c = '\t'; break;
	default: c = *p;
	}
	t->data[t->size++] = c;
	return p + 1;
}

static text string(const char *p) {
	text t = {NULL, 0};
	if (!p || *p != '"')
		return t;
	t.data = alloc(skip(p) - p);
	for (p++; *p != '"';) {
		if (*p == '\\')
			p = unescape(&t, p + 1);
		else
			t.data[t.size++] = *p++;
	}
	return t;
}

// Writing JSON, into a buffer that is large enough.

static void put(text *t, const char *s) {
	while (*s)
		t->data[t->size++] = *s++;
}

static void put_number(text *t, int64_t n) {
	char digits[20];
	int i = 0;
	if (n < 0) {
		put(t, "-");
		n = -n;
	}
	do
		digits[i++] = '0' + n % 10;
	while (n /= 10);
	while (i)
		t->data[t->size++] = digits[--i];
}

static void put_string(text *t, text s) {
	put(t, "\"");
	for (uint32_t i = 0; i < s.size; i++) {
		unsigned char c = s.data[i];
		if (c < 0x20) {
			put(t, c < 0x10 ? "\\u000" : "\\u001");
			c = "0123456789abcdef"[c & 15];
		} else if (c == '"' || c == '\\')
			put(t, "\\");
		t->data[t->size++] = c;
	}
	put(t, "\"");
}

static text buffer(text of) {
	text t = {alloc(of.size * 6 + 256), 0};
	return t;
}

// The ops.

static int32_t finish(text out, int32_t status) {
	return output_write(out.data, out.size) < 0 ? 2 : status;
}

static int32_t words(text in) {
	text out = buffer(in);
	uint32_t words = 0;
	bool inside = false;
	for (uint32_t i = 0; i < in.size; i++) {
		words += !inside && !is_space(in.data[i]);
		inside = !is_space(in.data[i]);
		if (in.data[i] >= 'a' && in.data[i] <= 'z')
			in.data[i] -= 'a' - 'A';
	}
	put(&out, "{\"upper\":");
	put_string(&out, in);
	put(&out, ",\"words\":");
	put_number(&out, words);
	put(&out, "}");
	return finish(out, 0);
}

static int32_t no_call(text out, int32_t code) {
	out.size = 0;
	put(&out, "{\"code\":\"no_call\",\"message\":\"no call was made\",\"details\":{\"code\":");
	put_number(&out, code);
	put(&out, "}}");
	return finish(out, 1);
}

// calls asks count times for a file whose name makes the request size bytes long, and
// counts the bytes of the outputs.
static int32_t calls(uint32_t count, uint32_t size) {
	uint32_t padding = size > 11 ? size - 11 : 0;
	text request = {alloc(padding + 256), 0};
	put(&request, "{\"path\":\"");
	while (padding--)
		put(&request, "x");
	put(&request, "\"}");
	text reply = {NULL, 0};
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < count; i++) {
		int32_t n = tool_call("fs.read", 7, request.data, request.size);
		if (n < 0)
			return no_call(request, n);
		if (reply.size <= (uint32_t)n) {
			reply.size = n + 1;
			reply.data = alloc(reply.size);
		}
		reply.data[result_read(reply.data, n, 0)] = 0;
		const char *output = member(reply.data, "output");
		bytes += output ? skip(output) - output : 0;
	}
	request.size = 0;
	put(&request, "{\"calls\":");
	put_number(&request, count);
	put(&request, ",\"bytes\":");
	put_number(&request, bytes);
	put(&request, "}");
	return finish(request, 0);
}

static int32_t fail(text in) {
	text out = buffer(in);
	put(&out, "{\"code\":\"asked_to\",\"message\":");
	put_string(&out, in);
	put(&out, ",\"details\":{\"op\":\"fail\"}}");
	return finish(out, 1);
}

static void emit_text(int32_t kind, const char *before, text in, const char *after) {
	text out = buffer(in);
	put(&out, before);
	put_string(&out, in);
	put(&out, after);
	emit(kind, out.data, out.size);
}

static int32_t answer(const char *json, int32_t status) {
	text out = buffer((text){NULL, 0});
	put(&out, json);
	return finish(out, status);
}

// emit_all uses each kind once.
static int32_t emit_all(text in) {
	emit_text(0, "{\"level\":\"info\",\"msg\":", in, "}");
	emit_text(1, "{\"fraction\":0.5,\"message\":", in, "}");
	emit_text(2, "", in, "");
	emit_text(3, "{\"name\":\"noted\",\"payload\":{\"text\":", in, "}}");
	return answer("{\"emitted\":4}", 0);
}

static int32_t draw(void) {
	uint64_t a = 0, b = 0;
	random_bytes(&a, sizeof a);
	random_bytes(&b, sizeof b);
	return answer(a != b ? "{\"differ\":true}" : "{\"differ\":false}", 0);
}

static int32_t look_at_clocks(void) {
	uint64_t first = nanoseconds(false);
	if (nanoseconds(true) < 1735689600u * 1000000000ull || nanoseconds(false) < first)
		return answer("{\"set\":false,\"forward\":false}", 0);
	return answer("{\"set\":true,\"forward\":true}", 0);
}

__attribute__((export_name("air_call"))) int32_t air_call(uint32_t size) {
	static uint32_t count; // of the calls that this instance has seen
	count++;
	char *invocation = alloc(size + 1);
	invocation[input_read(invocation, size, 0)] = 0;
	const char *input = member(space(invocation), "input");
	text op = string(member(input, "op")), in = string(member(input, "text"));
#define IS(name) same(op.data, op.size, name)
	if (IS("words"))
		return words(in);
	if (IS("calls"))
		return calls(number(member(input, "count")), number(member(input, "size")));
	if (IS("loop"))
		for (volatile uint32_t spin = 0;; spin++)
			;
	if (IS("fail"))
		return fail(in);
	if (IS("emit"))
		return emit_all(in);
	if (IS("print")) {
		print(in.data, in.size);
		return answer("{\"printed\":true}", 0);
	}
	if (IS("random"))
		return draw();
	if (IS("clock"))
		return look_at_clocks();
	if (IS("count"))
		return answer(count == 1 ? "{\"count\":1}" : "{\"count\":2}", 0);
	return answer("{\"code\":\"bad_input\",\"message\":\"unknown op\"}", 1);
}
