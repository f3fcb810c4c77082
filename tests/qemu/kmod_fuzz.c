// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random ioctls: any command, any argument, mostly almost right. The same
 * sequence every time, seeded by the test's number. Whatever happens, the
 * kernel's log stays clean and every interrupt is accounted for.
 *
 *   kmod_fuzz [CALLS PROCESSES]   then also so many, by several processes that
 *                                 share the device, while it samples
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

#define ROUNDS 4000
#define ARRAY_ENTRIES (1U << 16)

static uint64_t state;
static unsigned int restart_every = 1; /* of the starts and stops drawn, one in so many */
static unsigned long shared_calls;     /* of all processes together */
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

/* A good value, or one of those that code forgets. */
static uint64_t about(uint64_t good)
{
	static const uint64_t edges[] = {
		0,	    1,		2,	    63,	       64,	   0x7fffffff,
		0x80000000, 0xffffffff, 1ULL << 40, INT64_MAX, UINT64_MAX,
	};

	if (!one_in(12))
		return good;
	return one_in(2) ? edges[next() % (sizeof(edges) / sizeof(edges[0]))] : next();
}

static void random_event(struct dcpi_event *event)
{
	/* No tracepoints: the emulator does not survive switching them, see still.c. */
	static const uint32_t types[] = {
		PERF_TYPE_SOFTWARE, PERF_TYPE_SOFTWARE, PERF_TYPE_SOFTWARE,  PERF_TYPE_HARDWARE,
		PERF_TYPE_RAW,	    PERF_TYPE_HW_CACHE, PERF_TYPE_BREAKPOINT};

	event->type = (uint32_t)about(types[next() % (sizeof(types) / sizeof(types[0]))]);
	event->config = about(next() % 12);
	event->flags = (uint32_t)about(0);
	event->period_min =
		about(event->type == PERF_TYPE_SOFTWARE ? DCPI_CLOCK_PERIOD_MIN + next() % 100000
							: DCPI_PERIOD_MIN);
	event->period_max = about(event->period_min + next() % 100000);
}

static void random_config(struct dcpi_config *config)
{
	uint32_t i;

	memset(config, 0, sizeof(*config));
	config->events = (uint32_t)about(1 + next() % 2);
	config->table_entries = (uint32_t)about(64U << next() % 8);
	config->buffer_entries = (uint32_t)about(64U << next() % 8);
	config->seed = (uint32_t)next();
	if (one_in(3)) {
		config->flags = (uint32_t)about(DCPI_START_BRANCHES | (next() & DCPI_START_TIMES));
		config->branch_every = (uint32_t)about(1 + next() % 8);
	}
	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		if (i < config->events)
			random_event(&config->event[i]);
	}
}

static void random_drain(struct dcpi_drain *drain, const struct dcpi_sample *array)
{
	drain->cpu = (uint32_t)about(next() % 2);
	drain->flags = (uint32_t)about(next() % 2);
	drain->samples = about((uintptr_t)array);
	drain->capacity = (uint32_t)about(ARRAY_ENTRIES);
	drain->count = (uint32_t)next();
}

static unsigned long random_command(void)
{
	static const unsigned long commands[] = {
		DCPI_IOC_VERSION, DCPI_IOC_START,   DCPI_IOC_START,	  DCPI_IOC_STOP,
		DCPI_IOC_DRAIN,	  DCPI_IOC_DRAIN,   DCPI_IOC_DRAIN,	  DCPI_IOC_DRAIN,
		DCPI_IOC_DRAIN,	  DCPI_IOC_STATS,   DCPI_IOC_STATS,	  DCPI_IOC_STATS,
		DCPI_IOC_PROCESS, DCPI_IOC_PROCESS, DCPI_IOC_EVENT_STATS, DCPI_IOC_TIMES,
		DCPI_IOC_TAKE,	  DCPI_IOC_TAKE,    DCPI_IOC_RELEASE,	  DCPI_IOC_RELEASE,
	};
	unsigned long command = commands[next() % (sizeof(commands) / sizeof(commands[0]))];

	if ((command == DCPI_IOC_START || command == DCPI_IOC_STOP) && !one_in(restart_every))
		command = DCPI_IOC_DRAIN;
	return one_in(20) ? command ^ 1UL << next() % 32 : command;
}

/* What the module says of itself must fit together, whoever took the samples. */
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

/* A mapping, read at random; and older ones with it, however dead. */
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

/* Return: the command. good[] counts those that succeed, by number. */
static unsigned long random_call(struct device *d, unsigned int *good)
{
	union {
		char bytes[4096];
		struct dcpi_config config;
		struct dcpi_drain drain;
		struct dcpi_stats stats;
		struct dcpi_process process;
		struct dcpi_event_stats event;
		uint32_t cpu;
	} argument;
	unsigned long command = random_command();

	if (one_in(8))
		random_mapping(d->fd);
	memset(&argument, 0, sizeof(argument));
	if (command == DCPI_IOC_START)
		random_config(&argument.config);
	else if (command == DCPI_IOC_DRAIN)
		random_drain(&argument.drain, d->array);
	else if (command == DCPI_IOC_STATS)
		argument.stats.cpu = (uint32_t)about(next() % 2);
	else if (command == DCPI_IOC_EVENT_STATS || command == DCPI_IOC_TIMES ||
		 command == DCPI_IOC_TAKE || command == DCPI_IOC_RELEASE) {
		argument.event.cpu = (uint32_t)about(next() % 2);
		argument.event.event = (uint32_t)about(0);
	} else
		argument.process.pid = (uint32_t)about(1 + next() % 200);
	if (device_ioctl(d, command, (const void *)(uintptr_t)about((uintptr_t)&argument)) == 0)
		good[command & 15]++;
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

static bool fuzz(uint64_t seed)
{
	unsigned int i, good[16] = {};
	struct device d;

	state = seed;
	CHECK(open_device(&d));
	for (i = 0; i < ROUNDS; i++) {
		if (random_call(&d, good) == DCPI_IOC_STOP)
			CHECK(accounted(&d));
	}
	CHECK(device_stop(&d) == 0 && accounted(&d));
	printf("succeeded: %u starts, %u stops, %u drains, %u stats, %u takes, %u releases of %u "
	       "ioctls\n",
	       good[1], good[2], good[3], good[4], good[8], good[9], ROUNDS);
	CHECK(good[1] > 10 && good[2] > 10 && good[3] > 10 && good[4] > 10 && good[6] > 10 &&
	      good[7] > 10 && good[8] > 10);
	return true;
}

/* One of several processes. Others start and stop meanwhile. */
static int fuzz_beside_others(struct device *d, unsigned int number)
{
	unsigned long calls = shared_calls / shared_processes, i;
	unsigned int good[16] = {};

	state = 100 + number;
	for (i = 0; i < calls; i++) {
		random_call(d, good);
		if ((i + 1) % (calls / 8 + 1) == 0)
			printf("process %u: %lu calls; succeeded: %u starts, %u stops, %u drains, "
			       "%u stats\n",
			       number, i + 1, good[1], good[2], good[3], good[4]);
		fflush(stdout);
	}
	return good[3] > 10 && good[4] > 10 ? 0 : 1;
}

static bool random_ioctls_by_several(void)
{
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
	/* The load never ends by itself. */
	for (i = 0; i < shared_processes; i++)
		CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
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
