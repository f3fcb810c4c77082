/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of CPUs as sysfs writes them: "0-3,5". */
#ifndef DCPI_CPU_LIST_H
#define DCPI_CPU_LIST_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_LIST_MAX 8192

/** struct cpu_list - a set of CPU numbers, 0 .. CPU_LIST_MAX - 1. */
struct cpu_list {
	uint64_t bits[CPU_LIST_MAX / 64];
};

/**
 * cpu_list_parse() - read "0-3,5\n"
 *
 * Return: 0; -EINVAL (@ret is untouched).
 */
int cpu_list_parse(struct cpu_list *ret, const char *text);

static inline bool cpu_list_has(const struct cpu_list *list, uint32_t cpu)
{
	return cpu < CPU_LIST_MAX && (list->bits[cpu / 64] >> cpu % 64 & 1) != 0;
}

/** cpu_list_remove() - remove a CPU; @cpu: below CPU_LIST_MAX. */
static inline void cpu_list_remove(struct cpu_list *list, uint32_t cpu)
{
	list->bits[cpu / 64] &= ~(1ULL << cpu % 64);
}

/** cpu_list_end() - return the highest number in the set, plus one; 0 if it is empty. */
uint32_t cpu_list_end(const struct cpu_list *list);

/** cpu_list_count() - return the number of CPUs in the set. */
uint32_t cpu_list_count(const struct cpu_list *list);

/** cpu_list_read() - read such a list from the start of an open file; also -EIO. */
int cpu_list_read(struct cpu_list *ret, int fd);

#endif
