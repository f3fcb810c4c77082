// SPDX-License-Identifier: GPL-2.0-only
/* Symbols and code that become known gradually, compared with a plain array. */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>

#include "db/code_blob.h"
#include "db/profile_merge.h"

#define PROCEDURES 300

static struct error err;

/* Properties of a procedure follow from its number. */
static struct profile_symbol symbol_of(unsigned int i, char name[32])
{
	snprintf(name, 32, "procedure %u", i);
	return (struct profile_symbol){(uint64_t)(i + 1) << 40, 10 + i, name};
}

static struct profile_code code_of(unsigned int i, uint8_t data[4096])
{
	uint64_t state = i;
	size_t bytes = 1 + unit_random(&state) % 4000;

	for (size_t b = 0; b < bytes; b++)
		data[b] = (uint8_t)(unit_random(&state) >> (b % 3 ? 0 : 60));
	return (struct profile_code){(uint64_t)(i + 1) << 40, bytes, (uint16_t)i, data};
}

static int64_t add_image(struct profile_writer *writer)
{
	const struct profile_image image = {
		.kind = PROFILE_IMAGE_JIT,
		.identity_kind = PROFILE_IDENTITY_BUILD_ID,
		.identity_bytes = 2,
		.identity = {7, 9},
		.path = "/bin/vm [jit]",
	};
	const struct profile_sample sample = {1ULL << 40, 1};
	int64_t id = 0;

	assert_ok(profile_writer_image(writer, &image, &id, &err));
	assert_ok(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, &sample, 1, &err));
	return id;
}

/* Add a random set of procedures at once, including known ones. */
static void add_some(struct profile_writer *writer, int64_t id, uint64_t *state,
		     bool known[PROCEDURES])
{
	struct profile_symbol symbols[PROCEDURES];
	static char names[PROCEDURES][32];
	uint8_t data[4096];
	size_t count = 0;

	for (unsigned int i = 0; i < PROCEDURES; i++) {
		struct profile_code code;

		if (unit_random(state) % 8 != 0)
			continue;
		symbols[count] = symbol_of(i, names[i]);
		/* A known procedure does not change. */
		symbols[count].bytes += known[i];
		code = code_of(i, data);
		data[0] ^= known[i];
		count++;
		assert_ok(profile_writer_code(writer, id, &code, 1, &err));
		known[i] = true;
	}
	assert_ok(profile_writer_symbols_add(writer, id, symbols, count, &err));
}

struct seen {
	const bool *known;
	unsigned int next;
	unsigned int count;
};

static int check_code(void *context, const struct profile_code *code)
{
	struct seen *seen = context;
	unsigned int i = (unsigned int)(code->offset >> 40) - 1;
	struct profile_code want;
	uint8_t data[4096];

	assert_true(i >= seen->next && i < PROCEDURES && seen->known[i]);
	want = code_of(i, data);
	assert_int_equal(code->bytes, want.bytes);
	assert_int_equal(code->machine, want.machine);
	assert_memory_equal(code->data, data, want.bytes);
	seen->next = i + 1;
	seen->count++;
	return 0;
}

static void check(const char *path, const bool known[PROCEDURES])
{
	struct seen seen = {.known = known};
	struct profile_symbols symbols;
	struct profile_reader *reader = open_reader(path);
	unsigned int n = 0;

	assert_ok(profile_reader_symbols(reader, 1, &symbols, &err));
	for (unsigned int i = 0; i < PROCEDURES; i++) {
		char name[32];
		struct profile_symbol want = symbol_of(i, name);

		if (!known[i])
			continue;
		assert_true(n < symbols.count);
		assert_int_equal(symbols.symbols[n].offset, want.offset);
		assert_int_equal(symbols.symbols[n].bytes, want.bytes);
		assert_string_equal(symbols.symbols[n++].name, want.name);
	}
	assert_int_equal(symbols.count, n);
	profile_symbols_deinit(&symbols);
	assert_ok(profile_reader_code(reader, 1, check_code, &seen, &err));
	assert_int_equal(seen.count, n);
	profile_reader_close(reader);
}

static void fill(const char *path, uint64_t *state, bool known[PROCEDURES])
{
	struct profile_epoch epoch = model_epoch((unsigned int)(unit_random(state) % 1000));
	struct profile_writer *writer = open_writer(path);
	int64_t id;

	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	for (int round = 0; round < 6; round++) {
		assert_ok(profile_writer_begin(writer, &err));
		id = add_image(writer);
		assert_int_equal(id, 1);
		add_some(writer, id, state, known);
		assert_ok(profile_writer_totals(writer, epoch.start_ns, (uint64_t)round + 1, NULL,
						0, &err));
		assert_ok(profile_writer_commit(writer, &err));
	}
	assert_ok(profile_writer_epoch_end(writer, epoch.start_ns + 9, &err));
	profile_writer_close(writer);
}

/* The first addition is kept; merged databases contain the union. */
static void test_procedures_add_up(void **state)
{
	const char *a = path_of("a.db"), *b = path_of("b.db");
	bool in_a[PROCEDURES] = {false}, in_b[PROCEDURES] = {false};
	struct profile_merge_counts counts = {0};
	struct profile_writer *writer;
	struct profile_reader *reader;
	uint64_t seed = 11;

	(void)state;
	fill(a, &seed, in_a);
	fill(b, &seed, in_b);
	check(a, in_a);
	check(b, in_b);
	writer = open_writer(a);
	reader = open_reader(b);
	assert_ok(profile_merge(writer, reader, NULL, NULL, &counts, &err));
	assert_int_equal(counts.epochs[PROFILE_MERGE_DONE], 1);
	profile_reader_close(reader);
	profile_writer_close(writer);
	for (unsigned int i = 0; i < PROCEDURES; i++)
		in_a[i] |= in_b[i];
	check(a, in_a);
}

/* With any wrong bit, or at another offset, a code blob does not decode. */
static void test_damage(void **state)
{
	struct profile_blob blob = {0};
	uint8_t data[4096];
	struct profile_code code = code_of(5, data), back;

	(void)state;
	assert_int_equal(code_blob_encode(&blob, 3, &code), 0);
	assert_int_equal(code_blob_decode(&back, 3, code.offset, blob.data, blob.bytes), 0);
	assert_int_equal(back.bytes, code.bytes);
	assert_memory_equal(back.data, data, code.bytes);
	free((void *)(uintptr_t)back.data);
	assert_int_equal(code_blob_decode(&back, 4, code.offset, blob.data, blob.bytes), -EBADMSG);
	assert_int_equal(code_blob_decode(&back, 3, 0, blob.data, blob.bytes), -EBADMSG);
	for (size_t i = 0; i < 8 * blob.bytes; i++) {
		blob.data[i / 8] ^= (uint8_t)(1U << i % 8);
		assert_int_equal(code_blob_decode(&back, 3, code.offset, blob.data, blob.bytes),
				 -EBADMSG);
		blob.data[i / 8] ^= (uint8_t)(1U << i % 8);
	}
	for (size_t i = 0; i < blob.bytes; i++)
		assert_int_equal(code_blob_decode(&back, 3, code.offset, blob.data, i), -EBADMSG);
	code.bytes = CODE_BYTES_MAX + 1;
	assert_int_equal(code_blob_encode(&blob, 3, &code), -EINVAL);
	code.bytes = 0;
	assert_int_equal(code_blob_encode(&blob, 3, &code), -EINVAL);
	profile_blob_deinit(&blob);
}

/* The sizes of symbols and code are bounded. */
static void test_bounds(void **state)
{
	const char *path = path_of("bounds.db");
	struct profile_symbol *symbols = calloc(2000, sizeof(*symbols));
	struct profile_epoch epoch = model_epoch(0);
	struct profile_writer *writer = open_writer(path);
	uint8_t *data = malloc(CODE_BYTES_MAX);
	uint64_t seed = 3;
	int64_t id;

	(void)state;
	assert_non_null(symbols);
	assert_non_null(data);
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_ok(profile_writer_begin(writer, &err));
	id = add_image(writer);
	for (unsigned int n = 0; n < 36; n++) {
		for (unsigned int i = 0; i < 2000; i++)
			symbols[i] = (struct profile_symbol){n * 2000 + i, 1, "x"};
		assert_ok(profile_writer_symbols_add(writer, id, symbols, 2000, &err));
	}
	for (unsigned int n = 0; n < 20; n++) {
		const struct profile_code code = {n, CODE_BYTES_MAX, 62, data};

		for (size_t i = 0; i < CODE_BYTES_MAX; i++)
			data[i] = (uint8_t)unit_random(&seed);
		assert_ok(profile_writer_code(writer, id, &code, 1, &err));
	}
	assert_ok(profile_writer_commit(writer, &err));
	profile_writer_close(writer);
	assert_int_equal(number(path, "SELECT symbols FROM symbol"), PROFILE_CODE_SYMBOLS_MAX);
	assert_true(number(path, "SELECT sum(length(data)) FROM code") <
		    (int64_t)PROFILE_CODE_BYTES_MAX + CODE_BYTES_MAX + 4096);
	free(symbols);
	free(data);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_procedures_add_up),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
