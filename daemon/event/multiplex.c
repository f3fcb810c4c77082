// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/multiplex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define LOOK_AFTER_NS (60 * NS_PER_SECOND)
#define PATH_BYTES 512

static int interval_open(const char *devices, const char *pmu, int flags)
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s/perf_event_mux_interval_ms", devices, pmu) >=
	    (int)sizeof(path))
		return -1;
	return open(path, flags | O_CLOEXEC | O_NONBLOCK);
}

static bool interval_read(const char *devices, const char *pmu, unsigned int *ret)
{
	_cleanup_close_ int fd = interval_open(devices, pmu, O_RDONLY);
	char text[16];
	ssize_t bytes = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (bytes <= 0)
		return false;
	text[bytes] = '\0';
	return sscanf(text, "%9u", ret) == 1;
}

static bool interval_write(const char *devices, const char *pmu, unsigned int interval_ms)
{
	_cleanup_close_ int fd = interval_open(devices, pmu, O_WRONLY);
	char text[16];
	int length = snprintf(text, sizeof(text), "%u\n", interval_ms);

	return fd >= 0 && write(fd, text, (size_t)length) == length;
}

static bool taken(const struct multiplex *multiplex, const char *pmu)
{
	size_t i;

	for (i = 0; i < multiplex->count; i++) {
		if (strcmp(multiplex->pmu[i].name, pmu) == 0)
			return true;
	}
	return false;
}

static void interval_take(void *context, const char *pmu)
{
	struct multiplex *multiplex = context;
	unsigned int before;

	if (taken(multiplex, pmu) || multiplex->count == MULTIPLEX_PMUS_MAX ||
	    !interval_read(multiplex->devices, pmu, &before))
		return;
	if (!interval_write(multiplex->devices, pmu, multiplex->interval_ms)) {
		log_warning("cannot change the multiplexing interval of PMU '%s': %s", pmu,
			    strerror(errno));
		return;
	}
	snprintf(multiplex->pmu[multiplex->count].name, EVENT_PMU_NAME_BYTES, "%s", pmu);
	multiplex->pmu[multiplex->count++].before = before;
	log_info("events of PMU '%s' are multiplexed every %u ms until this program ends (before: "
		 "%u ms)",
		 pmu, multiplex->interval_ms, before);
}

void multiplex_open(struct multiplex *multiplex, const char *devices,
		    const struct event_list *events, unsigned int interval_ms)
{
	size_t i;

	*multiplex = (struct multiplex){
		.devices = devices,
		.interval_ms = interval_ms,
		.look_ns = clock_monotonic_ns() + LOOK_AFTER_NS,
	};
	for (i = 0; i < events->count && interval_ms > 0; i++)
		event_pmu_of(devices, events->event[i].type, interval_take, multiplex);
}

bool multiplex_due(struct multiplex *multiplex, uint64_t now_ns)
{
	if (multiplex->look_ns == 0 || now_ns < multiplex->look_ns)
		return false;
	multiplex->look_ns = 0;
	return true;
}

bool multiplex_describe(const struct event_list *events, const struct source_time *times,
			char *text, size_t bytes)
{
	bool multiplexed = false;
	size_t at, i;

	at = (size_t)snprintf(text, bytes, "more events than counters; on one");
	for (i = 0; i < events->count; i++) {
		double share = 1;

		if (times[i].enabled_ns > 0)
			share = (double)times[i].running_ns / (double)times[i].enabled_ns;
		multiplexed |= share < 0.99;
		if (at < bytes)
			at += (size_t)snprintf(text + at, bytes - at, "%s %s %.0f%%",
					       i > 0 ? "," : "", events->event[i].name,
					       share * 100);
	}
	if (at < bytes)
		snprintf(text + at, bytes - at, " of the time");
	return multiplexed;
}

void multiplex_close(struct multiplex *multiplex)
{
	unsigned int now;

	while (multiplex->count > 0) {
		const char *pmu = multiplex->pmu[--multiplex->count].name;

		if (interval_read(multiplex->devices, pmu, &now) && now == multiplex->interval_ms)
			interval_write(multiplex->devices, pmu,
				       multiplex->pmu[multiplex->count].before);
	}
	multiplex->look_ns = 0;
}
