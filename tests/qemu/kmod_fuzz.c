// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random ioctls: any command, any argument. Most calls are valid, so that the module samples most
 * of the time and there are samples to drain, take and release; the others are almost valid. The
 * sequence is seeded by the test's number. The kernel's log must stay clean, and every interrupt
 * must be accounted for.
 *
 *   kmod_fuzz [CALLS PROCESSES]   afterwards also make CALLS calls from several
 *                                 processes that share the device, while it samples
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

#define ROUNDS 4000
#define ROUNDS_MAX (10 * ROUNDS)
#define ARRAY_ENTRIES (1U << 16)
/*
 * One drain in ALL_OFTEN or ALL_SELDOM drains everything. The latter is rare enough for buffers to
 * fill up.
 */
#define ALL_OFTEN 4
#define ALL_SELDOM 256

/* State of one process. */
static uint64_t state;
static bool wild;		     /* any argument of this call may be invalid */
static unsigned int drain_all_every; /* ALL_OFTEN or ALL_SELDOM */
static unsigned long planned;	     /* the next command; 0: a random one */
static uint32_t planned_cpu;

static unsigned int restart_every = 1; /* one in this number of drawn starts and stops is made */
static unsigned long shared_calls;     /* calls of all processes together */
static unsigned int shared_processes;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static bool one_in(unsigned int n)
{
	return next() % n == 0;
}

/* Return @good, or in a wild call sometimes an edge case or a random value. */
static uint64_t about(uint64_t good)
{
	static const uint64_t edges[] = {
		0,	    1,		2,	    63,	       64,	   0x7fffffff,
		0x80000000, 0xffffffff, 1ULL << 40, INT64_MAX, UINT64_MAX,
	};

	if (!wild || !one_in(6))
		return good;
	return one_in(2) ? edges[next() % (sizeof(edges) / sizeof(edges[0]))] : next();
}

/* Mostly the clock event that every machine has; most of the other events are refused. */
static void random_event(struct dcpi_event *event)
{
	/* No tracepoints: the emulator hangs when they are switched on and off, see still.c. */
	static const uint32_t types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_RAW, PERF_TYPE_HW_CACHE,
					 PERF_TYPE_BREAKPOINT};
	bool clock;

	event->type = PERF_TYPE_SOFTWARE;
	event->config = one_in(2) ? PERF_COUNT_SW_CPU_CLOCK : next() % PERF_COUNT_SW_MAX;
	if (wild && one_in(3))
		event->type = (uint32_t)about(types[next() % (sizeof(types) / sizeof(types[0]))]);
	event->config = about(event->config);
	event->flags = (uint32_t)about(one_in(4) ? 1 + next() % 2 : 0);
	clock = event->type == PERF_TYPE_SOFTWARE && event->config <= PERF_COUNT_SW_TASK_CLOCK;
	/* Under emulated KASAN a sample takes long; the periods must leave time for calls. */
	event->period_min = about(clock ? 1000000 + next() % 1000000 : DCPI_PERIOD_MIN);
	event->period_max = about(event->period_min + next() % 100000);
}

/* Double samples, of an event that most of these machines lack, or cannot take in pairs. */
static void random_double(struct dcpi_config *config)
{
	config->flags |= DCPI_START_DOUBLE;
	config->double_every = (uint32_t)about(2 + next() % 8);
	config->double_period = (uint32_t)about(1 + next() % (DCPI_PERIOD_MIN - 1));
	config->event[0].flags = (uint32_t)about(DCPI_EVENT_EXCLUDE_KERNEL);
	if (one_in(2)) {
		config->event[0].type = PERF_TYPE_HARDWARE;
		config->event[0].config = PERF_COUNT_HW_CPU_CYCLES;
	}
}

static void random_config(struct dcpi_config *config)
{
	uint32_t i;

	memset(config, 0, sizeof(*config));
	config->events = (uint32_t)about(one_in(4) ? 1 + next() % DCPI_EVENTS_MAX : 1);
	config->table_entries = (uint32_t)about(64U << next() % (one_in(4) ? 8 : 2));
	config->buffer_entries = (uint32_t)about(64U << next() % (one_in(4) ? 8 : 2));
	config->seed = (uint32_t)next();
	config->flags = (uint32_t)about(next() & (DCPI_START_TIMES | DCPI_START_BRANCHES));
	config->branch_every = config->flags & DCPI_START_BRANCHES ? 1 + next() % 8 : 0;
	if (config->flags & DCPI_START_BRANCHES && one_in(2))
		config->flags |= DCPI_START_SNAPSHOTS;
	config->branch_every = (uint32_t)about(config->branch_every);
	config->perf_fd = (int32_t)about((uint64_t)device_config(0, 0).perf_fd);
	config->reserved = (uint32_t)about(0);
	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		if (i < config->events)
			random_event(&config->event[i]);
	}
	if (one_in(10))
		random_double(config);
}

static void random_drain(struct dcpi_drain *drain, const struct dcpi_sample *array)
{
	drain->cpu = (uint32_t)about(next() % 2);
	drain->flags = (uint32_t)about(one_in(drain_all_every) ? DCPI_DRAIN_ALL : 0);
	drain->samples = about((uintptr_t)array);
	drain->capacity = (uint32_t)about(ARRAY_ENTRIES);
	drain->count = (uint32_t)next();
}

static unsigned long random_command(void)
{
	static const unsigned long commands[] = {
		DCPI_IOC_VERSION,   DCPI_IOC_START,   DCPI_IOC_START,	    DCPI_IOC_STOP,
		DCPI_IOC_DRAIN,	    DCPI_IOC_DRAIN,   DCPI_IOC_DRAIN,	    DCPI_IOC_DRAIN,
		DCPI_IOC_DRAIN,	    DCPI_IOC_STATS,   DCPI_IOC_STATS,	    DCPI_IOC_STATS,
		DCPI_IOC_PROCESS,   DCPI_IOC_PROCESS, DCPI_IOC_EVENT_STATS, DCPI_IOC_TIMES,
		DCPI_IOC_TAKE,	    DCPI_IOC_TAKE,    DCPI_IOC_RELEASE,	    DCPI_IOC_RELEASE,
		DCPI_IOC_SNAPSHOTS,
	};
	unsigned long command = commands[next() % (sizeof(commands) / sizeof(commands[0]))];

	if (planned != 0) {
		command = planned;
		planned = 0;
		return command;
	}
	planned_cpu = (uint32_t)next() % 2;
	if ((command == DCPI_IOC_START || command == DCPI_IOC_STOP) && !one_in(restart_every))
		command = DCPI_IOC_DRAIN;
	if ((command == DCPI_IOC_STOP || command == DCPI_IOC_DRAIN) &&
	    drain_all_every == ALL_SELDOM && !one_in(8))
		command = DCPI_IOC_TAKE;
	return one_in(40) ? command ^ 1UL << next() % 32 : command;
}

/* Mostly start again after a stop, and release after a take. */
static void plan(unsigned long command, uint32_t taken)
{
	if (command == DCPI_IOC_STOP && !one_in(4))
		planned = DCPI_IOC_START;
	else if (command == DCPI_IOC_TAKE && taken > 0 && !one_in(3))
		planned = DCPI_IOC_RELEASE;
}

/* The module's own counters must be consistent, no matter which process drained the samples. */
static bool accounted(struct device *d)
{
	struct dcpi_stats stats;
	uint32_t cpu;
	int err;

	for (cpu = 0; cpu < d->cpus; cpu++) {
		err = device_stats(d, cpu, &stats);
		if (err == ENXIO)
			return true;
		CHECK(err == 0);
		d->taken[cpu] = stats.delivered;
		d->edges[cpu] = stats.delivered_edges;
		d->entries[cpu] = stats.delivered_entries;
	}
	return device_accounted(d);
}

/* Map a random part and read it, and also read the older mappings, even if they are dead. */
static void random_mapping(int fd)
{
	static struct {
		const unsigned char *address;
		size_t bytes;
	} kept[8];
	unsigned int i = next() % 8;
	size_t bytes = about(4096 * (1 + next() % 8));
	int protection = (int)about(PROT_READ);
	off_t offset = (off_t)about(DCPI_MMAP_OFFSET(next() % 2));
	void *mapped;

	if (kept[i].address != NULL)
		munmap((void *)(uintptr_t)kept[i].address, kept[i].bytes);
	mapped = mmap(NULL, bytes, protection, one_in(4) ? MAP_PRIVATE : MAP_SHARED, fd, offset);
	kept[i].address = mapped == MAP_FAILED || !(protection & PROT_READ) ? NULL : mapped;
	kept[i].bytes = bytes;
	for (i = 0; i < 8; i++) {
		if (kept[i].address != NULL)
			(void)*(const volatile unsigned char *)(kept[i].address +
								next() % kept[i].bytes);
	}
}

union argument {
	char bytes[4096];
	struct dcpi_config config;
	struct dcpi_drain drain;
	struct dcpi_stats stats;
	struct dcpi_process process;
	struct dcpi_event_stats event;
	struct dcpi_take take;
	struct dcpi_snapshots snapshots;
};

static void random_argument(union argument *argument, unsigned long command,
			    const struct dcpi_sample *array)
{
	memset(argument, 0, sizeof(*argument));
	if (command == DCPI_IOC_START) {
		random_config(&argument->config);
	} else if (command == DCPI_IOC_DRAIN) {
		random_drain(&argument->drain, array);
	} else if (command == DCPI_IOC_SNAPSHOTS) {
		argument->snapshots.cpu = (uint32_t)about(planned_cpu);
		argument->snapshots.capacity = (uint32_t)about(next() % DCPI_SNAPSHOTS_MAX);
		argument->snapshots.snapshots = about((uintptr_t)array);
		argument->snapshots.reserved = (uint32_t)about(0);
	} else if (command == DCPI_IOC_PROCESS) {
		argument->process.pid = (uint32_t)about(1 + next() % 200);
	} else {
		/* All other arguments begin with the CPU, followed by an event or flags. */
		argument->event.cpu = (uint32_t)about(planned_cpu);
		argument->event.event = (uint32_t)about(0);
	}
}

/* Return: the command. good[] counts those that succeed, by number. */
static unsigned long random_call(struct device *d, unsigned int *good)
{
	union argument argument;
	unsigned long command;

	wild = one_in(6);
	if (drain_all_every == 0 || one_in(256))
		drain_all_every = one_in(3) ? ALL_OFTEN : ALL_SELDOM;
	command = random_command();
	if (one_in(32))
		random_mapping(d->fd);
	if (one_in(32))
		poll(&(struct pollfd){.fd = d->fd, .events = POLLIN}, 1, 0);
	random_argument(&argument, command, d->array);
	if (device_ioctl(d, command, (const void *)(uintptr_t)about((uintptr_t)&argument)) != 0)
		return command;
	good[command & 15] += command != DCPI_IOC_TAKE || argument.take.count > 0;
	plan(command, argument.take.count);
	return command;
}

static bool open_device(struct device *d)
{
	load_start(2);
	CHECK(device_open(d));
	d->array = mmap(NULL, ARRAY_ENTRIES * sizeof(*d->array), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(d->array != MAP_FAILED);
	return true;
}

static void print_good(const char *who, unsigned long calls, const unsigned int *good)
{
	printf("%s: %lu calls; succeeded: %u starts, %u stops, %u drains, %u stats, "
	       "%u event stats, %u times, %u full buffers taken, %u released\n",
	       who, calls, good[1], good[2], good[3], good[4], good[6], good[7], good[8], good[9]);
	fflush(stdout);
}

/* Check that calls of every kind have succeeded. Many need samples; a slow machine takes few. */
static bool all_succeeded(const unsigned int *good)
{
	return good[1] > 20 && good[2] > 20 && good[3] > 50 && good[4] > 50 && good[6] > 10 &&
	       good[7] > 10 && good[8] > 0 && good[9] > 0;
}

static bool fuzz(uint64_t seed)
{
	unsigned int i, good[16] = {};
	struct device d;

	state = seed;
	CHECK(open_device(&d));
	for (i = 0; i < ROUNDS || (!all_succeeded(good) && i < ROUNDS_MAX); i++) {
		if (random_call(&d, good) == DCPI_IOC_STOP)
			CHECK(accounted(&d));
		if (one_in(32))
			sleep_ms(50);
	}
	CHECK(device_stop(&d) == 0 && accounted(&d));
	print_good("alone", i, good);
	CHECK(all_succeeded(good));
	return true;
}

/* Fuzz in one of several processes, while others start and stop sampling. */
static int fuzz_beside_others(struct device *d, unsigned int number)
{
	unsigned long calls = shared_calls / shared_processes, i;
	unsigned int good[16] = {};
	char who[32];

	snprintf(who, sizeof(who), "process %u", number);
	state = 100 + number;
	for (i = 1; i <= calls; i++) {
		random_call(d, good);
		if (i % (calls / 16 + 1) == 0 || i == calls)
			print_good(who, i, good);
	}
	return good[1] > 0 && good[2] > 0 && good[3] > 10 && good[4] > 10 &&
			       (calls < 50000 || good[9] > 0)
		       ? 0
		       : 1;
}

static bool random_ioctls_by_several(void)
{
	time_t begin = time(NULL);
	unsigned int i;
	struct device d;
	int status;

	alarm(7200);
	restart_every = 40;
	CHECK(open_device(&d));
	fflush(stdout);
	for (i = 0; i < shared_processes; i++) {
		if (fork() == 0)
			_exit(fuzz_beside_others(&d, i));
	}
	/* The processes that generate load never exit; kill them. */
	for (i = 0; i < shared_processes; i++)
		CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	printf("%lu calls in %ld s\n", shared_calls / shared_processes * shared_processes,
	       (long)(time(NULL) - begin));
	CHECK(device_stop(&d) == 0 && accounted(&d));
	return true;
}

static bool random_ioctls_1(void)
{
	return fuzz(1);
}

static bool random_ioctls_2(void)
{
	return fuzz(2);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(random_ioctls_1),
		TAP_TEST(random_ioctls_2),
		TAP_TEST(random_ioctls_by_several),
	};

	if (argc == 3) {
		shared_calls = strtoul(argv[1], NULL, 10);
		shared_processes = (unsigned int)strtoul(argv[2], NULL, 10);
	}
	return tap_main(tests, shared_processes > 0 ? 3 : 2);
}
