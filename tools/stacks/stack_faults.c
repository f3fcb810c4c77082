// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stacks/stack_faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"
#include "tools/report/image_symbols.h"
#include "tools/stacks/stored_stacks.h"

/* Handlers of page faults are among this many of the kernel's outermost frames. */
#define FRAMES_MOST 3

/* On x86-64 and arm64, since Linux 5.10 */
static const char *const handlers[] = {
	"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "el0_da", "el0_ia",
	"do_mem_abort"};

/* Place of a row's code; in stored_stack.procedure */
enum {
	PLACE_USER,
	PLACE_KERNEL,
	PLACE_HANDLER,
	PLACE_UNKNOWN,
};

static bool is_handler(const char *name)
{
	for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++) {
		if (strcmp(name, handlers[i]) == 0)
			return true;
	}
	return false;
}

/* Mark the rows of a kernel. */
static int kernel_mark(struct stored_stack *rows, size_t count, const struct image_symbols *symbols)
{
	size_t last = SIZE_MAX;
	uint32_t place = PLACE_KERNEL;

	for (size_t i = 0; i < count; i++) {
		size_t symbol = image_symbols_find(symbols, rows[i].offset);

		if (symbol != last) {
			uint64_t address;
			bool has_address;
			_cleanup_free_ char *name =
				image_symbols_name(symbols, symbol, false, &address, &has_address);

			if (name == NULL)
				return -ENOMEM;
			last = symbol;
			place = is_handler(name) ? PLACE_HANDLER : PLACE_KERNEL;
		}
		rows[i].procedure = place;
	}
	return 0;
}

/* Mark the rows of an image. */
static int image_mark(struct stored_stack *rows, size_t count, struct profile_reader *reader,
		      const struct debug_file_options *debug, struct error *err)
{
	struct image_symbols *symbols = NULL;
	struct profile_image image;
	int r = 0;

	if (rows->image != 0)
		r = profile_reader_image(reader, rows->image, &image, err);
	if (r < 0)
		return r;
	if (rows->image == 0 || image.kind == PROFILE_IMAGE_UNKNOWN ||
	    image.kind == PROFILE_IMAGE_MODULE) {
		for (size_t i = 0; i < count; i++)
			rows[i].procedure = PLACE_UNKNOWN;
		return 0;
	}
	if (image.kind != PROFILE_IMAGE_KERNEL)
		return 0;
	r = image_symbols_open(&symbols, reader, rows->image, &image, debug, err);
	if (r == 0 && kernel_mark(rows, count, symbols) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	image_symbols_close(symbols);
	return r;
}

static int rows_mark(struct stored_stacks *stored, struct profile_reader *reader,
		     const struct debug_file_options *debug, struct error *err)
{
	size_t end;
	int r = 0;

	for (size_t first = 0; first < stored->count && r == 0; first = end) {
		for (end = first + 1;
		     end < stored->count && stored->rows[end].image == stored->rows[first].image;)
			end++;
		r = image_mark(&stored->rows[first], end - first, reader, debug, err);
	}
	return r;
}

/* Return the row of the user's instruction if a row is the outermost handler of its fault. */
static size_t fault_row(const struct stored_stacks *stored, const struct stored_totals *totals,
			size_t row)
{
	size_t at = totals->parents[row];

	if (stored->rows[row].procedure != PLACE_HANDLER)
		return STORED_NO_PARENT;
	for (int i = 1; i < FRAMES_MOST && at != STORED_NO_PARENT &&
			stored->rows[at].procedure == PLACE_KERNEL;
	     i++)
		at = totals->parents[at];
	return at != STORED_NO_PARENT && stored->rows[at].procedure == PLACE_USER
		       ? at
		       : STORED_NO_PARENT;
}

static int stack_fault_compare(const void *a, const void *b)
{
	const struct stack_fault *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Add up the faults of each instruction. */
static void stack_faults_settle(struct stack_faults *faults)
{
	size_t count = 0;

	if (faults->count > 0)
		qsort(faults->list, faults->count, sizeof(*faults->list), stack_fault_compare);
	for (size_t i = 0; i < faults->count; i++) {
		const struct stack_fault *fault = &faults->list[i];
		struct stack_fault *last = count > 0 ? &faults->list[count - 1] : NULL;

		if (last == NULL || stack_fault_compare(last, fault) != 0) {
			faults->list[count++] = *fault;
			continue;
		}
		last->samples += fault->samples;
		last->stacks += fault->stacks;
	}
	faults->count = count;
}

static int faults_add(struct stack_faults *ret, const struct stored_stacks *stored,
		      const struct stored_totals *totals, struct error *err)
{
	for (size_t i = 0; i < stored->count; i++) {
		size_t row = fault_row(stored, totals, i);

		if (row == STORED_NO_PARENT)
			continue;
		if (array_reserve(&ret->list, &ret->capacity, ret->count + 1, sizeof(*ret->list)) <
		    0)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		ret->list[ret->count++] = (struct stack_fault){
			.image = stored->rows[row].image,
			.offset = stored->rows[row].offset,
			.samples = (double)totals->samples[i],
			.stacks = (double)totals->stacks[i],
		};
	}
	stack_faults_settle(ret);
	return 0;
}

int stack_faults_find(struct stack_faults *ret, struct profile_reader *reader,
		      const struct profile_filter *filter, const struct debug_file_options *debug,
		      struct error *err)
{
	struct stored_stacks stored = {.count = 0};
	struct stored_totals totals = {.parents = NULL};
	int r = stored_stacks_read(&stored, reader, filter, PROFILE_RECORDING_STACKS, err);

	if (r == 0)
		r = rows_mark(&stored, reader, debug, err);
	if (r == 0) {
		stored_stacks_sort(&stored);
		r = stored_stacks_totals(&totals, &stored, err);
	}
	if (r == 0)
		r = faults_add(ret, &stored, &totals, err);
	stored_totals_deinit(&totals);
	stored_stacks_deinit(&stored);
	return r;
}

const struct stack_fault *stack_faults_image(const struct stack_faults *faults, int64_t image,
					     size_t *count)
{
	size_t first = partition_point(0, faults->count, i, faults->list[i].image < image);
	size_t end = partition_point(first, faults->count, i, faults->list[i].image <= image);

	*count = end - first;
	return &faults->list[first];
}

void stack_faults_deinit(struct stack_faults *faults)
{
	free(faults->list);
	*faults = (struct stack_faults){.count = 0};
}
