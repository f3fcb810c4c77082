/* SPDX-License-Identifier: GPL-2.0-only */
/* Scan every process, for tests. */
#ifndef DCPI_TESTS_SCAN_ALL_H
#define DCPI_TESTS_SCAN_ALL_H

#include <stdlib.h>

#include "loader-hook/process_scan.h"
#include "tests/unit.h"

/* Return: the number of processes that could be read. */
static inline int scan_all(image_event_fn handle, void *context)
{
	uint32_t *pids;
	size_t count;
	int read = 0;

	assert_int_equal(process_scan_list(&pids, &count, NULL), 0);
	for (size_t i = 0; i < count; i++)
		read += process_scan(pids[i], handle, context, NULL) == 0;
	free(pids);
	return read;
}

#endif
