// SPDX-License-Identifier: GPL-2.0-only
#include "lib/string_table.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lib/printable.h"

struct numbered_string {
	uint64_t number;
	char text[];
};

static int compare_strings(const void *a, const void *b)
{
	const struct numbered_string *x = a, *y = b;

	return strcmp(x->text, y->text);
}

void string_table_deinit(struct string_table *table)
{
	tdestroy(table->root, free);
	*table = (struct string_table){.count = 0};
}

int string_table_add(struct string_table *table, const char *text, uint64_t *number,
		     const char **added)
{
	size_t length = strnlen(text, STRING_TABLE_BYTES_MAX);
	struct numbered_string *string = malloc(sizeof(*string) + length + 1), **found = NULL;

	if (string == NULL)
		return -ENOMEM;
	string->number = table->count;
	memcpy(string->text, text, length);
	string->text[length] = '\0';
	printable_make(string->text);
	found = tsearch(string, &table->root, compare_strings);
	if (found == NULL) {
		free(string);
		return -ENOMEM;
	}
	*added = NULL;
	*number = (*found)->number;
	if (*found != string) {
		free(string);
		return 0;
	}
	*added = string->text;
	table->count++;
	return 0;
}
