// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/passed_over.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

/* In a profile of a whole machine, hundreds of images may be passed over. */
#define PRINT_MAX 10

struct passed_over_reason {
	struct error reason;
	double samples;
};

void passed_over_message(struct error *ret, const char *lead, const struct error *reason,
			 double samples, double all)
{
	if (all > 0)
		error_set(ret, ENODATA, "%s: %s (%.1f%% of the samples)", lead, reason->message,
			  100 * samples / all);
	else
		error_set(ret, ENODATA, "%s: %s", lead, reason->message);
}

int passed_over_add(struct passed_over *passed, const struct error *reason, double samples)
{
	for (size_t i = 0; i < passed->count; i++) {
		if (strcmp(passed->list[i].reason.message, reason->message) == 0) {
			passed->list[i].samples += samples;
			return 0;
		}
	}
	if (array_reserve(&passed->list, &passed->capacity, passed->count + 1,
			  sizeof(*passed->list)) < 0)
		return -ENOMEM;
	passed->list[passed->count++] = (struct passed_over_reason){*reason, samples};
	return 0;
}

static int passed_over_compare(const void *a, const void *b)
{
	const struct passed_over_reason *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return strcmp(x->reason.message, y->reason.message);
}

void passed_over_drop(struct passed_over *passed, double samples)
{
	size_t kept = 0;

	for (size_t i = 0; i < passed->count; i++) {
		if (passed->list[i].samples > samples)
			passed->list[kept++] = passed->list[i];
	}
	passed->count = kept;
}

/* Print how much the reasons from @first on hide together. */
static void print_rest(const struct passed_over *passed, size_t first, const struct cli *cli,
		       const char *lead, double all)
{
	struct error reason, line;
	double samples = 0;

	for (size_t i = first; i < passed->count; i++)
		samples += passed->list[i].samples;
	error_set(&reason, ENODATA, "%zu more, with fewer samples each", passed->count - first);
	passed_over_message(&line, lead, &reason, samples, all);
	cli_fail(cli, &line);
}

void passed_over_print(struct passed_over *passed, const struct cli *cli, const char *lead,
		       double all)
{
	/* A single one that remains is printed instead of their number. */
	size_t printed = passed->count <= PRINT_MAX + 1 ? passed->count : PRINT_MAX;

	if (passed->count > 0)
		qsort(passed->list, passed->count, sizeof(*passed->list), passed_over_compare);
	for (size_t i = 0; i < printed; i++) {
		struct error line;

		passed_over_message(&line, lead, &passed->list[i].reason, passed->list[i].samples,
				    all);
		cli_fail(cli, &line);
	}
	if (printed < passed->count)
		print_rest(passed, printed, cli, lead, all);
}

void passed_over_explain(const struct passed_over *passed, double all, struct error *err)
{
	if (passed->count == 1)
		passed_over_message(err, "skipped", &passed->list[0].reason,
				    passed->list[0].samples, all);
}

void passed_over_deinit(struct passed_over *passed)
{
	free(passed->list);
	*passed = (struct passed_over){0};
}
