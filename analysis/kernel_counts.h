/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executions of kernel procedures that the kernel itself counts.
 *
 * The kernel counts the system calls that read and write, the page faults and the context switches
 * of each process, exactly and always. Each is counted in a few procedures (Linux 6.1 to 6.18). If
 * one of these has nearly all of the executions, the count is its number of executions. Calls
 * relate it to the other procedures (call_network.h).
 */
#ifndef DCPI_KERNEL_COUNTS_H
#define DCPI_KERNEL_COUNTS_H

#include <stdint.h>

#include "analysis/place_list.h"

/** enum kernel_count - events that the kernel counts */
enum kernel_count {
	KERNEL_COUNT_READS,
	KERNEL_COUNT_WRITES,
	KERNEL_COUNT_PAGE_FAULTS,
	KERNEL_COUNT_SWITCHES,
	KERNEL_COUNTS,
};

/** struct kernel_counts - of the profiled processes; 0: not known */
struct kernel_counts {
	double counts[KERNEL_COUNTS];
};

/**
 * struct kernel_counted - executions of a procedure are among those that the kernel counted
 * @procedure: its number in the network
 * @count:     in the unit of struct frequency_estimate
 */
struct kernel_counted {
	uint32_t procedure;
	enum kernel_count which;
	double count;
};

/** kernel_count_name() - return the name of the counter in databases (group "command") */
const char *kernel_count_name(enum kernel_count count);

/**
 * kernel_counts_of() - return the counts that each execution of a procedure increments
 * @name: symbol of the kernel; suffixes of the compiler (".isra.0") are ignored
 *
 * Return: a set of 1 << enum kernel_count; 0: none.
 */
unsigned int kernel_counts_of(const char *name);

/**
 * kernel_counts_add() - add the counts of a procedure
 * @list:   of struct kernel_counted
 * @name:   its symbol
 * @period: cycles that a sample stands for
 *
 * Return: 0 or -ENOMEM.
 */
int kernel_counts_add(struct place_list *list, const struct kernel_counts *counts, const char *name,
		      double period, uint32_t procedure);

/**
 * kernel_counts_compare() - compare counts with the executions of procedures
 * @list:    of struct kernel_counted, of all procedures
 * @network: list of struct call_network_procedure; a count becomes a measured procedure of it
 * @pairs:   list of struct call_network_pair; out: a pair is added for each count
 *
 * Return: 0 or -ENOMEM.
 */
int kernel_counts_compare(const struct place_list *list, struct place_list *network,
			  struct place_list *pairs);

#endif
