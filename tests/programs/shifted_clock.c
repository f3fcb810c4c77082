// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library to preload: shifted clocks. The file SHIFTED_CLOCK has two numbers, seconds to add to
 * CLOCK_REALTIME and to CLOCK_BOOTTIME.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int result = (int)syscall(SYS_clock_gettime, clock, time);
	long real = 0, boot = 0;
	FILE *file;

	if (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)
		return result;
	file = fopen(getenv("SHIFTED_CLOCK"), "re");
	if (file == NULL)
		return result;
	if (fscanf(file, "%ld %ld", &real, &boot) == 2)
		time->tv_sec += clock == CLOCK_REALTIME ? real : boot;
	fclose(file);
	return result;
}
