// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event_code.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmod/uapi/dcpi_uapi.h"
#include "lib/cleanup.h"

enum event_scale event_code_scale(const char *name)
{
	static const char *const rare[] = {"miss", "refill", "mispred", "mis_pred", "misp"};
	size_t i;

	for (i = 0; i < sizeof(rare) / sizeof(rare[0]); i++) {
		if (strcasestr(name, rare[i]) != NULL)
			return EVENT_RARE;
	}
	return EVENT_CLOCK;
}

const char *event_code_unit(const struct event_code *code)
{
	if (code->scale == EVENT_NS)
		return "ns";
	if (code->type == PERF_TYPE_HARDWARE && code->config[0] == PERF_COUNT_HW_CPU_CYCLES)
		return "cycles";
	return "events";
}

static int sample_open(const struct event_code *code, bool user_only)
{
	struct perf_event_attr attr = {
		.type = code->type,
		.size = sizeof(attr),
		.config = code->config[0],
		.config1 = code->config[1],
		.config2 = code->config[2],
		/* With a period, a PMU that can count but not interrupt returns an error. */
		.sample_period = DCPI_PERIOD_MAX,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = user_only || (code->flags & DCPI_EVENT_EXCLUDE_KERNEL) != 0,
		.exclude_user = !user_only && (code->flags & DCPI_EVENT_EXCLUDE_USER) != 0,
		.exclude_hv = user_only,
		.exclude_guest = user_only,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool event_code_sampled(const struct event_code *code)
{
	_cleanup_close_ int user = sample_open(code, true);
	_cleanup_close_ int all = user < 0 ? sample_open(code, false) : -1;

	return user >= 0 || all >= 0;
}
