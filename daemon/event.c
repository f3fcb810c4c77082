// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/clock.h"
#include "lib/cleanup.h"
#include "lib/error.h"

#define CALIBRATION_NS 20000000ULL
#define CPU_HZ_FALLBACK 1000000000ULL

/* How an event's default period is found. */
enum event_scale {
	SCALE_CLOCK,  /* as many as there are cycles, at most */
	SCALE_NS,     /* nanoseconds */
	SCALE_RARE,   /* an order of magnitude fewer than cycles */
	SCALE_SCARCE, /* thousands a second, at most */
};

struct event_name {
	const char *name;
	uint32_t type;
	uint64_t config;
	enum event_scale scale;
};

static const struct event_name event_names[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, SCALE_CLOCK},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, SCALE_CLOCK},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, SCALE_RARE},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, SCALE_RARE},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, SCALE_CLOCK},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, SCALE_RARE},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, SCALE_NS},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, SCALE_NS},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, SCALE_SCARCE},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, SCALE_SCARCE},
};

static const char *unit_of(const struct event_name *name)
{
	if (name->scale == SCALE_NS)
		return "ns";
	if (name->type == PERF_TYPE_HARDWARE && name->config == PERF_COUNT_HW_CPU_CYCLES)
		return "cycles";
	return "events";
}

static void default_window(enum event_scale scale, uint64_t cpu_hz, uint64_t rate, uint64_t *min,
			   uint64_t *max)
{
	uint64_t period = 65536;

	switch (scale) {
	case SCALE_CLOCK:
		if (cpu_hz / rate > period)
			period = cpu_hz / rate;
		break;
	case SCALE_NS:
		period = NS_PER_SECOND / rate;
		break;
	case SCALE_RARE:
		period = period * EVENT_RATE / rate;
		break;
	case SCALE_SCARCE:
		*min = *max = DCPI_PERIOD_MIN;
		return;
	}
	*min = period - period / 16;
	*max = period;
}

/* "r" and one to sixteen hexadecimal digits. */
static bool raw_code(const char *word, size_t length, uint64_t *code)
{
	size_t i;

	if (length < 2 || length > 17 || word[0] != 'r')
		return false;
	*code = 0;
	for (i = 1; i < length; i++) {
		if (!isxdigit((unsigned char)word[i]))
			return false;
		*code = *code << 4 |
			(uint64_t)(isdigit((unsigned char)word[i]) ? word[i] - '0'
								   : (word[i] | 0x20) - 'a' + 10);
	}
	return true;
}

/*
 * From a name to what perf_event_open() takes. Named events of particular
 * processors would be looked up here, after the generic ones.
 */
static int name_resolve(const char *word, size_t length, struct event_name *ret, struct error *err)
{
	struct event_name raw = {.name = "raw", .type = PERF_TYPE_RAW, .scale = SCALE_CLOCK};
	size_t i;

	for (i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++) {
		if (strlen(event_names[i].name) == length &&
		    memcmp(event_names[i].name, word, length) == 0) {
			*ret = event_names[i];
			return 0;
		}
	}
	if (raw_code(word, length, &raw.config)) {
		*ret = raw;
		return 0;
	}
	return error_set(err, EINVAL, "unknown event \"%.*s\"", (int)length, word);
}

/* Decimal digits only: strtoull() would take signs and blanks. */
static bool number_parse(const char *text, const char *end, uint64_t *ret)
{
	uint64_t value = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		if (!isdigit((unsigned char)*text) || value > DCPI_PERIOD_MAX)
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*ret = value;
	return true;
}

static int window_parse(struct source_event *event, const char *text, const char *end,
			struct error *err)
{
	const char *dash = memchr(text, '-', (size_t)(end - text));
	unsigned int shortest = event_is_clock(event) ? DCPI_CLOCK_PERIOD_MIN : DCPI_PERIOD_MIN;

	if (!number_parse(text, dash != NULL ? dash : end, &event->period_min) ||
	    !number_parse(dash != NULL ? dash + 1 : text, end, &event->period_max))
		return error_set(err, EINVAL, "bad period \"%.*s\" of event %s", (int)(end - text),
				 text, event->name);
	if (event->period_min > event->period_max)
		return error_set(err, EINVAL, "period \"%.*s\" of event %s: first is over last",
				 (int)(end - text), text, event->name);
	if (event->period_min < shortest || event->period_max > DCPI_PERIOD_MAX)
		return error_set(err, EINVAL, "period \"%.*s\" of event %s is out of range %u-%llu",
				 (int)(end - text), text, event->name, shortest, DCPI_PERIOD_MAX);
	return 0;
}

static int event_parse(struct source_event *event, const char *word, const char *end,
		       uint64_t cpu_hz, struct error *err)
{
	const char *colon = memchr(word, ':', (size_t)(end - word));
	size_t length = (size_t)((colon != NULL ? colon : end) - word);
	struct event_name name = {0};
	int rc;

	rc = name_resolve(word, length, &name, err);
	if (rc < 0)
		return rc;
	snprintf(event->name, sizeof(event->name), "%.*s", (int)length, word);
	event->unit = unit_of(&name);
	event->type = name.type;
	event->config = name.config;
	if (colon != NULL)
		return window_parse(event, colon + 1, end, err);
	default_window(name.scale, cpu_hz, EVENT_RATE, &event->period_min, &event->period_max);
	return 0;
}

int event_list_parse(struct event_list *ret, const char *spec, uint64_t cpu_hz, struct error *err)
{
	struct event_list list = {.count = 0};
	const char *word = spec;

	for (;;) {
		const char *end = strchrnul(word, ',');
		size_t i;
		int rc;

		if (list.count == DCPI_EVENTS_MAX)
			return error_set(err, EINVAL, "more than %d events: \"%s\"",
					 DCPI_EVENTS_MAX, word);
		rc = event_parse(&list.event[list.count], word, end, cpu_hz, err);
		if (rc < 0)
			return rc;
		if (memchr(word, ':', (size_t)(end - word)) == NULL)
			list.defaults |= 1U << list.count;
		for (i = 0; i < list.count; i++) {
			if (strcmp(list.event[i].name, list.event[list.count].name) == 0)
				return error_set(err, EINVAL, "event \"%s\" twice",
						 list.event[i].name);
		}
		list.count++;
		if (*end == '\0')
			break;
		word = end + 1;
	}
	*ret = list;
	return 0;
}

/* Counts user-mode cycles of this thread: allowed to everybody. */
static int cycles_open(uint64_t sample_period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = sample_period,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void event_list_default(struct event_list *ret, uint64_t cpu_hz)
{
	/* With a period: a PMU that counts but cannot interrupt refuses. */
	_cleanup_close_ int fd = cycles_open(DCPI_PERIOD_MAX);

	event_list_parse(ret, fd >= 0 ? "cycles" : "cpu-clock", cpu_hz, NULL);
}

void event_list_set_rate(struct event_list *list, uint64_t cpu_hz, uint64_t rate)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct source_event *event = &list->event[i];
		struct event_name name;

		if ((list->defaults >> i & 1) != 0 &&
		    name_resolve(event->name, strlen(event->name), &name, NULL) == 0)
			default_window(name.scale, cpu_hz, rate, &event->period_min,
				       &event->period_max);
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

/* The rest of the loop runs in the kernel's vDSO, in user mode as well. */
static uint64_t counted_hz(void)
{
	_cleanup_close_ int fd = cycles_open(0);
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
	/* Virtual machines tell the nominal clock, and run faster. */
	hz = cpuinfo_hz();
	counted = counted_hz();
	if (counted > hz)
		hz = counted;
	return hz > 0 ? hz : CPU_HZ_FALLBACK;
}
