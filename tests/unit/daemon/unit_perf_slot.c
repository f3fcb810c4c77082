// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of a slot's event, and the kernel's counts read from it. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "daemon/source/perf_slot.h"
#include "daemon/source/source.h"
#include "lib/error.h"
#include "loader-hook/perf/perf_ring.h"

#define RING_FD 1000000

/* State of the simulated kernel: @values as returned by read(2). */
static struct perf_event_attr opened;
static uint64_t values[4];
static bool broken, without_lost;
static int refusal;

int __wrap_perf_ring_open(struct perf_ring **ret, const struct perf_event_attr *attr, int pid,
			  int cpu, size_t pages, struct error *err);
void __wrap_perf_ring_close(struct perf_ring *ring);
void __real_perf_ring_close(struct perf_ring *ring);
int __wrap_perf_ring_fd(const struct perf_ring *ring);
ssize_t __wrap_read(int fd, void *buffer, size_t bytes);
ssize_t __real_read(int fd, void *buffer, size_t bytes);

int __wrap_perf_ring_open(struct perf_ring **ret, const struct perf_event_attr *attr, int pid,
			  int cpu, size_t pages, struct error *err)
{
	(void)pid;
	(void)cpu;
	(void)pages;
	if (refusal != 0)
		return error_set(err, refusal, "refused");
	if (without_lost && (attr->read_format & 1U << 4) != 0)
		return -EINVAL;
	opened = *attr;
	*ret = (struct perf_ring *)&opened;
	return 0;
}

void __wrap_perf_ring_close(struct perf_ring *ring)
{
	(void)ring;
}

int __wrap_perf_ring_fd(const struct perf_ring *ring)
{
	assert_non_null(ring);
	return RING_FD;
}

ssize_t __wrap_read(int fd, void *buffer, size_t bytes)
{
	size_t has = without_lost ? 3 * sizeof(values[0]) : sizeof(values);

	if (fd != RING_FD)
		return __real_read(fd, buffer, bytes);
	assert_true(bytes >= has);
	if (broken)
		return 0;
	memcpy(buffer, values, has);
	return (ssize_t)has;
}

static const struct source_event event = {
	.name = "imiss",
	.type = 4,
	.flags = DCPI_EVENT_EXCLUDE_KERNEL,
	.config = 0x1b7,
	.config1 = 0x10001,
	.config2 = 7,
	.period_min = 60000,
	.period_max = 64000,
};

static void attributes_are_the_event_s(void **state)
{
	struct source_event kernel = event;
	struct perf_slot_config config = {.event = &event, .ring_pages = 4};
	struct perf_slot slot = {.event = {.ring = NULL}};

	(void)state;
	assert_int_equal(perf_slot_open(&slot, &config, NULL), 0);
	assert_int_equal(opened.type, 4);
	assert_int_equal(opened.config, 0x1b7);
	assert_int_equal(opened.config1, 0x10001);
	assert_int_equal(opened.config2, 7);
	assert_in_range(opened.sample_period, 60000, 64000);
	assert_true(opened.exclude_kernel);
	assert_false(opened.exclude_user);
	perf_slot_close(&slot);
	kernel.flags = DCPI_EVENT_EXCLUDE_USER;
	config.event = &kernel;
	assert_int_equal(perf_slot_open(&slot, &config, NULL), 0);
	assert_true(opened.exclude_user);
	assert_false(opened.exclude_kernel);
	perf_slot_close(&slot);
	/* No privilege level would be left. */
	config.user_only = true;
	assert_int_equal(perf_slot_open(&slot, &config, NULL), -EACCES);
	config.event = &event;
	assert_int_equal(perf_slot_open(&slot, &config, NULL), 0);
	assert_true(opened.exclude_kernel);
	perf_slot_close(&slot);
}

/* With several events it may be any of them. */
static void what_is_missing_is_named(void **state)
{
	struct perf_slot_config config = {.event = &event, .ring_pages = 4};
	struct perf_slot slot = {.event = {.ring = NULL}};
	struct error err;

	(void)state;
	refusal = ENOENT;
	assert_int_equal(perf_slot_open(&slot, &config, &err), -ENOENT);
	assert_non_null(strstr(err.message, "'imiss': cpu-clock works everywhere"));
	refusal = EMFILE;
	assert_int_equal(perf_slot_open(&slot, &config, &err), -EMFILE);
	assert_string_equal(err.message, "refused");
	refusal = 0;
}

/* Times are sums over all rings of a slot, at any time of reading, and never decrease. */
static void times_only_grow(void **state)
{
	struct perf_slot_config config = {.event = &event, .ring_pages = 4};
	struct perf_slot slot = {.event = {.ring = NULL}};
	uint64_t seed = 3, enabled = 0, running = 0, lost = 0;
	int round;

	without_lost = *state != NULL;
	for (round = 0; round < 3000; round++) {
		uint64_t step = unit_random(&seed) % 1000;

		if (slot.event.ring == NULL) {
			memset(values, 0, sizeof(values));
			assert_int_equal(perf_slot_open(&slot, &config, NULL), 0);
		}
		values[0] = unit_random(&seed);
		values[1] += step;
		values[2] += step / 2;
		values[3] += step / 3;
		enabled += step;
		running += step / 2;
		lost += without_lost ? 0 : step / 3;
		broken = unit_random(&seed) % 4 == 0;
		perf_slot_read(&slot); /* when broken, the next read includes it */
		if (!broken) {
			assert_int_equal(slot.enabled_ns, enabled);
			assert_int_equal(slot.running_ns, running);
			assert_int_equal(slot.lost, lost);
		}
		assert_true(slot.enabled_ns <= enabled);
		broken = false;
		if (unit_random(&seed) % 5 == 0) {
			perf_slot_close(&slot);
			assert_int_equal(slot.enabled_ns, enabled);
			assert_int_equal(slot.running_ns, running);
		}
	}
	without_lost = false;
}

static void sample_note(void *context, const struct perf_sample *sample)
{
	(void)sample;
	++*(uint64_t *)context;
}

static void record_put(struct perf_event_mmap_page *control, uint16_t size, uint64_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_sample sample = {.header = {.type = PERF_RECORD_SAMPLE, .size = size}};

	memcpy((uint8_t *)control + page + control->data_head, &sample, sizeof(sample));
	control->data_head += bytes;
}

/* Invalid samples are counted as lost, at least as many as there may have been. */
static void nonsense_is_counted(void **state)
{
	struct perf_slot slot = {.event = {.ring = NULL}};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("ring", MFD_CLOEXEC);
	struct perf_event_mmap_page *control;
	uint64_t seen = 0;

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)(2 * page)), 0);
	control = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(control != MAP_FAILED);
	assert_int_equal(perf_ring_map(&slot.event.ring, fd, 1, NULL), 0);
	record_put(control, sizeof(struct perf_sample), sizeof(struct perf_sample));
	record_put(control, 16, 16);
	record_put(control, sizeof(struct perf_sample), sizeof(struct perf_sample));
	record_put(control, 7, 3 * sizeof(struct perf_sample) + 8);
	perf_slot_drain(&slot, UINT64_MAX, sample_note, &seen);
	assert_int_equal(seen, 2);
	assert_int_equal(slot.malformed, 1 + 4);
	record_put(control, sizeof(struct perf_sample), sizeof(struct perf_sample));
	perf_slot_drain(&slot, UINT64_MAX, sample_note, &seen);
	assert_int_equal(seen, 3);
	assert_int_equal(slot.malformed, 1 + 4);
	__real_perf_ring_close(slot.event.ring);
	munmap(control, 2 * page);
}

int main(void)
{
	static int old_kernel = 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_are_the_event_s),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(nonsense_is_counted),
		cmocka_unit_test(times_only_grow),
		cmocka_unit_test_prestate(times_only_grow, &old_kernel),
	};

	return cmocka_run_group_tests_name("perf_slot", tests, NULL, NULL);
}
