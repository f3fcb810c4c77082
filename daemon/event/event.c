// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/event/event_name.h"
#include "daemon/event/event_spec.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"

#define CALIBRATION_NS 20000000ULL
#define CPU_HZ_FALLBACK 1000000000ULL

static void default_window(enum event_scale scale, uint64_t cpu_hz, uint64_t rate, uint64_t *min,
			   uint64_t *max)
{
	uint64_t period = 65536;

	switch (scale) {
	case EVENT_CLOCK:
		if (cpu_hz / rate > period)
			period = cpu_hz / rate;
		break;
	case EVENT_NS:
		period = NS_PER_SECOND / rate;
		break;
	case EVENT_RARE:
		period = period * EVENT_RATE / rate;
		break;
	case EVENT_SCARCE:
		*min = *max = DCPI_PERIOD_MIN;
		return;
	}
	*min = period - period / 16;
	*max = period;
}

static void event_add(struct event_list *list, const struct event_spec *spec, uint64_t cpu_hz)
{
	struct source_event *event = &list->event[list->count];

	*event = (struct source_event){
		.unit = event_code_unit(&spec->code),
		.type = spec->code.type,
		.flags = spec->code.flags,
		.config = spec->code.config[0],
		.config1 = spec->code.config[1],
		.config2 = spec->code.config[2],
		.period_min = spec->period_min,
		.period_max = spec->period_max,
	};
	memcpy(event->name, spec->name, sizeof(event->name));
	list->scale[list->count] = spec->code.scale;
	if (!spec->has_period) {
		default_window(spec->code.scale, cpu_hz, EVENT_RATE, &event->period_min,
			       &event->period_max);
		list->defaults |= 1U << list->count;
	}
	list->count++;
}

/* Find an event with the same name or the same encoding. */
static const struct source_event *event_find(const struct event_list *list,
					     const struct event_spec *spec)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct source_event *event = &list->event[i];

		if (strcmp(event->name, spec->name) == 0 ||
		    (event->type == spec->code.type && event->flags == spec->code.flags &&
		     event->config == spec->code.config[0] &&
		     event->config1 == spec->code.config[1] &&
		     event->config2 == spec->code.config[2]))
			return event;
	}
	return NULL;
}

int event_list_parse(struct event_list *ret, const char *spec, uint64_t cpu_hz, struct error *err)
{
	struct event_list list = {.count = 0};
	const char *word = spec;

	for (;;) {
		const char *end = event_spec_end(word);
		const struct source_event *other;
		struct event_spec item;
		bool renamed;
		int rc;

		if (list.count == DCPI_EVENTS_MAX)
			return error_set(err, EINVAL, "more than %d events: '%s'", DCPI_EVENTS_MAX,
					 word);
		rc = event_spec_parse(&item, &EVENT_MACHINE_HERE, word, (size_t)(end - word), err);
		if (rc < 0)
			return rc;
		other = event_find(&list, &item);
		renamed = other != NULL && strcmp(other->name, item.name) != 0;
		if (other != NULL)
			return error_set(err, EINVAL, "event '%s' is given twice%s%s", item.name,
					 renamed ? ", also as " : "", renamed ? other->name : "");
		event_add(&list, &item, cpu_hz);
		if (*end == '\0')
			break;
		word = end + 1;
	}
	*ret = list;
	return 0;
}

/* Count user-mode cycles of this thread, which needs no privileges. */
static int cycles_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void event_list_default(struct event_list *ret, const struct event_machine *machine,
			uint64_t cpu_hz)
{
	struct event_code cycles, imiss;
	const char *spec = "cpu-clock";

	if (event_name_find("cycles", &cycles) && machine->sampled(&cycles))
		spec = "cycles";
	if (strcmp(spec, "cycles") == 0 && event_name_find("L1-icache-load-misses", &imiss) &&
	    machine->sampled(&imiss))
		spec = "cycles,imiss";
	event_list_parse(ret, spec, cpu_hz, NULL);
}

void event_list_set_rate(struct event_list *list, uint64_t cpu_hz, uint64_t rate)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if ((list->defaults >> i & 1) != 0)
			default_window(list->scale[i], cpu_hz, rate, &list->event[i].period_min,
				       &list->event[i].period_max);
	}
}

bool event_is_clock(const struct source_event *event)
{
	return strcmp(event->unit, "ns") == 0;
}

unsigned int event_list_limit_rate(struct event_list *list, uint64_t cpu_hz, uint64_t rate)
{
	unsigned int changed = 0;
	size_t i;

	for (i = 0; i < list->count && rate > 0; i++) {
		struct source_event *event = &list->event[i];
		uint64_t hz, shortest;

		if (strcmp(event->unit, "events") == 0)
			continue;
		hz = event_is_clock(event) ? NS_PER_SECOND : cpu_hz;
		shortest = (hz + rate - 1) / rate;
		if (event->period_min >= shortest)
			continue;
		event->period_max = (uint64_t)((double)event->period_max * (double)shortest /
					       (double)event->period_min);
		event->period_min = shortest;
		if (event->period_max < shortest)
			event->period_max = shortest;
		changed |= 1U << i;
	}
	return changed;
}

static bool number_read(const char *path, uint64_t *ret)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	unsigned long long value;

	if (file == NULL || fscanf(file, "%llu", &value) != 1)
		return false;
	*ret = value;
	return true;
}

static uint64_t cpuinfo_hz(void)
{
	_cleanup_file_ FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];
	double mhz, max = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "cpu MHz : %lf", &mhz) == 1 && mhz > max)
			max = mhz;
	}
	return max < 1e6 ? (uint64_t)(max * 1e6) : 0;
}

/*
 * clock_monotonic_ns() runs in the vDSO, in user mode as well, so that counting is not interrupted.
 */
static uint64_t counted_hz(void)
{
	_cleanup_close_ int fd = cycles_open();
	uint64_t cycles, start, elapsed;

	if (fd < 0)
		return 0;
	start = clock_monotonic_ns();
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	do
		elapsed = clock_monotonic_ns() - start;
	while (elapsed < CALIBRATION_NS);
	if (read(fd, &cycles, sizeof(cycles)) != sizeof(cycles))
		return 0;
	return (uint64_t)((double)cycles * (double)NS_PER_SECOND / (double)elapsed);
}

uint64_t event_cpu_hz(void)
{
	uint64_t khz, hz, counted;

	if (number_read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", &khz) && khz > 0)
		return khz * 1000;
	/* Virtual machines report the nominal clock in /proc/cpuinfo, and may run faster. */
	hz = cpuinfo_hz();
	counted = counted_hz();
	if (counted > hz)
		hz = counted;
	return hz > 0 ? hz : CPU_HZ_FALLBACK;
}
