// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stacks/stack_callers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/report/image_symbols.h"
#include "tools/stacks/stack_profile.h"
#include "tools/stacks/stored_stacks.h"

/* Normal quantile of 95% intervals. */
#define Z 1.96

/* A frame of a caller, and the samples of the stacks. @image 0: there is none */
struct call {
	int64_t image;
	uint64_t offset;
	uint64_t samples;
};

/* @inside: by row of @stored: it or one of its ancestors is a frame of the procedure */
struct finding {
	const struct stack_callers_wanted *wanted;
	struct stack_callers *ret;
	struct stored_stacks stored;
	struct stored_totals totals;
	bool *inside;
	struct call *calls;
	size_t call_count;
	size_t call_capacity;
	double squares;
	struct error *err;
};

static int callers_no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

static int call_add(struct finding *finding, size_t row)
{
	size_t parent = finding->totals.parents[row];
	struct call call = {.samples = finding->totals.samples[row]};

	if (parent != STORED_NO_PARENT) {
		call.image = finding->stored.rows[parent].image;
		call.offset = finding->stored.rows[parent].offset;
	}
	if (array_reserve(&finding->calls, &finding->call_capacity, finding->call_count + 1,
			  sizeof(call)) < 0)
		return callers_no_memory(finding->err);
	finding->calls[finding->call_count++] = call;
	finding->ret->stacks += finding->totals.stacks[row];
	/* Stacks of an epoch have the same weight. */
	finding->squares += (double)call.samples * (double)finding->stored.rows[row].every;
	return 0;
}

/* Find the outermost frames of the procedure. */
static int calls_find(struct finding *finding, const struct image_symbols *symbols)
{
	const struct stack_callers_wanted *wanted = finding->wanted;
	size_t symbol = image_symbols_find(symbols, wanted->offset);

	for (size_t i = 0; i < finding->stored.count; i++) {
		const struct stored_stack *row = &finding->stored.rows[i];
		size_t parent = finding->totals.parents[i];
		bool is_below = parent != STORED_NO_PARENT && finding->inside[parent];
		int r;

		finding->inside[i] =
			is_below || (row->image == wanted->image &&
				     image_symbols_find(symbols, row->offset) == symbol);
		if (!finding->inside[i] || is_below)
			continue;
		r = call_add(finding, i);
		if (r < 0)
			return r;
	}
	return 0;
}

static int call_compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* @name: becomes the list's; NULL: no memory */
static int caller_add(struct finding *finding, char *name, uint64_t samples)
{
	struct stack_callers *ret = finding->ret;

	if (name == NULL)
		return callers_no_memory(finding->err);
	for (size_t i = 0; i < ret->count; i++) {
		if (strcmp(ret->list[i].name, name) != 0)
			continue;
		ret->list[i].samples += samples;
		free(name);
		return 0;
	}
	if (array_reserve(&ret->list, &ret->capacity, ret->count + 1, sizeof(*ret->list)) < 0) {
		free(name);
		return callers_no_memory(finding->err);
	}
	ret->list[ret->count++] = (struct stack_caller){.name = name, .samples = samples};
	return 0;
}

static char *call_name(const struct finding *finding, const struct call *call,
		       const struct image_symbols *symbols)
{
	_cleanup_free_ char *name = NULL;
	uint64_t address;
	bool has_address;

	if (call->image == 0)
		return strdup("(none)");
	if (symbols == NULL)
		return strdup(stack_profile_unknown_name(call->offset));
	name = image_symbols_name(symbols, image_symbols_find(symbols, call->offset),
				  finding->wanted->demangle, &address, &has_address);
	return name != NULL ? text_clean(name) : NULL;
}

/* Name the calls from one image. */
static int calls_name(struct finding *finding, const struct call *calls, size_t count)
{
	const struct stack_callers_wanted *wanted = finding->wanted;
	struct image_symbols *symbols = NULL;
	struct profile_image image;
	int r = 0;

	if (calls->image != 0)
		r = profile_reader_image(wanted->reader, calls->image, &image, finding->err);
	if (r == 0 && calls->image != 0 && image.kind != PROFILE_IMAGE_UNKNOWN)
		r = image_symbols_open(&symbols, wanted->reader, calls->image, &image,
				       wanted->debug, finding->err);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = caller_add(finding, call_name(finding, &calls[i], symbols), calls[i].samples);
	image_symbols_close(symbols);
	return r;
}

static int callers_name(struct finding *finding)
{
	size_t end;
	int r = 0;

	if (finding->call_count > 0)
		qsort(finding->calls, finding->call_count, sizeof(*finding->calls), call_compare);
	for (size_t first = 0; first < finding->call_count && r == 0; first = end) {
		end = first + 1;
		while (end < finding->call_count &&
		       finding->calls[end].image == finding->calls[first].image)
			end++;
		r = calls_name(finding, &finding->calls[first], end - first);
	}
	return r;
}

static int stack_caller_compare(const void *a, const void *b)
{
	const struct stack_caller *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * Wilson's score interval. With stacks of different weights, the number of stacks is the effective
 * one (Kish): the square of the sum of weights by the sum of their squares.
 */
static void shares_find(struct finding *finding)
{
	struct stack_callers *ret = finding->ret;
	double all = 0, n;

	for (size_t i = 0; i < ret->count; i++)
		all += (double)ret->list[i].samples;
	if (all <= 0)
		return;
	n = all * all / finding->squares;
	for (size_t i = 0; i < ret->count; i++) {
		struct stack_caller *caller = &ret->list[i];
		double p = (double)caller->samples / all, scale = 1 / (1 + Z * Z / n);
		double middle = (p + Z * Z / (2 * n)) * scale;
		double half = Z * scale * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));

		caller->share = p;
		caller->low = fmax(0, middle - half);
		caller->high = fmin(1, middle + half);
	}
	qsort(ret->list, ret->count, sizeof(*ret->list), stack_caller_compare);
}

static int finding_run(struct finding *finding)
{
	const struct stack_callers_wanted *wanted = finding->wanted;
	struct image_symbols *symbols = NULL;
	struct profile_image image;
	int r = profile_reader_image(wanted->reader, wanted->image, &image, finding->err);

	if (r == 0)
		r = image_symbols_open(&symbols, wanted->reader, wanted->image, &image,
				       wanted->debug, finding->err);
	if (r == 0)
		r = stored_stacks_totals(&finding->totals, &finding->stored, finding->err);
	if (r == 0)
		r = calls_find(finding, symbols);
	image_symbols_close(symbols);
	if (r == 0)
		r = callers_name(finding);
	if (r == 0)
		shares_find(finding);
	return r;
}

int stack_callers_find(struct stack_callers *ret, const struct stack_callers_wanted *wanted,
		       struct error *err)
{
	struct finding finding = {.wanted = wanted, .ret = ret, .err = err};
	int r = stored_stacks_read(&finding.stored, wanted->reader, wanted->filter,
				   PROFILE_RECORDING_STACKS, err);

	if (r == 0 && finding.stored.count > 0) {
		stored_stacks_sort(&finding.stored);
		finding.inside = calloc(finding.stored.count, sizeof(*finding.inside));
		r = finding.inside == NULL ? callers_no_memory(err) : finding_run(&finding);
	}
	free(finding.calls);
	free(finding.inside);
	stored_totals_deinit(&finding.totals);
	stored_stacks_deinit(&finding.stored);
	return r;
}

void stack_callers_deinit(struct stack_callers *callers)
{
	for (size_t i = 0; i < callers->count; i++)
		free(callers->list[i].name);
	free(callers->list);
	*callers = (struct stack_callers){.count = 0};
}
