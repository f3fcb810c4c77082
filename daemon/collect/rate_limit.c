// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/rate_limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "lib/cleanup.h"

int rate_limit_open(void)
{
	return open("/proc/sys/kernel/perf_event_max_sample_rate", O_RDONLY | O_CLOEXEC);
}

uint64_t rate_limit_read(int fd)
{
	char text[32];
	ssize_t bytes = pread(fd, text, sizeof(text) - 1, 0);
	long long limit;

	if (bytes <= 0)
		return 0;
	text[bytes] = '\0';
	limit = strtoll(text, NULL, 10);
	return limit > 0 ? (uint64_t)limit : 0;
}

uint64_t rate_limit_now(void)
{
	_cleanup_close_ int fd = rate_limit_open();

	return rate_limit_read(fd);
}

bool rate_limit_apply(uint64_t limit, struct event_list *events, uint64_t cpu_hz)
{
	unsigned int changed = event_list_limit_rate(events, cpu_hz, rate_limit_safe(limit));
	size_t i;

	for (i = 0; i < events->count; i++) {
		if (changed >> i & 1)
			log_warning("%s: periods raised to %llu-%llu: the kernel allows %llu "
				    "samples per second and throttles above half of that",
				    events->event[i].name,
				    (unsigned long long)events->event[i].period_min,
				    (unsigned long long)events->event[i].period_max,
				    (unsigned long long)limit);
	}
	return changed != 0;
}
