// SPDX-License-Identifier: GPL-2.0-only
#include "lib/near_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/printable.h"

/* Longer names are truncated. */
#define NAME_BYTES_MAX 8192
/* Longer names have no edit distance. */
#define LETTERS_MAX 64
/* One wrong letter is allowed for this number of letters. */
#define LETTERS_PER_ERROR 4
#define LIST_BYTES 256
/* Distances: the kind of match, then the difference of the lengths. */
#define KIND 1000U

enum kind {
	KIND_CASE,
	KIND_LAST, /* the last part of a qualified name: "drain" of "Zed::drain(int)" */
	KIND_END,
	KIND_BEGINNING,
	KIND_PART,
	KIND_LETTERS,
	KIND_NONE,
};

void near_names_init(struct near_names *near, const char *wanted)
{
	*near = (struct near_names){.wanted = wanted};
}

void near_names_deinit(struct near_names *near)
{
	for (size_t i = 0; i < near->count; i++)
		free(near->names[i]);
	near->count = 0;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool is_same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Compute the optimal string alignment distance, ignoring case: substitution, insertion, deletion,
 * or transposition of two adjacent letters (G. Navarro, "A guided tour to approximate string
 * matching", 2001). Both strings have at most LETTERS_MAX letters.
 */
static size_t letters_between(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t row[3][LETTERS_MAX + 1];

	for (size_t j = 0; j <= b_bytes; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= a_bytes; i++) {
		size_t *now = row[i % 3];
		const size_t *last = row[(i + 2) % 3];

		now[0] = i;
		for (size_t j = 1; j <= b_bytes; j++) {
			now[j] = 1 + least(last[j], now[j - 1]);
			now[j] = least(now[j], last[j - 1] + !is_same_letter(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
			    is_same_letter(a[i - 2], b[j - 1]))
				now[j] = least(now[j], 1 + row[(i + 1) % 3][j - 2]);
		}
	}
	return row[a_bytes % 3][b_bytes];
}

/* Return: length of a name without its list of arguments, "(int)" or "(int) const". */
static size_t length_without_arguments(const char *name)
{
	const char *end = strrchr(name, ')');
	size_t depth = 0;

	for (const char *at = end; at != NULL && at > name; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (depth == 0)
			return (size_t)(at - name);
	}
	return strlen(name);
}

/* Return true if a name without its arguments is the wanted one, or ends with it. */
static bool ends_with(const char *name, const char *wanted, bool *whole)
{
	size_t asked = strlen(wanted), bytes = length_without_arguments(name);

	if (bytes < asked || strncasecmp(name + bytes - asked, wanted, asked) != 0)
		return false;
	*whole = bytes == asked || strchr(":.", name[bytes - asked - 1]) != NULL;
	return true;
}

static enum kind name_kind(const char *wanted, const char *name, size_t *difference)
{
	size_t asked = strlen(wanted), bytes = strlen(name), few = asked / LETTERS_PER_ERROR;
	bool whole = false, end = ends_with(name, wanted, &whole);

	*difference = bytes > asked ? bytes - asked : asked - bytes;
	if (strcasecmp(wanted, name) == 0)
		return KIND_CASE;
	if (end || (bytes > asked && strcasecmp(name + bytes - asked, wanted) == 0))
		return whole ? KIND_LAST : KIND_END;
	if (strncasecmp(name, wanted, asked) == 0)
		return KIND_BEGINNING;
	if (strcasestr(name, wanted) != NULL)
		return KIND_PART;
	if (few == 0 || asked > LETTERS_MAX || bytes > LETTERS_MAX || *difference > few)
		return KIND_NONE;
	*difference = letters_between(wanted, asked, name, bytes);
	return *difference <= few ? KIND_LETTERS : KIND_NONE;
}

static void insert(struct near_names *near, const char *name, unsigned int distance)
{
	size_t at = near->count;
	char *copy;

	for (size_t i = 0; i < near->count; i++) {
		if (strcmp(near->names[i], name) == 0)
			return;
	}
	while (at > 0 &&
	       (near->distances[at - 1] > distance ||
		(near->distances[at - 1] == distance && strcmp(near->names[at - 1], name) > 0)))
		at--;
	copy = at < NEAR_NAMES_MAX ? strndup(name, NAME_BYTES_MAX) : NULL;
	if (copy == NULL)
		return;
	printable_make(copy);
	if (near->count == NEAR_NAMES_MAX)
		free(near->names[--near->count]);
	for (size_t i = near->count++; i > at; i--) {
		near->names[i] = near->names[i - 1];
		near->distances[i] = near->distances[i - 1];
	}
	near->names[at] = copy;
	near->distances[at] = distance;
}

void near_names_add(struct near_names *near, const char *name)
{
	size_t difference;
	enum kind kind;

	if (*near->wanted == '\0')
		return;
	kind = name_kind(near->wanted, name, &difference);
	if (kind == KIND_NONE)
		return;
	difference = least(difference, KIND - 1);
	insert(near, name, KIND * kind + (unsigned int)difference);
}

void near_names_text(const struct near_names *near, char *text, size_t bytes)
{
	size_t length = 0, count = near->count;

	/* Names with a few wrong letters are omitted if there is a better match. */
	while (count > 1 && near->distances[count - 1] >= KIND * KIND_LETTERS &&
	       near->distances[0] < KIND * KIND_LETTERS)
		count--;
	text[0] = '\0';
	for (size_t i = 0; i < count && length < bytes; i++)
		length += (size_t)snprintf(text + length, bytes - length, "%s'%s'%s",
					   i == 0 ? " (did you mean " : ", ", near->names[i],
					   i + 1 == count ? "?)" : "");
}

/* Format "a, b, c", as many names as fit. */
static void list_format(char text[LIST_BYTES], const char *const *names, size_t count)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		if (length + strlen(names[i]) + strlen(", , ...") >= LIST_BYTES) {
			snprintf(text + length, LIST_BYTES - length, ", ...");
			return;
		}
		length += (size_t)snprintf(text + length, LIST_BYTES - length, "%s%s",
					   i > 0 ? ", " : "", names[i]);
	}
	printable_make(text);
}

int near_names_unknown(struct error *err, const char *what, const char *wanted,
		       const char *const *names, size_t count)
{
	_cleanup_(near_names_deinit) struct near_names near = {.wanted = wanted};
	char list[LIST_BYTES], text[LIST_BYTES];

	for (size_t i = 0; i < count; i++)
		near_names_add(&near, names[i]);
	near_names_text(&near, text, sizeof(text));
	list_format(list, names, count);
	return error_set(err, EINVAL, "unknown %s '%s'%s; known: %s", what, wanted, text,
			 count > 0 ? list : "none");
}
