// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/options.h"

#define KEY_DB 256
#define KEY_DRY 257

static const struct option_entry entries[] = {
	{'e', "event", "LIST", "what to sample"}, {'e', "events", "LIST", NULL},
	{'q', "quiet", NULL, "say nothing"},	  {KEY_DB, "db", "FILE", "the database"},
	{KEY_DRY, "dry", NULL, "do nothing"},
};

static struct options options;

static void begin(bool stop_at_operand)
{
	optind = 0; /* glibc: reset getopt() */
	options_init(&options, "prog", stop_at_operand);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
}

/* Split a text into arguments as for main(), after "prog". Valid until the next call. */
static char **command_line(const char *text, int *argc)
{
	static char copy[128];
	static char *words[32];
	char *rest = copy;

	snprintf(copy, sizeof(copy), "prog %s", text);
	for (*argc = 0; *argc < 31 && (words[*argc] = strsep(&rest, " ")) != NULL;)
		++*argc;
	words[*argc] = NULL;
	return words;
}

static void test_accepts_letters_and_names(void **state)
{
	static const int keys[] = {'q', 'e', 'e', 'e', KEY_DB, OPTIONS_HELP, OPTIONS_VERSION};
	static const char *const arguments[] = {NULL, "a", "b", "c", "-q", NULL, NULL};
	int argc;
	char **words =
		command_line("-qe a --events=b x --event c --db -q -h --vers -- --dry", &argc);
	struct error err;

	(void)state;
	begin(false);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		assert_int_equal(options_next(&options, argc, words, &err), keys[i]);
		if (arguments[i] != NULL)
			assert_string_equal(optarg, arguments[i]);
	}
	assert_int_equal(options_next(&options, argc, words, &err), OPTIONS_END);
	assert_int_equal(argc - optind, 2);
	assert_string_equal(words[optind], "x");
	assert_string_equal(words[optind + 1], "--dry");
}

static void test_stops_at_operand(void **state)
{
	int argc;
	char **words = command_line("-q command --unknown -e", &argc);
	struct error err;

	(void)state;
	begin(true);
	assert_int_equal(options_next(&options, argc, words, &err), 'q');
	assert_int_equal(options_next(&options, argc, words, &err), OPTIONS_END);
	assert_string_equal(words[optind], "command");
}

static void test_reports_errors(void **state)
{
	static const struct {
		const char *words;
		const char *message;
	} cases[] = {
		{"--nonsense", "unknown option '--nonsense' (see 'prog --help')"},
		{"--d", "unknown option '--d' (did you mean '--db', '--dry'?) (see 'prog "
			"--help')"}, /* --db,
				    --dry
				  */
		{"-z", "unknown option '-z' (see 'prog --help')"},
		{"-qz", "unknown option '-z' (see 'prog --help')"},
		{"-e", "option '-e' needs a value"},
		{"-qe", "option '-e' needs a value"},
		{"--event", "option '--event' needs a value"},
		{"--quiet=x", "option '--quiet' takes no value"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error err = {.message = ""};
		int argc, key;
		char **words = command_line(cases[i].words, &argc);

		begin(false);
		while ((key = options_next(&options, argc, words, &err)) >= 0)
			assert_int_equal(key, 'q');
		assert_int_equal(key, -EINVAL);
		assert_string_equal(err.message, cases[i].message);
	}
}

static void test_help_lists_each_option_once(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(stream);
	begin(false);
	options_help(stream, &options, "[OPTION]...", "Does it.");
	fclose(stream);
	assert_string_equal(text, "Usage: prog [OPTION]...\n"
				  "Does it.\n"
				  "\n"
				  "  -e, --event LIST  what to sample\n"
				  "  -q, --quiet       say nothing\n"
				  "      --db FILE     the database\n"
				  "      --dry         do nothing\n"
				  "  -h, --help        print this help\n"
				  "      --version     print the version\n");
	free(text);
}

/* Long synopses, summaries and help texts are wrapped; a line that fits is unchanged. */
static void test_help_fits_terminal(void **state)
{
	static const struct option_entry wordy = {
		'w', "wordy", NULL,
		"a text that goes on until there is no more room for it in the line, and then on"};
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(stream);
	options_init(&options, "prog", false);
	options_add(&options, &wordy, 1);
	options_help(
		stream, &options,
		"[OPTION]... ONE-OPERAND OR-TWO-OPERANDS [AND-THREE-OPERANDS] [OR-MORE-OPERANDS]",
		"Does what it says, and says it in so many words that they are more than a "
		"line.\n  so:  as is");
	fclose(stream);
	assert_string_equal(
		text,
		"Usage: prog [OPTION]... ONE-OPERAND OR-TWO-OPERANDS [AND-THREE-OPERANDS]\n"
		"            [OR-MORE-OPERANDS]\n"
		"Does what it says, and says it in so many words that they are more than a line.\n"
		"  so:  as is\n"
		"\n"
		"  -w, --wordy    a text that goes on until there is no more room for it in the\n"
		"                 line, and then on\n"
		"  -h, --help     print this help\n"
		"      --version  print the version\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts_letters_and_names),
		cmocka_unit_test(test_stops_at_operand),
		cmocka_unit_test(test_reports_errors),
		cmocka_unit_test(test_help_lists_each_option_once),
		cmocka_unit_test(test_help_fits_terminal),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
