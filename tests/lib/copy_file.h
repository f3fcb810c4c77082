/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_TESTS_COPY_FILE_H
#define DCPI_TESTS_COPY_FILE_H

#include <sys/sendfile.h>
#include <sys/stat.h>

#include "tests/lib/unit.h"

/* copy_file() - append a whole file to another, in spite of signals. Return: its size */
static inline off_t copy_file(int to, int from)
{
	struct stat status;
	off_t at = 0;

	assert_int_equal(fstat(from, &status), 0);
	while (at < status.st_size)
		assert_true(sendfile(to, from, &at, (size_t)(status.st_size - at)) > 0);
	return status.st_size;
}

#endif
