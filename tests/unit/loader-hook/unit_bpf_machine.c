// SPDX-License-Identifier: GPL-2.0-only
/* The error for a BPF program that cannot be loaded gives the real reason. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"
#include "loader-hook/bpf/bpf_machine.h"

#define NOBODY 65534

static bool advises_root(int errnum)
{
	struct error err;

	assert_true(bpf_machine_load_error(errnum, &err) < 0);
	return strstr(err.message, "run as root") != NULL;
}

/* Check the error in another process, as a user without privileges. */
static bool advises_user(int errnum)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit((geteuid() == 0 && setuid(NOBODY) < 0) || advises_root(errnum) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 1;
}

static void test_users(void **state)
{
	(void)state;
	assert_true(advises_user(EPERM));
	assert_true(advises_user(EACCES));
	assert_false(advises_user(EINVAL));
}

/* Root is not advised to run as root, but gets the kernel's error. */
static void test_root(void **state)
{
	struct error err;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_false(advises_root(EPERM));
	assert_false(advises_root(EACCES));
	assert_int_equal(bpf_machine_load_error(ENOENT, &err), -ENOENT);
	assert_non_null(strstr(err.message, strerror(ENOENT)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_root),
	};

	return cmocka_run_group_tests_name("bpf_machine", tests, NULL, NULL);
}
