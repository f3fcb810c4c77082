// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/archive/per_process.h"
#include "daemon/config.h"
#include "lib/error.h"

static char directory[] = "/tmp/dcpi-config-XXXXXX";
static char path[64];

static void file_write(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void drop_in_write(const char *name, const char *text)
{
	char full[256];

	snprintf(full, sizeof(full), "%s.d", path);
	mkdir(full, 0755);
	snprintf(full, sizeof(full), "%s.d/%s", path, name);
	file_write(full, text);
}

static int setup(void **state)
{
	(void)state;
	strcpy(strrchr(directory, '-'), "-XXXXXX");
	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/dcpid.conf", directory);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

static void defaults_are_sane(void **state)
{
	struct config config;

	(void)state;
	config_init(&config);
	assert_string_equal(config.db, CONFIG_DB);
	assert_string_equal(config.source, "auto");
	assert_string_equal(config.per_process, "unknown");
	assert_int_equal(config.drain_interval_ms, 1000);
	assert_int_equal(config.merge_interval_s, 30);
	assert_int_equal(config.memory_limit_mb, 64);
	assert_int_equal(config.overhead_percent, 1);
	assert_int_equal(config.table_entries, 16384);
	assert_int_equal(config.buffer_entries, 8192);
}

static void file_sets_every_key(void **state)
{
	struct config config;

	(void)state;
	file_write(path, "# a comment\n\n"
			 "db = /x/y.db\n"
			 "events=cycles:60000-64000,cpu-clock\n"
			 "  source\t=  perf  \n"
			 "socket =\n"
			 "drain_interval_ms = 250\n"
			 "merge_interval_s = 7\n"
			 "memory_limit_mb = 9\n"
			 "table_entries = 1024\n"
			 "buffer_entries = 512\n"
			 "branch_every = 4\n"
			 "double_every = 200\n"
			 "double_period = 64\n"
			 "per_process = /usr/bin/* *libc*\n"
			 "label = two words = one label");
	config_init(&config);
	assert_int_equal(config_read(&config, path, NULL), 0);
	assert_string_equal(config.db, "/x/y.db");
	assert_string_equal(config.events, "cycles:60000-64000,cpu-clock");
	assert_string_equal(config.source, "perf");
	assert_string_equal(config.socket, "");
	assert_int_equal(config.drain_interval_ms, 250);
	assert_int_equal(config.merge_interval_s, 7);
	assert_int_equal(config.memory_limit_mb, 9);
	assert_int_equal(config.table_entries, 1024);
	assert_int_equal(config.buffer_entries, 512);
	assert_int_equal(config.branch_every, 4);
	assert_int_equal(config.double_every, 200);
	assert_int_equal(config.double_period, 64);
	assert_string_equal(config.per_process, "/usr/bin/* *libc*");
	assert_string_equal(config.label, "two words = one label");
}

static void later_files_win(void **state)
{
	struct config config;

	(void)state;
	file_write(path, "label = main\nmerge_interval_s = 5\n");
	drop_in_write("20-b.conf", "label = b\n");
	drop_in_write("10-a.conf", "label = a\nmemory_limit_mb = 3\n");
	drop_in_write("30-c.conf.disabled", "label = c\n");
	drop_in_write(".hidden.conf", "label = d\n");
	config_init(&config);
	assert_int_equal(config_read(&config, path, NULL), 0);
	assert_string_equal(config.label, "b");
	assert_int_equal(config.memory_limit_mb, 3);
	assert_int_equal(config.merge_interval_s, 5);
}

static void drop_ins_need_no_main_file(void **state)
{
	struct config config;

	(void)state;
	drop_in_write("10-a.conf", "label = a\n");
	config_init(&config);
	assert_int_equal(config_read(&config, path, NULL), -ENOENT);
	assert_string_equal(config.label, "a");
}

static void errors_have_file_and_line(void **state)
{
	static const struct {
		const char *text, *line, *word;
	} bad[] = {
		{"label = a\ncolour = red\n", ":2:", "colour"},
		{"label\n", ":1:", "key = value"},
		{"= 5\n", ":1:", "unknown key ''"},
		{"\n\nevents = cycels\n", ":3:", "cycels"},
		{"events = cycles:5\n", ":1:", "outside the range"},
		{"source = magic\n", ":1:", "magic"},
		{"merge_interval_s = 0\n", ":1:", "1..3600"},
		{"merge_interval_s = 3601\n", ":1:", "3601"},
		{"merge_interval_s = -1\n", ":1:", "-1"},
		{"merge_interval_s = 10s\n", ":1:", "10s"},
		{"merge_interval_s =\n", ":1:", "''"},
		{"memory_limit_mb = 99999999999999999999999\n", ":1:", "9999"},
		{"table_entries = 1000\n", ":1:", "power of two"},
		{"branch_every = 1000001\n", ":1:", "0..1000000"},
		{"branch_every = all\n", ":1:", "all"},
		{"double_every = 1\n", ":1:", "2..1000000"},
		{"double_every = -2\n", ":1:", "-2"},
		{"double_period = 0\n", ":1:", "1..1000"},
		{"double_period = 1001\n", ":1:", "1..1000"},
	};
	struct config config, before;
	struct error err;
	char where[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		file_write(path, bad[i].text);
		config_init(&config);
		before = config;
		assert_int_equal(config_read(&config, path, &err), -EINVAL);
		snprintf(where, sizeof(where), "%s%s", path, bad[i].line);
		assert_non_null(strstr(err.message, where));
		assert_non_null(strstr(err.message, bad[i].word));
		if (strcmp(bad[i].line, ":1:") == 0)
			assert_memory_equal(&config, &before, sizeof(config));
	}
}

/* A source that cannot satisfy a setting is refused; "auto" keeps the possible ones. */
static void settings_go_together(void **state)
{
	static const struct {
		const char *source;
		uint64_t probe_permille, double_every;
		int result;
	} cases[] = {
		{"auto", 1, 2, 0},	   {"kmod", 0, 2, 0},	    {"kmod", 1, 0, -EINVAL},
		{"perf", 1, 0, 0},	   {"perf", 0, 2, -EINVAL}, {"bpf", 0, 0, 0},
		{"bpf", 0, 2, -EINVAL},	   {"bpf", 1, 0, 0},	    {"replay", 0, 0, 0},
		{"replay", 1, 0, -EINVAL},
	};
	struct config config;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		config_init(&config);
		strcpy(config.source, cases[i].source);
		config.probe_permille = cases[i].probe_permille;
		config.double_every = cases[i].double_every;
		assert_int_equal(config_check(&config, &err), cases[i].result);
		if (cases[i].result < 0)
			assert_non_null(strstr(err.message, cases[i].source));
	}
}

static void long_values_are_refused(void **state)
{
	struct config config;
	char value[5000];

	(void)state;
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	config_init(&config);
	assert_int_equal(config_set(&config, "db", value, NULL), -EINVAL);
	assert_int_equal(config_set(&config, "label", value, NULL), -EINVAL);
	value[sizeof(config.label) - 1] = '\0';
	assert_int_equal(config_set(&config, "label", value, NULL), 0);
	assert_int_equal(strlen(config.label), sizeof(config.label) - 1);
}

/* Equal settings give equal bytes, however they are written, because reloading compares them. */
/* Text after a zero byte in its line would be invisible. */
static void zero_bytes_are_refused(void **state)
{
	static const char text[] = "label = x\n# \0 units = 0\n";
	struct config config;
	struct error err;
	char where[80];
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, sizeof(text) - 1, file), sizeof(text) - 1);
	assert_int_equal(fclose(file), 0);
	config_init(&config);
	assert_int_equal(config_read(&config, path, &err), -EINVAL);
	snprintf(where, sizeof(where), "%s:2: a zero byte", path);
	assert_string_equal(err.message, where);
	/* open() of a folder succeeds. */
	assert_int_equal(config_read(&config, directory, &err), -EISDIR);
}

static void equal_settings_compare_equal(void **state)
{
	struct config a, b;

	(void)state;
	config_init(&a);
	config_init(&b);
	config_set(&a, "label", "a long label that is set first", NULL);
	config_set(&a, "label", "x", NULL);
	config_set(&b, "label", "x", NULL);
	assert_memory_equal(&a, &b, sizeof(a));
}

static void garbage_does_no_harm(void **state)
{
	static const char letters[] = "db=events \t\n#label=cycles:=0123\xff.";
	uint64_t seed = 1;
	char text[300];
	int round;

	(void)state;
	for (round = 0; round < 3000; round++) {
		struct config config;
		struct error err = {.message = ""};
		size_t length = unit_random(&seed) % (sizeof(text) - 1), i;

		for (i = 0; i < length; i++)
			text[i] = letters[unit_random(&seed) % (sizeof(letters) - 1)];
		text[length] = '\0';
		file_write(path, text);
		config_init(&config);
		if (config_read(&config, path, &err) < 0)
			assert_non_null(strstr(err.message, path));
	}
}

static void patterns_choose_images(void **state)
{
	(void)state;
	assert_false(per_process_match(NULL, "/bin/x"));
	assert_false(per_process_match("", "/bin/x"));
	assert_false(per_process_match("none", "none"));
	assert_true(per_process_match("all", "/bin/x"));
	assert_true(per_process_match("/usr/* /bin/x", "/bin/x"));
	assert_true(per_process_match("  /usr/*\t", "/usr/lib/libc.so.6"));
	assert_false(per_process_match("/usr/* /bin/y", "/bin/x"));
	assert_true(per_process_match("*libc.so*", "/usr/lib/libc.so.6"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_sane),
		cmocka_unit_test_setup_teardown(file_sets_every_key, setup, teardown),
		cmocka_unit_test_setup_teardown(later_files_win, setup, teardown),
		cmocka_unit_test_setup_teardown(drop_ins_need_no_main_file, setup, teardown),
		cmocka_unit_test_setup_teardown(errors_have_file_and_line, setup, teardown),
		cmocka_unit_test(long_values_are_refused),
		cmocka_unit_test_setup_teardown(zero_bytes_are_refused, setup, teardown),
		cmocka_unit_test(settings_go_together),
		cmocka_unit_test(equal_settings_compare_equal),
		cmocka_unit_test_setup_teardown(garbage_does_no_harm, setup, teardown),
		cmocka_unit_test(patterns_choose_images),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
