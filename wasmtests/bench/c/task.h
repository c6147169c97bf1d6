/* The task of ../text in C, without a library: reads {"op", "n", "tags", "text"}, puts the
   text in upper case and counts its words. Strings with escapes are refused. */
#include <stdint.h>

enum { TASK_MAX = 16 << 10 }; /* bytes of an input and of an output */

typedef struct { const char *at, *end; } cursor;
typedef struct { const char *at; uint32_t length; } text;
typedef struct { text op, text; uint32_t n, tags; } task;

static int next(cursor *c) { /* the next byte that is no space, or -1 */
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r')) c->at++;
  return c->at < c->end ? *c->at : -1;
}

static int take(cursor *c, char want) { return next(c) == want ? c->at++, 1 : 0; }

static int is(text t, const char *word) {
  uint32_t i = 0;
  while (i < t.length && word[i] && word[i] == t.at[i]) i++;
  return i == t.length && !word[i];
}

static int string(cursor *c, text *t) {
  if (!take(c, '"')) return 0;
  for (t->at = c->at; c->at < c->end && *c->at != '"'; c->at++)
    if (*c->at == '\\') return 0;
  t->length = c->at - t->at;
  return take(c, '"');
}

static int number(cursor *c, uint32_t *n) {
  const char *start = (next(c), c->at);
  for (*n = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) *n = *n * 10 + (*c->at - '0');
  return c->at > start;
}

static int skip(cursor *c, int depth);

/* Each element of an array, which is counted. */
static int elements(cursor *c, uint32_t *count, int depth) {
  *count = 0;
  if (!take(c, '[')) return 0;
  if (take(c, ']')) return 1;
  do {
    if (!skip(c, depth)) return 0;
    (*count)++;
  } while (take(c, ','));
  return take(c, ']');
}

/* The key of an object's next member; first is 1 before the first one, and 2 after the last. */
static int member(cursor *c, text *key, int *first) {
  if (take(c, '}')) return *first = 2, 1;
  if (!*first && !take(c, ',')) return 0;
  *first = 0;
  return string(c, key) && take(c, ':');
}

static int skip(cursor *c, int depth) {
  text key;
  uint32_t count;
  int first = 1;
  if (depth > 32) return 0;
  switch (next(c)) {
  case '"': return string(c, &key);
  case '[': return elements(c, &count, depth + 1);
  case '{':
    for (take(c, '{'); member(c, &key, &first);) {
      if (first == 2) return 1;
      if (!skip(c, depth + 1)) return 0;
    }
    return 0;
  }
  const char *start = c->at;
  while (c->at < c->end && *c->at != ',' && *c->at != '}' && *c->at != ']' && *c->at > ' ') c->at++;
  return c->at > start;
}

static int parse_task(cursor *c, task *t) {
  text key;
  int first = 1, ok;
  if (!take(c, '{')) return 0;
  while (member(c, &key, &first)) {
    if (first == 2) return 1;
    if (is(key, "op")) ok = string(c, &t->op);
    else if (is(key, "n")) ok = number(c, &t->n);
    else if (is(key, "tags")) ok = elements(c, &t->tags, 0);
    else if (is(key, "text")) ok = string(c, &t->text);
    else ok = skip(c, 0);
    if (!ok) return 0;
  }
  return 0;
}

static char *put(char *out, const char *s) {
  while (*s) *out++ = *s++;
  return out;
}

static char *put_number(char *out, uint32_t n) {
  char digits[10];
  int i = 0;
  do digits[i++] = '0' + n % 10; while (n /= 10);
  while (i) *out++ = digits[--i];
  return out;
}

/* Writes the answer, at most 128 bytes longer than the text, and returns its length. */
static uint32_t answer(const task *t, char *buffer) {
  char *out = put(buffer, "{\"upper\":\"");
  uint32_t words = 0, inside = 0;
  for (uint32_t i = 0; i < t->text.length; i++) {
    char c = t->text.at[i];
    words += c != ' ' && !inside;
    inside = c != ' ';
    *out++ = c >= 'a' && c <= 'z' ? c - 32 : c;
  }
  out = put_number(put(out, "\",\"words\":"), words);
  out = put_number(put(out, ",\"tags\":"), t->tags);
  out = put_number(put(out, ",\"n\":"), t->n);
  return put(out, "}") - buffer;
}
