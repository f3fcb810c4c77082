// SPDX-License-Identifier: GPL-2.0-only
/* Test dcpi.ko's overflow buffers mapped into the reader. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/qemu/device.h"
#include "tests/qemu/tap.h"

#define ENTRIES 64U
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static const struct dcpi_sample *map(const struct device *d, uint32_t cpu, size_t bytes)
{
	void *mapped =
		mmap(NULL, bytes, PROT_READ, MAP_SHARED, d->fd, (off_t)DCPI_MMAP_OFFSET(cpu));

	return mapped == MAP_FAILED ? NULL : mapped;
}

/* Return: the errno of a mapping that must fail; 0 if it succeeded. */
static int map_errno(const struct device *d, size_t bytes, int protection, uint64_t offset)
{
	void *mapped = mmap(NULL, bytes, protection, MAP_SHARED, d->fd, (off_t)offset);

	if (mapped == MAP_FAILED)
		return errno;
	munmap(mapped, bytes);
	return 0;
}

static bool start_small(struct device *d)
{
	struct dcpi_config config = device_config(ENTRIES, ENTRIES);

	config.event[0].period_min = DCPI_CLOCK_PERIOD_MIN;
	config.event[0].period_max = 2 * DCPI_CLOCK_PERIOD_MIN;
	load_start(4);
	CHECK(device_open(d));
	CHECK(device_start(d, &config) == 0);
	return true;
}

/* Wait until a buffer of some CPU is full. */
static bool take_some(const struct device *d, struct dcpi_take *take)
{
	struct pollfd p = {.fd = d->fd, .events = POLLIN};
	uint32_t cpu;

	CHECK(poll(&p, 1, 20000) == 1);
	for (cpu = 0; cpu < d->cpus; cpu++) {
		*take = (struct dcpi_take){.cpu = cpu};
		CHECK(device_ioctl(d, DCPI_IOC_TAKE, take) == 0);
		if (take->count != 0)
			return true;
	}
	CHECK(!"a full buffer after poll()");
	return false;
}

/* Counts with mapped buffers are as exact as with copied ones. */
static bool mapped_buffers_lose_no_count(void)
{
	const struct dcpi_sample *mapped[DEVICE_CPUS_MAX] = {};
	struct dcpi_take take;
	struct device d;
	unsigned int round;

	CHECK(start_small(&d));
	for (round = 0; round < 60; round++) {
		CHECK(take_some(&d, &take));
		CHECK(take.first % ENTRIES == 0 && take.first <= ENTRIES && take.count == ENTRIES);
		if (!mapped[take.cpu])
			mapped[take.cpu] = map(&d, take.cpu, PAGE);
		CHECK(mapped[take.cpu]);
		CHECK(device_count(&d, take.cpu, mapped[take.cpu] + take.first, take.count, NULL,
				   NULL) == 0);
		CHECK(device_ioctl(&d, DCPI_IOC_RELEASE, &take.cpu) == 0);
	}
	CHECK(device_stop(&d) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	CHECK(device_total(&d).pending == 0);
	return true;
}

static bool taken_buffer_waits_for_release(void)
{
	const struct dcpi_sample *mapped;
	struct dcpi_sample copy[ENTRIES];
	struct dcpi_take take, again;
	struct device d;

	CHECK(start_small(&d));
	CHECK(take_some(&d, &take));
	mapped = map(&d, take.cpu, PAGE);
	CHECK(mapped);
	memcpy(copy, mapped + take.first, sizeof(copy));
	sleep_ms(300);
	again = (struct dcpi_take){.cpu = take.cpu};
	CHECK(device_ioctl(&d, DCPI_IOC_TAKE, &again) == 0);
	CHECK(again.first == take.first && again.count == take.count);
	CHECK(memcmp(copy, mapped + take.first, sizeof(copy)) == 0);
	CHECK(device_stop(&d) == 0);
	/* A drain returns the same buffer; afterwards there is no buffer to release. */
	CHECK(device_drain(&d, take.cpu, 0, NULL, NULL, NULL) == 0);
	CHECK(d.entries[take.cpu] == ENTRIES);
	CHECK(memcmp(copy, d.array, sizeof(copy)) == 0);
	CHECK(device_ioctl(&d, DCPI_IOC_RELEASE, &take.cpu) == EAGAIN);
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	return true;
}

static bool bad_mappings(void)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct device d;
	void *mapped;

	CHECK(device_open(&d));
	if (device_total(&d).interrupts == 0)
		CHECK(map_errno(&d, PAGE, PROT_READ, 0) == ENXIO);
	device_close(&d);
	CHECK(start_small(&d));
	CHECK(map_errno(&d, PAGE, PROT_READ, 0) == 0);
	CHECK(map_errno(&d, PAGE, rw, 0) == EACCES);
	CHECK(map_errno(&d, PAGE, PROT_READ | PROT_EXEC, 0) == EACCES);
	CHECK(map_errno(&d, 2 * PAGE, PROT_READ, 0) == EINVAL);
	CHECK(map_errno(&d, (size_t)1 << 30, PROT_READ, 0) == EINVAL);
	CHECK(map_errno(&d, PAGE, PROT_READ, PAGE) == EINVAL);
	CHECK(map_errno(&d, PAGE, PROT_READ, DCPI_MMAP_OFFSET(d.cpus)) == EINVAL);
	CHECK(map_errno(&d, PAGE, PROT_READ, DCPI_MMAP_OFFSET(0x7fffffff)) != 0);
	mapped = (void *)(uintptr_t)map(&d, 0, PAGE);
	CHECK(mapped);
	CHECK(mprotect(mapped, PAGE, rw) != 0 && errno == EACCES);
	CHECK(mprotect(mapped, PAGE, PROT_READ | PROT_EXEC) != 0 && errno == EACCES);
	CHECK(mremap(mapped, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(munmap(mapped, PAGE) == 0);
	mapped = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, d.fd, 0);
	CHECK(mapped != MAP_FAILED && mprotect(mapped, PAGE, rw) != 0);
	return true;
}

static bool all_zero(const void *from, size_t bytes)
{
	const unsigned char *p = from;

	while (bytes-- > 0) {
		if (*p++ != 0)
			return false;
	}
	return true;
}

/* New buffers contain only samples, regardless of the previous use of their memory. */
static bool nothing_else_is_shown(void)
{
	struct dcpi_config config = device_config(ENTRIES, 4096);
	size_t bytes = 2 * 4096 * sizeof(struct dcpi_sample);
	const struct dcpi_sample *mapped;
	struct device d;
	unsigned int round;

	config.event[0].period_min = config.event[0].period_max = DCPI_PERIOD_MAX;
	CHECK(device_open(&d));
	for (round = 0; round < 20; round++) {
		CHECK(device_start(&d, &config) == 0);
		mapped = map(&d, 0, bytes);
		CHECK(mapped && all_zero(mapped, bytes));
		CHECK(munmap((void *)(uintptr_t)mapped, bytes) == 0);
		CHECK(device_stop(&d) == 0);
	}
	device_close(&d);
	CHECK(start_small(&d));
	mapped = map(&d, 0, PAGE);
	CHECK(mapped);
	sleep_ms(500);
	CHECK(all_zero(mapped + (size_t)2 * ENTRIES, PAGE - 2 * ENTRIES * sizeof(*mapped)));
	return true;
}

/* Old mappings outlive the buffers that they show, and show no new data. */
static bool mappings_of_earlier_starts_are_dead(void)
{
	const struct dcpi_sample *old;
	struct dcpi_config config = device_config(ENTRIES, ENTRIES);
	struct dcpi_sample copy[2 * ENTRIES];
	struct dcpi_take take;
	struct device d;
	unsigned int round;

	CHECK(start_small(&d));
	CHECK(take_some(&d, &take));
	old = map(&d, take.cpu, PAGE);
	CHECK(old);
	CHECK(device_stop(&d) == 0);
	memcpy(copy, old, sizeof(copy));
	for (round = 0; round < 10; round++) {
		config.buffer_entries = ENTRIES << round % 3;
		CHECK(device_start(&d, &config) == 0);
		sleep_ms(50);
		CHECK(device_stop(&d) == 0);
		CHECK(memcmp(copy, old, sizeof(copy)) == 0);
	}
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	return true;
}

/* A mapping holds a reference like a descriptor: it keeps the session and the module. */
static bool mapping_keeps_the_device_open(void)
{
	const struct dcpi_sample *mapped;
	struct device d;
	int fd;

	CHECK(start_small(&d));
	mapped = map(&d, 0, PAGE);
	CHECK(mapped);
	close(d.fd);
	fd = open(DCPI_DEVICE_PATH, O_RDWR);
	CHECK(fd < 0 && errno == EBUSY);
	CHECK(syscall(SYS_delete_module, "dcpi", O_NONBLOCK) != 0 && errno == EWOULDBLOCK);
	CHECK(munmap((void *)(uintptr_t)mapped, PAGE) == 0);
	CHECK(device_open(&d));
	return true;
}

/* The mappings of a reader are removed when it ends, killed or not. */
static bool mapped_reader_dies(void)
{
	const struct dcpi_sample *mapped;
	struct device d;

	if (fork() == 0) {
		if (!start_small(&d) || !map(&d, 0, PAGE))
			_exit(1);
		abort();
	}
	sleep_ms(1000);
	CHECK(start_small(&d));
	mapped = map(&d, 1, PAGE);
	CHECK(mapped);
	sleep_ms(200);
	CHECK(device_stop(&d) == 0);
	CHECK(device_drain_cpus(&d, NULL, NULL) == 0);
	CHECK(device_accounted(&d));
	return true;
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(bad_mappings),
		TAP_TEST(mapped_buffers_lose_no_count),
		TAP_TEST(taken_buffer_waits_for_release),
		TAP_TEST(nothing_else_is_shown),
		TAP_TEST(mappings_of_earlier_starts_are_dead),
		TAP_TEST(mapping_keeps_the_device_open),
		TAP_TEST(mapped_reader_dies),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
