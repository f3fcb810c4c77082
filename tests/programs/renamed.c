// SPDX-License-Identifier: GPL-2.0-only
/*
 * Like some daemons: overwrites its arguments and environment with its name, changes to the root
 * folder, and has children, which call called() once each.
 *
 *	renamed N	N children
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noipa)) long called(long x)
{
	return x % 3 == 0 ? x / 3 : x + 1;
}

static void rename_itself(char **argv)
{
	char *end = argv[0];

	for (char **at = argv; *at != NULL; at++)
		end = *at + strlen(*at);
	for (char **at = environ; *at != NULL; at++)
		end = *at + strlen(*at);
	memset(argv[0], 0, (size_t)(end - argv[0]));
	strcpy(argv[0], "renamed");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, status, all = 0;

	rename_itself(argv);
	if (chdir("/") < 0)
		return 1;
	for (int i = 0; i < n; i++) {
		if (fork() == 0)
			_exit(called(3) != 1);
		all |= wait(&status) < 0 || status != 0;
	}
	return all;
}
