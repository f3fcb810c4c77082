// SPDX-License-Identifier: GPL-2.0-only
/*
 * Says that it is ready, then counts SIGINTs until two seconds have passed
 * since the last; exits with their number. (One that comes before the one before
 * it was taken is merged with it by the kernel: rare, never one too many.)
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
