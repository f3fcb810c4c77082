// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/kernel_counts.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "analysis/frequency/call_network.h"

/* Least share of a count that is the executions of one procedure. */
#define SHARE_MIN 0.8
#define READS (1U << KERNEL_COUNT_READS)
#define WRITES (1U << KERNEL_COUNT_WRITES)
#define PAGE_FAULTS (1U << KERNEL_COUNT_PAGE_FAULTS)
#define SWITCHES (1U << KERNEL_COUNT_SWITCHES)

/*
 * Callers of inc_syscr(), inc_syscw() and mm_account_fault(); a thread that continues after a
 * switch executes finish_task_switch().
 */
static const struct {
	const char *name;
	unsigned int counts;
} procedures[] = {
	{"vfs_read", READS},
	{"do_readv", READS},
	{"do_preadv", READS},
	{"__kernel_read", READS},
	{"vfs_write", WRITES},
	{"do_writev", WRITES},
	{"do_pwritev", WRITES},
	{"__kernel_write_iter", WRITES},
	{"do_sendfile", READS | WRITES},
	{"vfs_copy_file_range", READS | WRITES},
	{"handle_mm_fault", PAGE_FAULTS},
	{"finish_task_switch", SWITCHES},
};

const char *kernel_count_name(enum kernel_count count)
{
	static const char *const names[KERNEL_COUNTS] = {
		[KERNEL_COUNT_READS] = "reads",
		[KERNEL_COUNT_WRITES] = "writes",
		[KERNEL_COUNT_PAGE_FAULTS] = "page_faults",
		[KERNEL_COUNT_SWITCHES] = "context_switches",
	};

	return names[count];
}

unsigned int kernel_counts_of(const char *name)
{
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(procedures) / sizeof(*procedures); i++) {
		if (strlen(procedures[i].name) == length &&
		    strncmp(procedures[i].name, name, length) == 0)
			return procedures[i].counts;
	}
	return 0;
}

int kernel_counts_add(struct place_list *list, const struct kernel_counts *counts, const char *name,
		      double period, uint32_t procedure)
{
	unsigned int set = kernel_counts_of(name);

	for (unsigned int i = 0; i < KERNEL_COUNTS; i++) {
		struct kernel_counted *counted;

		if ((set & 1U << i) == 0 || counts->counts[i] <= 0)
			continue;
		counted = place_list_add(list);
		if (counted == NULL)
			return -ENOMEM;
		*counted = (struct kernel_counted){
			.procedure = procedure,
			.which = (enum kernel_count)i,
			.count = counts->counts[i] / period,
		};
	}
	return 0;
}

/* @share: of the count that is the procedure's executions */
static int count_compare(const struct kernel_counted *counted, double share,
			 struct place_list *network, struct place_list *pairs)
{
	struct call_network_procedure *count = place_list_add(network);
	struct call_network_pair *pair = place_list_add(pairs);
	const struct call_network_procedure *callee;

	if (count == NULL || pair == NULL)
		return -ENOMEM;
	callee = &((struct call_network_procedure *)network->items)[counted->procedure];
	*count = (struct call_network_procedure){
		.all_executions = counted->count, .measured = true, .factor = 1};
	*pair = (struct call_network_pair){
		.caller = (uint32_t)network->count - 1,
		.callee = counted->procedure,
		.ratio = callee->all_executions / counted->count,
		.certain = true,
		.spread = hypot(1 - share, callee->entry_spread),
	};
	return 0;
}

int kernel_counts_compare(const struct place_list *list, struct place_list *network,
			  struct place_list *pairs)
{
	const struct kernel_counted *counted = list->items;
	int r = 0;

	for (unsigned int which = 0; which < KERNEL_COUNTS && r == 0; which++) {
		const struct call_network_procedure *nodes = network->items;
		const struct kernel_counted *most = NULL;
		double all = 0, executions = 0;

		for (size_t i = 0; i < list->count; i++) {
			double own = nodes[counted[i].procedure].all_executions;

			if (counted[i].which != which)
				continue;
			all += own;
			if (own > executions)
				most = &counted[i];
			executions = fmax(executions, own);
		}
		if (most != NULL && executions >= SHARE_MIN * all)
			r = count_compare(most, executions / all, network, pairs);
	}
	return r;
}
