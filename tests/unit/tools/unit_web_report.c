// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/error.h"
#include "tools/report/cli.h"
#include "tools/web/database_state.h"
#include "tools/web/web_report.h"

static int add(struct web_query *query, const char *name, const char *value)
{
	return web_query_add(query, name, value, strlen(value), NULL);
}

/* Return the command line of a query, with a line for each word; freed by the caller. */
static char *command_text(const struct web_query *query, const struct cli *cli)
{
	char **command = web_query_command(query, "/bin", "/x y.db", cli), *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	assert_non_null(command);
	for (size_t i = 0; command[i] != NULL; i++)
		fprintf(stream, "%s\n", command[i]);
	fclose(stream);
	web_command_free(command);
	return text;
}

static void test_only_known_paths_have_reports(void **state)
{
	static const char *const paths[] = {
		"", "//", "/api", "/api/", "/API/epochs", "/api/epochs/", "/api/epochs\1", "/../"};

	(void)state;
	assert_true(web_report_is_page(web_report_find("/")));
	assert_false(web_report_is_page(web_report_find("/api/epochs")));
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_null(web_report_find(paths[i]));
}

static void test_value_is_one_argument(void **state)
{
	struct web_query query = {.report = web_report_find("/api/procedure")};
	const struct cli cli = {.demangle = true};
	char *text;

	(void)state;
	assert_int_equal(add(&query, "image", "x --db=/etc/passwd"), 0);
	assert_int_equal(add(&query, "name", "--help"), 0);
	assert_int_equal(web_query_check(&query, NULL), 0);
	text = command_text(&query, &cli);
	assert_string_equal(text, "/bin/dcpicalc\n--db=/x y.db\n--json\n--evidence\n"
				  "--image=x --db=/etc/passwd\n--\n--help\n");
	free(text);
	web_query_deinit(&query);
}

static void test_options_of_the_server_apply_to_reports(void **state)
{
	struct web_query query = {.report = web_report_find("/")};
	const char *directory = "/src", *substitute = "/a=/b";
	const struct cli cli = {
		.debug = {.directory = "/debug"},
		.sources = {.directories = &directory,
			    .directory_count = 1,
			    .substitutes = &substitute,
			    .substitute_count = 1},
	};
	char *text = command_text(&query, &cli);

	(void)state;
	assert_string_equal(text, "/bin/dcpireport\n--db=/x y.db\n--debug-dir=/debug\n"
				  "--no-demangle\n--source-path=/src\n--substitute-path=/a=/b\n");
	free(text);
	query.report = web_report_find("/api/procedures");
	text = command_text(&query, &cli);
	assert_string_equal(text, "/bin/dcpiprof\n--db=/x y.db\n--json\n--debug-dir=/debug\n"
				  "--no-demangle\n--limit=100\n");
	free(text);
}

static void test_bad_parameters_are_refused(void **state)
{
	struct web_query query = {.report = web_report_find("/")};
	char text[WEB_VALUE_BYTES_MAX + 2];

	(void)state;
	assert_int_equal(add(&query, "db", "/etc/passwd"), -EINVAL);
	assert_int_equal(add(&query, "name", "main"), -EINVAL);
	assert_int_equal(add(&query, "", "x"), -EINVAL);
	assert_int_equal(add(&query, "image", ""), -EINVAL);
	assert_int_equal(add(&query, "image", "a\nb"), -EINVAL);
	assert_int_equal(add(&query, "image", "\177"), -EINVAL);
	assert_int_equal(web_query_add(&query, "image", "a\0b", 3, NULL), -EINVAL);
	assert_int_equal(web_query_add(&query, "image", NULL, 0, NULL), -EINVAL);
	memset(text, 'x', sizeof(text));
	text[WEB_VALUE_BYTES_MAX + 1] = '\0';
	assert_int_equal(add(&query, "image", text), -EINVAL);
	text[WEB_VALUE_BYTES_MAX] = '\0';
	assert_int_equal(add(&query, "image", text), 0);
	assert_int_equal(add(&query, "image", "twice"), -EINVAL);
	assert_int_equal(add(&query, "refresh", "4"), -EINVAL);
	web_query_deinit(&query);
	query = (struct web_query){.report = web_report_find("/api/procedure")};
	assert_int_equal(web_query_check(&query, NULL), -EINVAL);
}

static void test_relative_times(void **state)
{
	static const struct {
		const char *time;
		int r;
		bool moves;
	} times[] = {
		{"10m", 0, true},
		{"now", 0, true},
		{"@1700000000", 0, false},
		{"2026-11-20 14:30", 0, false},
		{"yesterday", -EINVAL, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct web_query query = {.report = web_report_find("/api/epochs")};

		assert_int_equal(add(&query, "since", times[i].time), times[i].r);
		if (times[i].r == 0)
			assert_int_equal(query.moves, times[i].moves);
		web_query_deinit(&query);
	}
}

static void test_change_of_log_changes_database(void **state)
{
	char path[] = "/tmp/unit_web_report.XXXXXX", log[64];
	struct database_state before, after;
	int fd = mkstemp(path);
	FILE *file;

	(void)state;
	assert_true(fd >= 0);
	snprintf(log, sizeof(log), "%s-wal", path);
	before = database_state_read(path);
	file = fopen(log, "we");
	assert_non_null(file);
	/* An empty log is none. */
	after = database_state_read(path);
	assert_true(database_state_equal(&before, &after));
	fputs("frame", file);
	fflush(file);
	after = database_state_read(path);
	assert_false(database_state_equal(&before, &after));
	assert_false(database_state_settled(&after, after.files[1].changed_ns));
	assert_true(database_state_settled(&after, after.files[1].changed_ns + 1000000000));
	fclose(file);
	close(fd);
	unlink(log);
	unlink(path);
	after = database_state_read(path);
	assert_false(database_state_equal(&before, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_known_paths_have_reports),
		cmocka_unit_test(test_value_is_one_argument),
		cmocka_unit_test(test_options_of_the_server_apply_to_reports),
		cmocka_unit_test(test_bad_parameters_are_refused),
		cmocka_unit_test(test_relative_times),
		cmocka_unit_test(test_change_of_log_changes_database),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
