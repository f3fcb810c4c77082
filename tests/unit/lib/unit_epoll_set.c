// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/epoll_set.h"

#define MANY 200

static bool wakes(const struct epoll_set *set)
{
	struct pollfd poll_fd = {.fd = epoll_set_fd(set), .events = POLLIN};

	return poll(&poll_fd, 1, 0) == 1;
}

/* A wake-up is cleared although nothing was read, and a new event wakes again. */
static void test_wakes_once(void **state)
{
	struct epoll_set *set;
	int fds[MANY], i;

	(void)state;
	assert_int_equal(epoll_set_open(&set, NULL), 0);
	for (i = 0; i < MANY; i++) {
		fds[i] = eventfd(0, EFD_CLOEXEC);
		assert_int_equal(epoll_set_add(set, fds[i], "a test", NULL), 0);
	}
	assert_false(wakes(set));
	for (i = 0; i < MANY; i++)
		eventfd_write(fds[i], 1);
	assert_true(wakes(set));
	epoll_set_clear(set);
	assert_false(wakes(set));
	eventfd_write(fds[MANY - 1], 1);
	assert_true(wakes(set));
	/* A closed descriptor no longer wakes. */
	close(fds[MANY - 1]);
	assert_false(wakes(set));
	for (i = 0; i < MANY - 1; i++)
		close(fds[i]);
	epoll_set_close(set);
	epoll_set_close(NULL);
}

static void test_reports_failure(void **state)
{
	struct epoll_set *set;
	struct error err;

	(void)state;
	assert_int_equal(epoll_set_open(&set, &err), 0);
	assert_int_equal(epoll_set_add(set, -1, "a descriptor", &err), -EBADF);
	assert_non_null(strstr(err.message, "cannot wait for a descriptor"));
	epoll_set_close(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wakes_once),
		cmocka_unit_test(test_reports_failure),
	};

	return cmocka_run_group_tests_name("epoll_set", tests, NULL, NULL);
}
