// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/text.h"

/* Brackets nested deeper are not matched: such names are shortened in the middle. */
#define NESTING_MAX 64
#define DOTS "..."
#define DOTS_WIDTH 3

/* struct group - a pair of brackets; @end: index of the closing one, 0: none begins here */
struct group {
	uint32_t end;
	unsigned char height; /* 1: contains no other group of the same kind */
};

/* struct bracket - an opening bracket that has not been closed yet */
struct bracket {
	size_t start;
	unsigned char height; /* of the groups in it */
};

/* Operators contain brackets: "operator<", "operator<<=", "operator->", "operator()". */
static size_t operator_bytes(const char *name, size_t at)
{
	static const char word[] = "operator";
	const size_t bytes = sizeof(word) - 1;

	if (strncmp(name + at, word, bytes) != 0 ||
	    (at > 0 && (isalnum((unsigned char)name[at - 1]) || name[at - 1] == '_')))
		return 0;
	if (strncmp(name + at + bytes, "()", 2) == 0)
		return bytes + 2;
	return bytes + strspn(name + at + bytes, "<>=-");
}

/* Arguments follow a name: other brackets, as in "<T as Trait>::f" of Rust, are part of it. */
static bool follows_name(const char *name, size_t at, char open)
{
	if (at == 0)
		return false;
	if (open == '(')
		return strncmp(name + at, "(anonymous namespace)", 21) != 0 &&
		       (isalnum((unsigned char)name[at - 1]) ||
			strchr("_>)", name[at - 1]) != NULL);
	return isalnum((unsigned char)name[at - 1]) || strchr("_:)}]", name[at - 1]) != NULL;
}

/* Match the brackets of one kind. Return: false if they do not match. */
static bool match_groups(struct group *groups, const char *name, char open, char close)
{
	struct bracket stack[NESTING_MAX];
	size_t depth = 0, skip;

	for (size_t i = 0; name[i] != '\0'; i += skip > 0 ? skip : 1) {
		skip = operator_bytes(name, i);
		if (skip > 0)
			continue;
		if (name[i] == open) {
			if (depth == NESTING_MAX)
				return false;
			stack[depth++] = (struct bracket){.start = i};
		} else if (name[i] == close && !(close == '>' && i > 0 && name[i - 1] == '-')) {
			struct bracket *bracket;

			if (depth == 0)
				return false;
			bracket = &stack[--depth];
			if (follows_name(name, bracket->start, open)) {
				groups[bracket->start].end = (uint32_t)i;
				groups[bracket->start].height = ++bracket->height;
			}
			if (depth > 0 && bracket->height > stack[depth - 1].height)
				stack[depth - 1].height = bracket->height;
		}
	}
	return depth == 0;
}

/* Copy a name; groups up to @height become "<...>". Return: true if there are higher ones. */
static bool copy_without(char *copy, const char *name, const struct group *groups,
			 unsigned char height)
{
	bool more = false;
	size_t i = 0;

	while (name[i] != '\0') {
		const struct group *group = &groups[i];

		*copy++ = name[i];
		more |= group->height > height;
		if (group->end > i + 1 + DOTS_WIDTH && group->height <= height) {
			copy = stpcpy(copy, DOTS);
			i = group->end;
		} else {
			i++;
		}
	}
	*copy = '\0';
	return more;
}

/* Shorten groups of one kind in place, as many as necessary. Return: 0 or -1: out of memory. */
static int shorten_groups(char *name, size_t width, const char brackets[2])
{
	size_t bytes = strlen(name) + 1;
	_cleanup_free_ struct group *groups = calloc(bytes, sizeof(*groups));
	_cleanup_free_ char *copy = malloc(bytes);
	bool more = true;

	if (groups == NULL || copy == NULL)
		return -1;
	if (!match_groups(groups, name, brackets[0], brackets[1]))
		return 0;
	for (unsigned char height = 1; more; height++) {
		more = copy_without(copy, name, groups, height);
		if (!more || text_width(copy) <= width)
			break;
	}
	memcpy(name, copy, strlen(copy) + 1);
	return 0;
}

static void cut_middle(char *name, size_t width)
{
	size_t length = text_width(name), dots = width < DOTS_WIDTH ? width : DOTS_WIDTH;
	size_t tail = (width - dots) / 2, head = width - dots - tail;
	char *gap = name + (text_skip(name, head) - name);
	const char *rest = text_skip(name, length - tail);

	/* Dots of shortened arguments next to the gap would make it longer. */
	while (gap > name && gap[-1] == '.')
		gap--;
	while (*rest == '.')
		rest++;
	memcpy(gap, DOTS, dots);
	memmove(gap + dots, rest, strlen(rest) + 1);
}

char *short_name(const char *name, size_t width)
{
	_cleanup_free_ char *copy = strdup(name);

	if (copy == NULL)
		return NULL;
	if (text_width(copy) > width && shorten_groups(copy, width, "<>") < 0)
		return NULL;
	if (text_width(copy) > width && shorten_groups(copy, width, "()") < 0)
		return NULL;
	if (text_width(copy) > width)
		cut_middle(copy, width);
	return take_ptr(copy);
}
