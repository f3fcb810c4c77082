// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/base/json_stream.h"

/* Return an object with one member, as parsed by a JSON library. */
static struct json_object *member(void (*put)(struct json_stream *json, const void *value),
				  const void *value)
{
	char *text = NULL;
	size_t bytes = 0;
	struct json_stream json = {.file = open_memstream(&text, &bytes)};
	struct json_object *object, *ret = NULL;

	assert_non_null(json.file);
	json_stream_open(&json, NULL, '{');
	put(&json, value);
	json_stream_close(&json, '}');
	json_stream_line(&json);
	assert_int_equal(fclose(json.file), 0);
	assert_int_equal(text[bytes - 1], '\n');
	object = json_tokener_parse(text);
	assert_non_null(object);
	assert_true(json_object_object_get_ex(object, "x", &ret));
	json_object_get(ret);
	json_object_put(object);
	free(text);
	return ret;
}

static void put_text(struct json_stream *json, const void *value)
{
	json_stream_text(json, "x", value);
}

static void put_word(struct json_stream *json, const void *value)
{
	json_stream_word(json, "x", value);
}

static void put_number(struct json_stream *json, const void *value)
{
	json_stream_number(json, "x", *(const double *)value);
}

static void put_count(struct json_stream *json, const void *value)
{
	json_stream_count(json, "x", *(const uint64_t *)value);
}

static void test_text_round_trip(void **state)
{
	static const char *const texts[][2] = {
		{"", ""},
		{"plain", "plain"},
		{"\"quotes\" and \\ both", "\"quotes\" and \\ both"},
		{"a\nb\033[2J\x7f", "a?b?[2J?"},
		{"\xff\xc3\xa4", "?\xc3\xa4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct json_object *object = member(put_text, texts[i][0]);

		assert_string_equal(json_object_get_string(object), texts[i][1]);
		json_object_put(object);
	}
}

static void test_words_round_trip(void **state)
{
	static const char *const words[] = {"", "low", "x86-64"};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct json_object *object = member(put_word, words[i]);

		assert_string_equal(json_object_get_string(object), words[i]);
		json_object_put(object);
	}
}

static void test_numbers_round_trip(void **state)
{
	static const double special[] = {
		0,	  -0.0, 1, -1, 0.1, 1e-300, 1e300, 9007199254740992.0, 9007199254740994.0,
		123456789};
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		double want = (double)(int64_t)unit_random(&seed) *
			      pow(10, (double)(unit_random(&seed) % 40) - 30);
		struct json_object *object;

		if (i < sizeof(special) / sizeof(*special))
			want = special[i];
		object = member(put_number, &want);
		assert_true(fabs(json_object_get_double(object) - want) <= 1e-8 * fabs(want));
		json_object_put(object);
	}
}

static void test_counts_are_exact(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		uint64_t want = unit_random(&seed) >> unit_random(&seed) % 64;
		struct json_object *object = member(put_count, &want);

		assert_int_equal(json_object_get_uint64(object), want);
		json_object_put(object);
	}
}

static void test_nan_is_null(void **state)
{
	static const double none[] = {NAN, INFINITY, -INFINITY};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_null(member(put_number, &none[i]));
}

static void test_nesting(void **state)
{
	char *text = NULL;
	size_t bytes = 0;
	struct json_stream json = {.file = open_memstream(&text, &bytes)};

	(void)state;
	assert_non_null(json.file);
	json_stream_open(&json, NULL, '{');
	json_stream_open(&json, "list", '[');
	json_stream_count(&json, NULL, 1);
	json_stream_open(&json, NULL, '{');
	json_stream_close(&json, '}');
	json_stream_null(&json, NULL);
	json_stream_close(&json, ']');
	json_stream_text(&json, "after", "");
	json_stream_close(&json, '}');
	json_stream_line(&json);
	json_stream_open(&json, NULL, '[');
	json_stream_close(&json, ']');
	json_stream_line(&json);
	assert_int_equal(fclose(json.file), 0);
	assert_string_equal(text, "{\"list\":[1,{},null],\"after\":\"\"}\n[]\n");
	free(text);
}

/* Output many times the buffer size, with repeated numbers and a text longer than the buffer. */
static void test_long_lines(void **state)
{
	static const double numbers[] = {0.1, 0.25, 1e-300, 0.1, 3, 1.5, 12.125};
	enum {
		COUNT = 20000,
		KINDS = sizeof(numbers) / sizeof(*numbers)
	};
	static char longest[2 * JSON_STREAM_BYTES];
	char *text = NULL;
	size_t bytes = 0;
	struct json_stream json = {.file = open_memstream(&text, &bytes)};
	struct json_object *list;

	(void)state;
	assert_non_null(json.file);
	memset(longest, '"', sizeof(longest) - 1);
	json_stream_open(&json, NULL, '[');
	for (size_t i = 0; i < COUNT; i++)
		json_stream_number(&json, NULL, numbers[i % KINDS]);
	json_stream_text(&json, NULL, longest);
	json_stream_close(&json, ']');
	json_stream_line(&json);
	assert_int_equal(fclose(json.file), 0);
	list = json_tokener_parse(text);
	assert_int_equal(json_object_array_length(list), COUNT + 1);
	for (size_t i = 0; i < COUNT; i++)
		assert_true(json_object_get_double(json_object_array_get_idx(list, i)) ==
			    numbers[i % KINDS]);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(list, COUNT)),
			    longest);
	json_object_put(list);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_round_trip),	   cmocka_unit_test(test_words_round_trip),
		cmocka_unit_test(test_numbers_round_trip), cmocka_unit_test(test_counts_are_exact),
		cmocka_unit_test(test_nan_is_null),	   cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
