// SPDX-License-Identifier: GPL-2.0-only
#include "tests/qemu/tap.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Far more than any test takes, even on busy hosts: the limit only ends tests that hang. The
 * payload of a kernel that is much slower has a file with a larger number.
 */
#define TEST_SECONDS 300
#define TEST_SECONDS_FILE "/etc/test_seconds"

static unsigned int test_seconds(void)
{
	FILE *file = fopen(TEST_SECONDS_FILE, "r");
	unsigned int seconds;

	if (!file || fscanf(file, "%u", &seconds) != 1)
		seconds = TEST_SECONDS;
	if (file)
		fclose(file);
	return seconds;
}

/* Wait until the last process has ended: one that dies slowly may still hold the device open. */
static void end_group(pid_t group)
{
	kill(-group, SIGKILL);
	while (waitpid(-group, NULL, 0) > 0 || errno == EINTR)
		;
}

static bool run(const struct tap_test *test)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return false;
	if (pid == 0) {
		bool good;

		setsid();
		alarm(test_seconds());
		good = test->run();
		fflush(stdout);
		_exit(good ? 0 : 1);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	end_group(pid);
	if (WIFSIGNALED(status))
		printf("# killed by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int tap_main(const struct tap_test *tests, size_t count)
{
	size_t i, failed = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	printf("1..%zu\n", count);
	for (i = 0; i < count; i++) {
		bool good = run(&tests[i]);

		printf("%s %zu - %s\n", good ? "ok" : "not ok", i + 1, tests[i].name);
		failed += !good;
	}
	fflush(stdout);
	return failed != 0;
}
