// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/descriptor_limit.h"

#include <sys/resource.h>

void descriptor_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
