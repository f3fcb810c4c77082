// SPDX-License-Identifier: GPL-2.0-only
#include "lib/epoll_set.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/error_text.h"

#define AT_ONCE 64

/* @added: descriptors added since the set was created */
struct epoll_set {
	int fd;
	unsigned int added;
};

int epoll_set_open(struct epoll_set **ret, struct error *err)
{
	struct epoll_set *set = calloc(1, sizeof(*set));
	int r;

	if (set == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	set->fd = epoll_create1(EPOLL_CLOEXEC);
	if (set->fd < 0) {
		r = error_set_errno(err, ERROR_EPOLL_DESCRIPTOR);
		free(set);
		return r;
	}
	*ret = set;
	return 0;
}

void epoll_set_close(struct epoll_set *set)
{
	if (set == NULL)
		return;
	close(set->fd);
	free(set);
}

int epoll_set_add(struct epoll_set *set, int fd, const char *what, struct error *err)
{
	struct epoll_event interest = {.events = EPOLLIN | EPOLLET};

	if (epoll_ctl(set->fd, EPOLL_CTL_ADD, fd, &interest) < 0)
		return error_set_errno(err, "cannot wait for %s", what);
	set->added++;
	return 0;
}

int epoll_set_fd(const struct epoll_set *set)
{
	return set->fd;
}

/* The loop is bounded: descriptors may become ready again as fast as they are cleared. */
void epoll_set_clear(struct epoll_set *set)
{
	struct epoll_event ready[AT_ONCE];
	unsigned int most = set->added / AT_ONCE + 1;

	while (most-- > 0 && epoll_wait(set->fd, ready, AT_ONCE, 0) == AT_ONCE)
		;
}
