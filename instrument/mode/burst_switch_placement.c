// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/mode/burst_switch_placement.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define UNCHECKED_DIGITS 4

static const char *const entry_names[] = {
	[BURST_SWITCH_ENTRIES_ALL] = "",
	[BURST_SWITCH_ENTRIES_CALLERS] = "EL",
	[BURST_SWITCH_ENTRIES_CYCLES] = "EC",
	[BURST_SWITCH_ENTRIES_NONE] = "EN",
};

/* Return: the rest of the text; NULL if it does not begin with a name of an entry placement. */
static const char *take_entries(struct burst_switch_placement *ret, const char *text)
{
	for (int i = BURST_SWITCH_ENTRIES_CALLERS; i <= BURST_SWITCH_ENTRIES_NONE; i++) {
		if (strncmp(text, entry_names[i], 2) == 0) {
			ret->entries = (enum burst_switch_entries)i;
			return text + 2;
		}
	}
	return NULL;
}

/* Return: the rest of the text; NULL if it does not begin with a name of a loop placement. */
static const char *take_loops(struct burst_switch_placement *ret, const char *text)
{
	size_t digits;

	if (text[0] != 'L')
		return NULL;
	if (text[1] == 'N') {
		ret->unchecked = BURST_SWITCH_LOOPS_NONE;
		return text + 2;
	}
	digits = strspn(text + 1, "0123456789");
	if (digits == 0 || digits > UNCHECKED_DIGITS)
		return NULL;
	ret->unchecked = (int32_t)strtol(text + 1, NULL, 10);
	return text + 1 + digits;
}

int burst_switch_placement_parse(struct burst_switch_placement *ret, const char *text,
				 struct error *err)
{
	struct burst_switch_placement found = {BURST_SWITCH_ENTRIES_ALL, BURST_SWITCH_LOOPS_ALL};
	const char *rest = text;

	if (strcmp(text, "orig") == 0) {
		*ret = found;
		return 0;
	}
	if (*rest == 'E')
		rest = take_entries(&found, rest);
	if (rest != NULL && rest > text && *rest == '+' && rest[1] == 'L')
		rest++;
	if (rest != NULL && *rest == 'L' && (rest == text || rest[-1] == '+'))
		rest = take_loops(&found, rest);
	if (rest == NULL || *rest != '\0' || rest == text)
		return error_set(err, EINVAL,
				 "'%s' is not a valid placement of checks; expected orig, EL, EC, "
				 "EN, L4, L10, LN, or one of E and of L as in EC+L4",
				 text);
	*ret = found;
	return 0;
}

void burst_switch_placement_name(char name[BURST_SWITCH_PLACEMENT_NAME_BYTES],
				 const struct burst_switch_placement *placement)
{
	const char *entries = entry_names[placement->entries];
	const char *plus = *entries != '\0' ? "+" : "";

	if (placement->unchecked == BURST_SWITCH_LOOPS_ALL)
		snprintf(name, BURST_SWITCH_PLACEMENT_NAME_BYTES, "%s",
			 *entries != '\0' ? entries : "orig");
	else if (placement->unchecked == BURST_SWITCH_LOOPS_NONE)
		snprintf(name, BURST_SWITCH_PLACEMENT_NAME_BYTES, "%s%sLN", entries, plus);
	else
		snprintf(name, BURST_SWITCH_PLACEMENT_NAME_BYTES, "%s%sL%d", entries, plus,
			 (int)placement->unchecked);
}
