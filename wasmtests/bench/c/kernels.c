/* Loops that do nothing but compute, for the price of the rewriter. Each returns a number
   that is known, or that the other engine must return, too. */
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name)))

enum { MOST = 1 << 20, SIDE = 128 };
static uint8_t bytes[MOST];
static uint32_t a[SIDE][SIDE], b[SIDE][SIDE], product[SIDE][SIDE];

/* How many primes there are below n, at most MOST. */
EXPORT(sieve) uint32_t sieve(uint32_t n) {
  uint32_t primes = 0;
  if (n > MOST) n = MOST;
  for (uint32_t i = 0; i < n; i++) bytes[i] = 0;
  for (uint32_t i = 2; i < n; i++) {
    if (bytes[i]) continue;
    primes++;
    for (uint32_t j = 2 * i; j < n; j += i) bytes[j] = 1;
  }
  return primes;
}

/* The trace of a product of two matrices, n times. */
EXPORT(matmul) uint32_t matmul(uint32_t n) {
  uint32_t trace = 0;
  while (n--) {
    for (uint32_t i = 0; i < SIDE * SIDE; i++) a[0][i] = i, b[0][i] = i ^ n;
    for (uint32_t i = 0; i < SIDE; i++)
      for (uint32_t j = 0; j < SIDE; j++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < SIDE; k++) sum += a[i][k] * b[k][j];
        product[i][j] = sum;
      }
    for (uint32_t i = 0; i < SIDE; i++) trace += product[i][i];
  }
  return trace;
}

EXPORT(fib) uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

/* CRC-32 (IEEE) of the digits 1 to 9, over and over, n bytes of them, bit by bit. */
EXPORT(crc) uint32_t crc(uint32_t n) {
  uint32_t sum = ~0u;
  for (uint32_t i = 0; i < n; i++) {
    sum ^= '1' + i % 9;
    for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (0xEDB88320u & -(sum & 1));
  }
  return ~sum;
}
