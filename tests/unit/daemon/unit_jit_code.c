// SPDX-License-Identifier: GPL-2.0-only
/* Pieces of JIT code that replace each other, compared with the full history of each address. */
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <string.h>

#include "daemon/jit/jit_code.h"
#include "daemon/jit/jit_shape.h"

#define SPACE 256
#define PIECES 400

/* The piece (by number, 0: none) at each address and time. */
static uint16_t owner[PIECES + 1][SPACE];

static struct jit_code piece(uint64_t *seed, unsigned int time, uint64_t space)
{
	uint64_t bytes = 1 + unit_random(seed) % 16;

	return (struct jit_code){
		.start = unit_random(seed) % (space - bytes),
		.bytes = (uint32_t)bytes,
		.since_ns = time,
		.name_hash = time,
		.slot = time,
	};
}

/* A new piece removes all pieces that it overlaps. */
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
	bool ambiguous;
	const struct jit_code *code = jit_codes_find(codes, address, window, until, &ambiguous);

	return code != NULL ? (unsigned int)code->slot : 0;
}

static uint64_t found_name(struct jit_codes *codes, uint64_t address, uint64_t window,
			   uint64_t until)
{
	bool ambiguous;
	const struct jit_code *code = jit_codes_find(codes, address, window, until, &ambiguous);

	return code != NULL ? code->name_hash : 0;
}

/* If each piece is settled at once, the current state is exact. */
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

/* Return how long a piece occupied an address in (window, until]. */
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

/* For samples of a window with two owners, the result is the owner that was present longer. */
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

/*
 * With many pieces per batch, in any order, each address has the latest of the pieces that overlap
 * there. A replaced piece does not return when its successor is replaced.
 */
static void in_batches(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		struct jit_codes codes = {0};
		unsigned int time = 1, batch = 2 + 3 * round;

		while (time <= PIECES - batch) {
			for (uint64_t n = 1 + unit_random(&seed) % batch; n > 0; n--) {
				struct jit_code code = piece(&seed, time, SPACE);

				model_add(time++, &code);
				assert_int_equal(jit_codes_add(&codes, &code), 0);
			}
			jit_codes_settle(&codes, time - 1);
			for (unsigned int a = 0; a < SPACE; a++)
				assert_int_equal(found(&codes, a, time, time), owner[time - 1][a]);
		}
		jit_codes_deinit(&codes);
	}
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
	/* A branch within the code is part of its shape. */
	code_make(b, 0x7f0012345678, 7, 1);
	assert_true(jit_shape(a, 26) != jit_shape(b, 26));
	/* Undecodable code is compared byte by byte. */
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

/*
 * A perf map that a program writes and rewrites, compared with the names found by each read.
 *
 * @lists:   the lines of the file, in order
 * @was:     name of each address after the last read but one; 0: none
 * @now:     and after the last read
 * @several: the address had more than one name between these two reads
 */
#define LISTS 64
#define NAMES 5

static struct jit_code lists[LISTS];
static unsigned int list_count, list_read;
static uint64_t was[SPACE], now[SPACE];
static bool several[SPACE];
static char names[NAMES + 1][2] = {"", "a", "b", "c", "d", "e"};

static void list_add(uint64_t *seed)
{
	struct jit_code code = piece(seed, 0, SPACE);
	unsigned int name = 1 + (unsigned int)(unit_random(seed) % NAMES);

	code.start &= ~(uint64_t)7;
	code.bytes = 8;
	code.slot = 0;
	code.name = names[name];
	code.name_bytes = 1;
	code.name_hash = name;
	lists[list_count++] = code;
}

/*
 * Read the file once. With @again, it was rewritten, and pieces that it does not list are removed.
 */
static void list_apply(struct jit_codes *codes, bool again, unsigned int last_ns, unsigned int time)
{
	static uint8_t pass;
	uint64_t before[SPACE];

	memcpy(before, now, sizeof(now));
	memcpy(was, now, sizeof(now));
	memset(several, 0, sizeof(several));
	if (again) {
		pass++;
		list_read = 0;
		memset(now, 0, sizeof(now));
	}
	for (; list_read < list_count; list_read++) {
		struct jit_code *code = &lists[list_read];

		code->since_ns = last_ns;
		code->seen_ns = time;
		code->pass = pass;
		if (!jit_codes_again(codes, code))
			assert_int_equal(jit_codes_add(codes, code), 0);
		for (uint64_t a = code->start; a < code->start + code->bytes; a++) {
			several[a] |= before[a] != 0 && before[a] != code->name_hash;
			before[a] = now[a] = code->name_hash;
		}
	}
	jit_codes_settle(codes, last_ns);
	if (again)
		jit_codes_purge(codes, 0, pass, last_ns, time, last_ns);
}

/*
 * With a flush at each read, a sample between two reads gets its name if it is the only one, or
 * equal at both reads. Otherwise the sample is ambiguous.
 */
static void rewritten_maps(void **state)
{
	struct jit_codes codes = {0};
	unsigned int ambiguous_count = 0, certain_count = 0;
	uint64_t seed = 11;

	(void)state;
	for (unsigned int time = 10; time < 20000; time += 10) {
		bool again = list_count > LISTS - 8 || unit_random(&seed) % 4 == 0;
		unsigned int adds = (unsigned int)(unit_random(&seed) % 8);

		if (again)
			list_count = 0;
		while (adds-- > 0)
			list_add(&seed);
		list_apply(&codes, again, time - 10, time);
		for (unsigned int a = 0; a < SPACE; a++) {
			uint64_t want = now[a] != 0 ? now[a] : was[a];
			bool ambiguous;
			const struct jit_code *code =
				jit_codes_find(&codes, a, time - 10, time, &ambiguous);

			if (want == 0 && !several[a]) {
				assert_null(code);
				continue;
			}
			assert_non_null(code);
			assert_int_equal(ambiguous, several[a] && now[a] != was[a]);
			ambiguous_count += ambiguous;
			certain_count += !ambiguous;
			if (ambiguous)
				continue;
			assert_int_equal(code->name_hash, want);
			assert_int_equal(code->name[0], names[want][0]);
		}
		jit_codes_settle(&codes, time);
		for (unsigned int a = 0; a < SPACE; a++)
			assert_int_equal(found_name(&codes, a, time, time + 5), now[a]);
	}
	assert_true(ambiguous_count > 1000 && certain_count > 1000);
	jit_codes_deinit(&codes);
	list_count = list_read = 0;
}

/* A flush because of a change usually finds samples of the previous name. */
static void long_windows(void **state)
{
	struct jit_code code = {.start = 64, .bytes = 8, .name_hash = 1, .seen_ns = 10};
	struct jit_codes codes = {0};
	bool ambiguous;

	(void)state;
	assert_int_equal(jit_codes_add(&codes, &code), 0);
	jit_codes_settle(&codes, 0);
	code.name_hash = 2;
	code.since_ns = 990;
	code.seen_ns = 1000;
	assert_int_equal(jit_codes_add(&codes, &code), 0);
	assert_true(jit_codes_settle(&codes, 0));
	assert_int_equal(jit_codes_find(&codes, 64, 100, 1000, &ambiguous)->name_hash, 1);
	assert_false(ambiguous);
	assert_int_equal(jit_codes_find(&codes, 64, 980, 1000, &ambiguous)->name_hash, 1);
	assert_true(ambiguous);
	assert_int_equal(jit_codes_find(&codes, 64, 980, 1200, &ambiguous)->name_hash, 2);
	assert_false(ambiguous);
	assert_int_equal(jit_codes_find(&codes, 64, 500, 1500, &ambiguous)->start, 64);
	assert_true(ambiguous);
	jit_codes_deinit(&codes);
}

/* A piece announced again under its name was not replaced, even with others in between. */
static void announced_again(void **state)
{
	struct jit_code code = {.start = 64, .bytes = 8, .name_hash = 1};
	struct jit_codes codes = {0};
	bool ambiguous;

	(void)state;
	assert_int_equal(jit_codes_add(&codes, &code), 0);
	jit_codes_settle(&codes, 0);
	code.since_ns = 10;
	code.seen_ns = 20;
	for (unsigned int name = 1; name <= 3; name++) {
		code.name_hash = name % 3 + 1;
		assert_int_equal(jit_codes_add(&codes, &code), 0);
	}
	jit_codes_settle(&codes, 0);
	assert_int_equal(jit_codes_find(&codes, 64, 5, 25, &ambiguous)->name_hash, 1);
	assert_false(ambiguous);
	jit_codes_deinit(&codes);
}

/* Sampled pieces are kept while many others arrive; of unsampled ones the newest are kept. */
static void evicts_longest_unsampled(void **state)
{
	char name[] = "a name of some bytes";
	struct jit_codes codes = {0};
	bool ambiguous;
	size_t most = 0;

	(void)state;
	for (unsigned int i = 0; i < 1000000; i++) {
		const struct jit_code code = {
			.start = 4096 + i * 16,
			.bytes = 16,
			.name = name,
			.name_bytes = sizeof(name),
			.name_hash = 7,
		};

		assert_int_equal(jit_codes_add(&codes, &code), 0);
		if (i % 1000 != 0)
			continue;
		jit_codes_settle(&codes, 0);
		if (i > 0)
			assert_non_null(jit_codes_find(&codes, 4096 + 16 * 10, 0, 1, &ambiguous));
		if (jit_codes_bytes(&codes) > 4 << 20)
			jit_codes_evict(&codes);
		most = jit_codes_bytes(&codes) > most ? jit_codes_bytes(&codes) : most;
	}
	jit_codes_settle(&codes, 0);
	assert_true(most < 5 << 20);
	assert_true(codes.evicted > 900000);
	for (unsigned int i = 0; i < 2000; i++)
		assert_non_null(
			jit_codes_find(&codes, 4096 + (999999 - i) * 16ULL, 0, 1, &ambiguous));
	assert_null(jit_codes_find(&codes, 4096 + 11 * 16, 0, 1, &ambiguous));
	assert_true(jit_codes_lacks(&codes, 4096 + 11 * 16));
	assert_false(jit_codes_lacks(&codes, 4095));
	jit_codes_deinit(&codes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_by_one),
		cmocka_unit_test(windows),
		cmocka_unit_test(in_batches),
		cmocka_unit_test(moves),
		cmocka_unit_test(shapes),
		cmocka_unit_test(rewritten_maps),
		cmocka_unit_test(long_windows),
		cmocka_unit_test(announced_again),
		cmocka_unit_test(evicts_longest_unsampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
