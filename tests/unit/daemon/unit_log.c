// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/log.h"

static char text[4096];

/* Return the text on stderr after one message of each level. */
static const char *said(int journal)
{
	int saved = dup(STDERR_FILENO), ends[2];
	char stream[64];
	struct stat st;
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fstat(ends[1], &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", journal ? stream : "1:1", 1);
	dup2(ends[1], STDERR_FILENO);
	log_init("test");
	log_info("how %d", 1);
	log_warning("less %d", 2);
	log_error("not %d", 3);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	n = read(ends[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	return text;
}

static void levels_choose_lines(void **state)
{
	uint64_t time_ns = 0;

	(void)state;
	assert_string_equal(said(0), "test: how 1\ntest: less 2\ntest: not 3\n");
	log_set_level(LOG_LEVEL_WARNING);
	assert_string_equal(said(0), "test: less 2\ntest: not 3\n");
	log_set_level(LOG_LEVEL_ERROR);
	assert_string_equal(said(0), "test: not 3\n");
	assert_string_equal(log_last_error(&time_ns), "not 3");
	assert_true(time_ns > 0);
	log_set_level(LOG_LEVEL_INFO);
	assert_string_equal(said(0), "test: how 1\ntest: less 2\ntest: not 3\n");
}

static void the_journal_is_told_levels(void **state)
{
	(void)state;
	assert_string_equal(said(1), "<6>how 1\n<4>less 2\n<3>not 3\n");
}

static void a_start_that_fails_says_its_error_alone(void **state)
{
	(void)state;
	log_hold();
	assert_string_equal(said(0), "test: not 3\n");
}

static void names(void **state)
{
	enum log_level level = LOG_LEVEL_ERROR;

	(void)state;
	assert_true(log_level_parse("info", &level));
	assert_int_equal(level, LOG_LEVEL_INFO);
	assert_true(log_level_parse("warning", &level));
	assert_int_equal(level, LOG_LEVEL_WARNING);
	assert_true(log_level_parse("error", &level));
	assert_int_equal(level, LOG_LEVEL_ERROR);
	assert_false(log_level_parse("", &level));
	assert_false(log_level_parse("debug", &level));
	assert_false(log_level_parse("INFO", &level));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_choose_lines),
		cmocka_unit_test(the_journal_is_told_levels),
		cmocka_unit_test(names),
		cmocka_unit_test(a_start_that_fails_says_its_error_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
