// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/blake2b.h"
#include "lib/content_digest.h"

static void hex(char *text, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

/* Appendix A of RFC 7693. */
static void test_blake2b_vector_of_rfc(void **state)
{
	uint8_t digest[BLAKE2B_DIGEST_BYTES_MAX];
	char text[2 * sizeof(digest) + 1];
	struct blake2b hash;

	(void)state;
	blake2b_init(&hash, sizeof(digest));
	blake2b_update(&hash, "a", 1);
	blake2b_update(&hash, "bc", 2);
	blake2b_final(&hash, digest);
	hex(text, digest, sizeof(digest));
	assert_string_equal(text,
			    "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
			    "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

/* Lengths of digests and inputs as in appendix E of RFC 7693; values from Python's hashlib. */
static void test_blake2b_of_many_lengths(void **state)
{
	static const size_t digests[] = {20, 32, 48, 64}, inputs[] = {0, 3, 128, 129, 255, 1024};
	uint8_t digest[BLAKE2B_DIGEST_BYTES_MAX], input[1024], grand[32];
	struct blake2b hash, all;
	char text[2 * 32 + 1];

	(void)state;
	blake2b_init(&all, sizeof(grand));
	for (size_t i = 0; i < sizeof(digests) / sizeof(*digests); i++) {
		for (size_t j = 0; j < sizeof(inputs) / sizeof(*inputs); j++) {
			for (size_t k = 0; k < inputs[j]; k++)
				input[k] = (uint8_t)(k * 7 + inputs[j]);
			blake2b_init(&hash, digests[i]);
			blake2b_update(&hash, input, inputs[j] / 3);
			blake2b_update(&hash, input + inputs[j] / 3, inputs[j] - inputs[j] / 3);
			blake2b_final(&hash, digest);
			blake2b_update(&all, digest, digests[i]);
		}
	}
	blake2b_final(&all, grand);
	hex(text, grand, sizeof(grand));
	assert_string_equal(text,
			    "eeb1d8e691a064df2ed23b4ff8e2331ca04354d27e6ddb292a272d8e9e9d840d");
}

static int file(void)
{
	char path[] = "/tmp/unit_content_digest.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

/* All of the contents count, including the middle of a large file. */
static void test_different_contents_differ(void **state)
{
	const off_t bytes = 9 << 20;
	uint8_t first[CONTENT_DIGEST_BYTES], second[CONTENT_DIGEST_BYTES];
	int fd = file();

	(void)state;
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(pwrite(fd, "a", 1, 0), 1);
	assert_int_equal(content_digest(first, fd, (uint64_t)bytes, NULL, NULL), 0);
	assert_int_equal(pwrite(fd, "b", 1, bytes / 2), 1);
	assert_int_equal(content_digest(second, fd, (uint64_t)bytes, NULL, NULL), 0);
	assert_memory_not_equal(first, second, sizeof(first));
	assert_int_equal(pwrite(fd, "", 1, bytes / 2), 1);
	assert_int_equal(content_digest(second, fd, (uint64_t)bytes, NULL, NULL), 0);
	assert_memory_equal(first, second, sizeof(first));
	assert_int_equal(ftruncate(fd, bytes + 1), 0);
	assert_int_equal(content_digest(second, fd, (uint64_t)bytes + 1, NULL, NULL), 0);
	assert_memory_not_equal(first, second, sizeof(first));
	close(fd);
}

static int count_step(void *context, size_t bytes)
{
	size_t *read = context;

	*read += bytes;
	return 0;
}

/* A hole has the digest of zeros, and is not read. */
static void test_holes(void **state)
{
	static const uint8_t zeros[1 << 20];
	uint8_t sparse[CONTENT_DIGEST_BYTES], full[CONTENT_DIGEST_BYTES];
	const uint64_t bytes = (4ULL << 30) + 12345;
	int hole = file(), data = file();
	size_t read = 0;

	(void)state;
	assert_int_equal(ftruncate(hole, (off_t)bytes), 0);
	assert_int_equal(pwrite(hole, "x", 1, 1 << 30), 1);
	assert_int_equal(content_digest(sparse, hole, bytes, count_step, &read), 0);
	assert_true(read > 0 && read <= 1 << 20);
	assert_int_equal(ftruncate(data, (off_t)bytes), 0);
	assert_int_equal(pwrite(data, zeros, sizeof(zeros), 1 << 20), sizeof(zeros));
	assert_int_equal(pwrite(data, "x", 1, 1 << 30), 1);
	assert_int_equal(content_digest(full, data, bytes, NULL, NULL), 0);
	assert_memory_equal(sparse, full, sizeof(full));
	close(hole);
	close(data);
}

static int stop_step(void *context, size_t bytes)
{
	(void)context;
	(void)bytes;
	return -ECANCELED;
}

static void test_file_shorter_than_expected(void **state)
{
	uint8_t digest[CONTENT_DIGEST_BYTES];
	int fd = file();

	(void)state;
	assert_int_equal(pwrite(fd, "abc", 3, 0), 3);
	assert_int_equal(content_digest(digest, fd, 3, stop_step, NULL), -ECANCELED);
	assert_int_equal(content_digest(digest, fd, 4, NULL, NULL), -EIO);
	assert_int_equal(content_digest(digest, fd, UINT64_MAX, NULL, NULL), -EIO);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blake2b_vector_of_rfc),
		cmocka_unit_test(test_blake2b_of_many_lengths),
		cmocka_unit_test(test_different_contents_differ),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_file_shorter_than_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
