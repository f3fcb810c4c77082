// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event_catalog.h"

#include <ctype.h>
#include <string.h>

#include "daemon/event/event_alias.h"
#include "daemon/event/event_name.h"
#include "daemon/event/event_pfm.h"
#include "daemon/event/event_pmu.h"

/* Cost of one edit in distance(); a difference in case costs half of it. */
#define MISTAKE 2
#define WORD_MAX 80

struct search {
	const char *word;
	size_t length;
	unsigned int best;
	char name[EVENT_CATALOG_NAME_BYTES];
};

struct print {
	const struct event_machine *machine;
	FILE *stream;
};

void event_catalog_visit(const struct event_machine *machine, event_visit_fn visit, void *context)
{
	event_alias_visit(machine, visit, context);
	event_name_visit(visit, context);
	event_pmu_visit(machine->devices, visit, context);
	event_pfm_visit(visit, context);
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int letter_cost(char a, char b)
{
	if (a == b)
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : MISTAKE;
}

/*
 * Compute the optimal string alignment distance: substitution, insertion, deletion, or
 * transposition of two adjacent characters (G. Navarro, "A guided tour to approximate string
 * matching", 2001). Both strings are at most WORD_MAX long.
 */
static unsigned int event_catalog_distance(const char *a, size_t a_length, const char *b,
					   size_t b_length)
{
	unsigned int row[3][WORD_MAX + 1];
	size_t i, j;

	for (j = 0; j <= b_length; j++)
		row[0][j] = (unsigned int)j * MISTAKE;
	for (i = 1; i <= a_length; i++) {
		unsigned int *now = row[i % 3], *last = row[(i + 2) % 3];

		now[0] = (unsigned int)i * MISTAKE;
		for (j = 1; j <= b_length; j++) {
			now[j] = least(last[j], now[j - 1]) + MISTAKE;
			now[j] = least(now[j], last[j - 1] + letter_cost(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], row[(i + 1) % 3][j - 2] + MISTAKE);
		}
	}
	return row[a_length % 3][b_length];
}

/* "PMU::" is removed from @name if the searched word does not contain it. */
static void nearest_visit(void *context, const char *name, const struct event_code *code,
			  const char *description)
{
	struct search *search = context;
	const char *colons = strstr(name, "::");
	unsigned int here;

	(void)code;
	(void)description;
	if (colons != NULL && strstr(search->word, "::") == NULL)
		name = colons + 2;
	if (strlen(name) > WORD_MAX)
		return;
	here = event_catalog_distance(search->word, search->length, name, strlen(name));
	if (here >= search->best)
		return;
	search->best = here;
	snprintf(search->name, sizeof(search->name), "%s", name);
}

bool event_catalog_nearest(const struct event_machine *machine, const char *word,
			   char ret[EVENT_CATALOG_NAME_BYTES])
{
	struct search search = {.word = word, .length = strlen(word)};
	unsigned int limit;

	if (search.length == 0 || search.length > WORD_MAX)
		return false;
	limit = (unsigned int)search.length * MISTAKE / 3 + 1;
	search.best = limit;
	event_catalog_visit(machine, nearest_visit, &search);
	if (search.best == limit)
		return false;
	memcpy(ret, search.name, sizeof(search.name));
	return true;
}

static void print_visit(void *context, const char *name, const struct event_code *code,
			const char *description)
{
	const struct print *print = context;

	fprintf(print->stream, "%-40s %-7s %s\n", name,
		print->machine->sampled(code) ? "yes" : "no",
		description != NULL ? description : "");
}

void event_catalog_print(const struct event_machine *machine, FILE *stream)
{
	struct print print = {.machine = machine, .stream = stream};

	fprintf(stream, "%-40s %-7s %s\n", "event", "sampled", "description");
	event_catalog_visit(machine, print_visit, &print);
	fprintf(stream, "%-40s %-7s %s\n", "rHEX", "-", "raw code of the processor");
	fprintf(stream, "%-40s %-7s %s\n", "PMU/TERM=VALUE,.../", "-",
		"terms are in " EVENT_PMU_DEVICES "/PMU/format");
}
