// SPDX-License-Identifier: GPL-2.0-only
/* Pieces of JIT code that replace each other, against all that ever was at each address. */
#include "tests/unit.h"

#include <stdbool.h>
#include <string.h>

#include "daemon/jit/jit_code.h"
#include "daemon/jit/jit_shape.h"

#define SPACE 256
#define PIECES 400

/* Which piece (by number, 0: none) had each address at each time. */
static uint16_t owner[PIECES + 1][SPACE];

static struct jit_code piece(uint64_t *seed, unsigned int time, uint64_t space)
{
	uint64_t bytes = 1 + unit_random(seed) % 16;

	return (struct jit_code){
		.start = unit_random(seed) % (space - bytes),
		.bytes = (uint32_t)bytes,
		.since_ns = time,
		.slot = time,
	};
}

/* What a new piece overlaps goes as a whole. */
static void model_add(unsigned int time, const struct jit_code *code)
{
	memcpy(owner[time], owner[time - 1], sizeof(owner[0]));
	for (uint64_t a = code->start; a < code->start + code->bytes; a++) {
		uint16_t gone = owner[time][a];

		for (unsigned int i = 0; i < SPACE && gone != 0; i++)
			owner[time][i] = owner[time][i] == gone ? 0 : owner[time][i];
		owner[time][a] = (uint16_t)time;
	}
}

static unsigned int found(struct jit_codes *codes, uint64_t address, uint64_t window,
			  uint64_t until)
{
	bool doubtful;
	const struct jit_code *code = jit_codes_find(codes, address, window, until, &doubtful);

	return code != NULL ? (unsigned int)code->slot : 0;
}

/* Each piece takes its place at once: what is there now is exact. */
static void one_by_one(void **state)
{
	struct jit_codes codes = {0};
	uint64_t seed = 5;

	(void)state;
	for (unsigned int time = 1; time <= PIECES; time++) {
		struct jit_code code = piece(&seed, time, SPACE);

		model_add(time, &code);
		assert_int_equal(jit_codes_add(&codes, &code), 0);
		jit_codes_settle(&codes, time);
		for (unsigned int a = 0; a < SPACE; a++)
			assert_int_equal(found(&codes, a, time, time), owner[time][a]);
	}
	jit_codes_deinit(&codes);
}

/* How long a piece had an address in (window, until]. */
static unsigned int held(unsigned int number, unsigned int address, unsigned int window,
			 unsigned int until)
{
	unsigned int sum = 0;

	for (unsigned int t = window; t < until; t++)
		sum += owner[t][address] == number;
	return sum;
}

static unsigned int owners(unsigned int address, unsigned int window, unsigned int until)
{
	unsigned int count = 1;

	for (unsigned int t = window + 1; t <= until; t++)
		count += owner[t][address] != owner[t - 1][address];
	return count;
}

/* Samples of a window: of two owners, it is the one that was there for longer. */
static void windows(void **state)
{
	struct jit_codes codes = {0};
	unsigned int window = 0, doubts = 0;
	uint64_t seed = 6;

	(void)state;
	for (unsigned int time = 1; time <= PIECES; time++) {
		struct jit_code code = piece(&seed, time, SPACE);

		model_add(time, &code);
		assert_int_equal(jit_codes_add(&codes, &code), 0);
		jit_codes_settle(&codes, window);
		if (time - window < 1 + unit_random(&seed) % 40)
			continue;
		for (unsigned int a = 0; a < SPACE; a++) {
			unsigned int got = found(&codes, a, window, time);
			unsigned int now = owner[time][a], before = owner[window][a];

			if (owners(a, window, time) == 1)
				assert_int_equal(got, now);
			if (owners(a, window, time) != 2 || now == 0 || before == 0)
				continue;
			doubts++;
			assert_true(got == now || got == before);
			assert_true(held(got, a, window, time) + 1 >=
				    held(got == now ? before : now, a, window, time));
		}
		window = time;
		jit_codes_settle(&codes, window);
	}
	assert_true(doubts > 100);
	jit_codes_deinit(&codes);
}

/* Many at once: what the newest piece holds is always right, whatever the order. */
static void in_batches(void **state)
{
	struct jit_codes codes = {0};
	unsigned int time = 1;
	uint64_t seed = 7;

	(void)state;
	while (time <= PIECES - 30) {
		for (unsigned int n = 1 + (unsigned int)(unit_random(&seed) % 30); n > 0; n--) {
			struct jit_code code = piece(&seed, time, SPACE);

			model_add(time++, &code);
			assert_int_equal(jit_codes_add(&codes, &code), 0);
		}
		jit_codes_settle(&codes, time - 1);
		for (unsigned int a = 0; a < SPACE; a++) {
			if (owner[time - 1][a] != 0)
				assert_int_equal(found(&codes, a, time, time), owner[time - 1][a]);
		}
	}
	jit_codes_deinit(&codes);
}

static void moves(void **state)
{
	const struct jit_code code = {.start = 100, .bytes = 10, .slot = 1};
	struct jit_codes codes = {0};

	(void)state;
	assert_int_equal(jit_codes_add(&codes, &code), 0);
	assert_int_equal(jit_codes_move(&codes, 100, 300, 5), 0);
	jit_codes_settle(&codes, 5);
	assert_int_equal(found(&codes, 305, 9, 9), 1);
	assert_int_equal(jit_codes_move(&codes, 300, 500, 6), 0);
	jit_codes_settle(&codes, 6);
	assert_int_equal(found(&codes, 509, 9, 9), 1);
	assert_int_equal(jit_codes_move(&codes, 301, 700, 7), -2);
	assert_int_equal(jit_codes_move(&codes, 300, (1ULL << 63) - 9, 7), -2);
	jit_codes_deinit(&codes);
}

#if defined(__x86_64__)
/* mov $address,%rax; mov $7,%ecx; call *; je +2; jmp out; nop; ret */
static void code_make(uint8_t code[32], uint64_t address, uint32_t number, uint32_t out)
{
	static const uint8_t text[32] = {0x48, 0xb8, 0, 0, 0, 0, 0,    0,    0,
					 0,    0xb9, 0, 0, 0, 0, 0xff, 0xd0, 0x74,
					 5,    0xe9, 0, 0, 0, 0, 0x90, 0xc3};

	memcpy(code, text, sizeof(text));
	memcpy(code + 2, &address, 8);
	memcpy(code + 11, &number, 4);
	memcpy(code + 20, &out, 4);
}

static void shapes(void **state)
{
	uint8_t a[32], b[32];

	(void)state;
	code_make(a, 0x7f0012345678, 7, 0x1000);
	code_make(b, 0x7fff87654321, 7, 0x2345);
	assert_true(jit_shape(a, 26) == jit_shape(b, 26));
	assert_true(jit_shape(a, 26) != jit_shape(a, 25));
	code_make(b, 0x7f0012345678, 8, 0x1000);
	assert_true(jit_shape(a, 26) != jit_shape(b, 26));
	/* A branch within the code is part of it. */
	code_make(b, 0x7f0012345678, 7, 1);
	assert_true(jit_shape(a, 26) != jit_shape(b, 26));
	/* What does not decode counts byte by byte. */
	code_make(b, 0x7f0012345678, 7, 0x1000);
	a[26] = b[26] = 0x06;
	assert_true(jit_shape(a, 32) == jit_shape(b, 32));
	b[31] = 1;
	assert_true(jit_shape(a, 32) != jit_shape(b, 32));
}
#else
/* movz x0, #n; movk x0, #n, lsl 16; bl out; cbz x0, .; ret */
static void code_make(uint32_t code[5], uint32_t n, uint32_t out)
{
	const uint32_t text[5] = {0xd2800000 | n << 5, 0xf2a00000 | n << 5, 0x94000000 | out,
				  0xb4000000, 0xd65f03c0};

	memcpy(code, text, sizeof(text));
}

static void shapes(void **state)
{
	uint32_t a[5], b[5];

	(void)state;
	code_make(a, 0x1234, 0x1000);
	code_make(b, 0x4321, 0x2000);
	assert_true(jit_shape((uint8_t *)a, 20) == jit_shape((uint8_t *)b, 20));
	code_make(b, 0x1234, 1);
	assert_true(jit_shape((uint8_t *)a, 20) != jit_shape((uint8_t *)b, 20));
	code_make(b, 0x1234, 0x1000);
	b[3] ^= 1;
	assert_true(jit_shape((uint8_t *)a, 20) != jit_shape((uint8_t *)b, 20));
}
#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_by_one), cmocka_unit_test(windows),
		cmocka_unit_test(in_batches), cmocka_unit_test(moves),
		cmocka_unit_test(shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
