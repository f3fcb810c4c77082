// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stacks/context_diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "tools/base/columns.h"

/* Normal quantile of 95% intervals. */
#define Z 1.96
#define SEPARATOR " > "

/* @procedure: of either set; @stacks: that end here, by set */
struct context_node {
	const struct stack_procedure *procedure;
	uint32_t parent;
	uint64_t stacks[2];
};

static bool is_equal(const struct context_node *node, uint32_t parent,
		     const struct stack_procedure *procedure)
{
	return node->parent == parent && strcmp(node->procedure->name, procedure->name) == 0 &&
	       strcmp(node->procedure->image, procedure->image) == 0;
}

/* Return: the number of a node; 0: no memory. Paths of images are part of a procedure's identity.
 */
static uint32_t context_find(struct context_diff *diff, uint32_t parent,
			     const struct stack_procedure *procedure)
{
	uint64_t hash = XXH3_64bits_withSeed(procedure->name, strlen(procedure->name), parent);
	uint64_t *slot;

	do {
		slot = u64_map_insert(&diff->known, hash++);
	} while (slot != NULL && *slot != 0 && !is_equal(&diff->nodes[*slot], parent, procedure));
	if (slot == NULL)
		return 0;
	if (*slot == 0) {
		if (array_reserve(&diff->nodes, &diff->node_capacity, diff->node_count + 1,
				  sizeof(*diff->nodes)) < 0)
			return 0;
		diff->nodes[diff->node_count] =
			(struct context_node){.procedure = procedure, .parent = parent};
		*slot = diff->node_count++;
	}
	return (uint32_t)*slot;
}

static int profile_add(struct context_diff *diff, const struct stack_profile *profile, int set)
{
	_cleanup_free_ uint32_t *numbers = calloc(profile->node_count, sizeof(*numbers));

	if (numbers == NULL)
		return -ENOMEM;
	for (size_t i = 1; i < profile->node_count; i++) {
		const struct stack_profile_node *node = &profile->nodes[i];

		numbers[i] = context_find(diff, numbers[node->parent],
					  &profile->procedures[node->procedure]);
		if (numbers[i] == 0)
			return -ENOMEM;
		diff->nodes[numbers[i]].stacks[set] += node->stacks;
	}
	return 0;
}

/* Return: malloc'd; NULL: no memory. */
static char *path_make(const struct context_diff *diff, uint32_t node)
{
	size_t bytes = 1, length;
	char *path, *end;

	for (uint32_t at = node; at != 0; at = diff->nodes[at].parent)
		bytes += strlen(diff->nodes[at].procedure->name) + strlen(SEPARATOR);
	path = malloc(bytes);
	if (path == NULL)
		return NULL;
	end = path + bytes - 1;
	*end = '\0';
	for (uint32_t at = node; at != 0; at = diff->nodes[at].parent) {
		if (at != node) {
			end -= strlen(SEPARATOR);
			memcpy(end, SEPARATOR, strlen(SEPARATOR));
		}
		length = strlen(diff->nodes[at].procedure->name);
		end -= length;
		memcpy(end, diff->nodes[at].procedure->name, length);
	}
	memmove(path, end, strlen(end) + 1);
	return path;
}

/* The variance of a share; of one stack more and less, so that it is never 0. */
static double variance_of(uint64_t stacks, uint64_t all)
{
	double share = ((double)stacks + 1) / ((double)all + 2);

	return share * (1 - share) / ((double)all + 2);
}

/* Return: 0 or -ENOMEM. */
static int context_row_add(struct context_diff *diff, uint32_t number)
{
	const struct context_node *node = &diff->nodes[number];
	struct context_row row = {.path = NULL};
	double variance = 0;

	for (int set = 0; set < 2; set++) {
		uint64_t all = diff->totals[set].count;

		row.shares[set] = all > 0 ? 100 * (double)node->stacks[set] / (double)all : 0;
		variance += variance_of(node->stacks[set], all);
	}
	row.difference = row.shares[1] - row.shares[0];
	row.error = 100 * Z * sqrt(variance);
	if (fabs(row.difference) <= row.error)
		return 0;
	row.path = path_make(diff, number);
	if (row.path == NULL)
		return -ENOMEM;
	diff->rows[diff->row_count++] = row;
	return 0;
}

static int by_difference(const void *a, const void *b)
{
	const struct context_row *x = a, *y = b;
	double left = fabs(x->difference), right = fabs(y->difference);

	if (left != right)
		return left > right ? -1 : 1;
	return strcmp(x->path, y->path);
}

int context_diff_make(struct context_diff *ret, const struct stack_profile profiles[2],
		      size_t limit)
{
	int r = 0;

	ret->limit = limit;
	ret->totals[0] = (struct report_total){.name = "before", .count = profiles[0].stacks};
	ret->totals[1] = (struct report_total){.name = "after", .count = profiles[1].stacks};
	if (array_reserve(&ret->nodes, &ret->node_capacity, 1, sizeof(*ret->nodes)) < 0)
		return -ENOMEM;
	ret->nodes[ret->node_count++] = (struct context_node){.parent = 0};
	for (int set = 0; set < 2 && r == 0; set++)
		r = profile_add(ret, &profiles[set], set);
	if (r < 0)
		return r;
	ret->rows = calloc(ret->node_count, sizeof(*ret->rows));
	if (ret->rows == NULL)
		return -ENOMEM;
	for (size_t i = 1; i < ret->node_count && r == 0; i++)
		r = context_row_add(ret, (uint32_t)i);
	qsort(ret->rows, ret->row_count, sizeof(*ret->rows), by_difference);
	return r;
}

void context_diff_deinit(struct context_diff *diff)
{
	for (size_t i = 0; i < diff->row_count; i++)
		free(diff->rows[i].path);
	free(diff->rows);
	free(diff->nodes);
	u64_map_deinit(&diff->known);
	*diff = (struct context_diff){.row_count = 0};
}

static void get_share(const struct column *column, const void *row, struct column_value *value)
{
	value->percent = ((const struct context_row *)row)->shares[column->argument];
}

static void context_get_difference(const struct column *column, const void *row,
				   struct column_value *value)
{
	(void)column;
	value->number = ((const struct context_row *)row)->difference;
}

static void get_error(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->number = ((const struct context_row *)row)->error;
}

static void get_path(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct context_row *)row)->path;
}

static const struct column context_columns[] = {
	{"before", "before_percent", COLUMN_PERCENT, 0, 0, get_share},
	{"after", "after_percent", COLUMN_PERCENT, 0, 1, get_share},
	{"points", "difference", COLUMN_NUMBER, COLUMN_DECIMALS(1), 0, context_get_difference},
	{"+- 95%", "error", COLUMN_NUMBER, COLUMN_DECIMALS(1), 0, get_error},
	{"context", "context", COLUMN_TEXT, COLUMN_CUT_START, 0, get_path},
};

static const void *context_row_get(const void *context, size_t index)
{
	return &((const struct context_diff *)context)->rows[index];
}

struct report context_diff_report(struct context_diff *diff)
{
	size_t count = diff->row_count;

	return (struct report){
		.totals_of = "call stacks:",
		.totals = diff->totals,
		.total_count = 2,
		.table =
			{
				.columns = context_columns,
				.column_count = sizeof(context_columns) / sizeof(*context_columns),
				.row = context_row_get,
				.context = diff,
				.row_count = diff->limit > 0 && diff->limit < count ? diff->limit
										    : count,
			},
	};
}
