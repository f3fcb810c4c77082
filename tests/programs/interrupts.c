// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints that it is ready, then counts SIGINTs until two seconds have passed since the last one;
 * the exit status is their number. (The kernel merges a signal with the previous one if that is
 * still pending: the count may rarely be too low, never too high.)
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec wait = {.tv_sec = 20};
	sigset_t set;
	int count = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	while (sigtimedwait(&set, NULL, &wait) == SIGINT) {
		count++;
		wait.tv_sec = 2;
	}
	return count;
}
