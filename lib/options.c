// SPDX-License-Identifier: GPL-2.0-only
#include "lib/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/text_wrap.h"

/* Keys from this value on are not letters. */
#define LETTERS_END 128
#define NAMES_BYTES 64
/* Width of help texts, which fits any terminal. */
#define HELP_WIDTH 80

static const struct option_entry common_entries[] = {
	{OPTIONS_HELP, "help", NULL, "print this help"},
	{OPTIONS_VERSION, "version", NULL, "print the version"},
};

static bool has_letter(const struct option_entry *entry)
{
	return entry->key < LETTERS_END;
}

void options_init(struct options *options, const char *program, bool stop_at_operand)
{
	*options = (struct options){.program = program};
	/*
	 * With ":" getopt distinguishes a missing argument from an unknown option, and prints
	 * nothing.
	 */
	strcpy(options->letters, stop_at_operand ? "+:" : ":");
	options_add(options, common_entries, sizeof(common_entries) / sizeof(*common_entries));
}

static void add_letter(struct options *options, const struct option_entry *entry)
{
	size_t length = strlen(options->letters);

	options->letters[length++] = (char)entry->key;
	if (entry->argument != NULL)
		options->letters[length] = ':';
}

void options_add(struct options *options, const struct option_entry *entries, size_t count)
{
	for (size_t i = 0; i < count && options->count < OPTIONS_MAX; i++) {
		const struct option_entry *entry = &entries[i];

		options->names[options->count] = (struct option){
			.name = entry->name,
			.has_arg = entry->argument != NULL ? required_argument : no_argument,
			.val = entry->key,
		};
		options->entries[options->count++] = entry;
		if (has_letter(entry) && strchr(options->letters, entry->key) == NULL)
			add_letter(options, entry);
	}
}

static int options_unknown(const struct options *options, const char *word, struct error *err)
{
	_cleanup_free_ char *wanted = strndup(word, strcspn(word, "="));
	_cleanup_(near_names_deinit) struct near_names near = {.wanted = wanted};
	char text[256], name[NAMES_BYTES];

	if (wanted == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < options->count; i++) {
		snprintf(name, sizeof(name), "--%s", options->entries[i]->name);
		if (options->entries[i]->help != NULL)
			near_names_add(&near, name);
	}
	near_names_text(&near, text, sizeof(text));
	return error_set(err, EINVAL, "unknown option '%s'%s" ERROR_SEE_HELP("%s"), wanted, text,
			 options->program);
}

/* getopt has just rejected the word before optind, or the letter in optopt. */
static int options_describe(const struct options *options, int result, const char *word,
			    struct error *err)
{
	char letter[3] = {'-', (char)optopt, '\0'};
	bool is_long = strncmp(word, "--", 2) == 0;

	if (!is_long)
		word = letter;
	if (result == ':')
		return error_set(err, EINVAL, "option '%s' needs a value", word);
	if (is_long && optopt != 0)
		return error_set(err, EINVAL, "option '%.*s' takes no value",
				 (int)strcspn(word, "="), word);
	return options_unknown(options, word, err);
}

int options_next(struct options *options, int argc, char **argv, struct error *err)
{
	int key = getopt_long(argc, argv, options->letters, options->names, NULL);

	if (key == ':' || key == '?')
		return options_describe(options, key, argv[optind - 1], err);
	return key;
}

/* Format "-e, --event LIST". Return: its length. */
static size_t print_names(char names[NAMES_BYTES], const struct option_entry *entry)
{
	char letter[5] = "    ";

	if (has_letter(entry))
		snprintf(letter, sizeof(letter), "-%c, ", entry->key);
	snprintf(names, NAMES_BYTES, "%s--%s%s%s", letter, entry->name,
		 entry->argument != NULL ? " " : "",
		 entry->argument != NULL ? entry->argument : "");
	return strlen(names);
}

static void print_entry(FILE *stream, const struct option_entry *entry, size_t width)
{
	char names[NAMES_BYTES];

	if (entry->help == NULL)
		return;
	print_names(names, entry);
	fprintf(stream, "  %-*s  ", (int)width, names);
	text_wrap(stream, entry->help, HELP_WIDTH, width + 4, width + 4);
}

int options_rows(const char *argument, size_t *ret, struct error *err)
{
	char *end;

	errno = 0;
	*ret = strtoul(argument, &end, 10);
	if (errno != 0 || *argument < '0' || *argument > '9' || *end != '\0')
		return error_set(err, EINVAL, ERROR_NOT_VALID, argument, "number of rows");
	return 0;
}

/* Print a text whose first line starts at @column. Only lines that are too long are wrapped. */
static void options_print_text(FILE *stream, const char *text, size_t column)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (column + text_width(line) <= HELP_WIDTH)
			fprintf(stream, "%s\n", line);
		else
			text_wrap(stream, line, HELP_WIDTH, column, column);
		column = 0;
	}
}

void options_help(FILE *stream, const struct options *options, const char *synopsis,
		  const char *summary)
{
	const size_t common = sizeof(common_entries) / sizeof(*common_entries);
	char names[NAMES_BYTES];
	size_t width = 0, length;

	for (size_t i = 0; i < options->count; i++) {
		length = print_names(names, options->entries[i]);
		if (options->entries[i]->help != NULL && length > width)
			width = length;
	}
	fprintf(stream, "Usage: %s ", options->program);
	options_print_text(stream, synopsis, strlen("Usage:  ") + strlen(options->program));
	options_print_text(stream, summary, 0);
	fputc('\n', stream);
	/* The common options were added first, and are shown last. */
	for (size_t i = 0; i < options->count; i++)
		print_entry(stream, options->entries[(i + common) % options->count], width);
}

void options_version(FILE *stream, const struct options *options)
{
	fprintf(stream, "%s (DCPI for Linux) %s\n", options->program, DCPI_VERSION);
}
