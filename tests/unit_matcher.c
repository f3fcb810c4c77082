// SPDX-License-Identifier: GPL-2.0-only
/* Matches that are found again are what they would be if they were looked up anew. */
#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/base/cgroup.h"
#include "daemon/collect/label_table.h"
#include "daemon/collect/matcher.h"
#include "daemon/collect/process_label.h"
#include "daemon/collect/process_label.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kallsyms.h"
#include "daemon/image/kernel_image.h"
#include "daemon/source/source.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "loader-hook/image_event.h"
#include "loader-hook/process_scan.h"
#include "tests/fake_feed.h"

#define BASE 0x400000ULL
#define PAGE 0x1000ULL
/* Pages as far apart as the addresses that share a match. */
#define STRIDE 0x300000ULL
#define MODULES 0xffffffffc0000000ULL
#define KERNEL_CODE 0xffff900000000000ULL
/* Places of kernel addresses as far apart that they share no match. */
#define KERNEL_STRIDE 0x8000000ULL
/* What each event comes after the last one. */
#define TICK_NS 100000000ULL

enum {
	PIDS = 6,
	PAGES = 12,
	IMAGES = 5,
	SAMPLES = 50,
};

/*
 * What the machine would say.
 *
 * @generation: of processes
 * @execs:      during the next scans
 * @unit:       of processes, one in three cannot be read
 * @map, @table: where modules are registered; @module_loads: one is at the next look
 */
static struct {
	uint32_t generation[PIDS + 2];
	unsigned int execs;
	unsigned int unit[PIDS + 2];
	struct image_map *map;
	struct image_table *table;
	uint64_t module_loads;
} machine;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

/* Now is when the last event was. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){.tv_sec = (time_t)(fake_feed.until_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(fake_feed.until_ns % NS_PER_SECOND)};
	return 0;
}

static uint64_t tick(void)
{
	return fake_feed.until_ns += TICK_NS;
}

/* Finds an image wherever a process is looked for that nobody has heard of. */
int process_scan(uint32_t pid, image_event_fn handle, void *context, struct error *err)
{
	struct image_event event = {
		.type = IMAGE_EVENT_FORK, .pid = pid, .time_ns = tick(), .scanned = true};

	(void)err;
	handle(context, &event);
	event.type = IMAGE_EVENT_MAP;
	event.start = BASE;
	event.bytes = PAGES * STRIDE;
	event.path = "/scanned";
	event.build_id_bytes = 20;
	memset(event.build_id, 0x55, 20);
	handle(context, &event);
	if (machine.execs > 0) {
		machine.execs--;
		machine.generation[pid]++;
	}
	return 0;
}

int process_scan_all(image_event_fn handle, process_scan_pause_fn pause, void *context,
		     struct error *err)
{
	(void)handle;
	(void)pause;
	(void)context;
	(void)err;
	return 0;
}

int cgroup_read(struct cgroup *ret, uint32_t pid)
{
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->unit, sizeof(ret->unit), "%u-%u.service", pid, machine.unit[pid]);
	return machine.unit[pid] % 3 == 2 ? -ESRCH : 0;
}

int kallsyms_walk(const char *path, kallsyms_fn visit, void *context, struct error *err)
{
	(void)path;
	(void)visit;
	(void)context;
	(void)err;
	return 0;
}

int kernel_images_create(struct kernel_images **ret, struct image_table *table,
			 struct image_map *map, struct error *err)
{
	(void)err;
	machine.map = map;
	machine.table = table;
	*ret = NULL;
	return 0;
}

void kernel_images_destroy(struct kernel_images *kernel)
{
	(void)kernel;
}

/* Modules take each other's place, or a part of it. */
int kernel_images_refresh(struct kernel_images *kernel, struct error *err)
{
	uint64_t number = machine.module_loads;
	char path[32];
	struct profile_image image = {.kind = PROFILE_IMAGE_MODULE, .path = path};

	(void)kernel;
	(void)err;
	if (number == 0)
		return 0;
	machine.module_loads = 0;
	snprintf(path, sizeof(path), "module-%u.ko", (unsigned int)(number % IMAGES));
	assert_int_equal(
		image_map_add_kernel(machine.map, (uint32_t)image_table_add(machine.table, &image),
				     MODULES + number % PAGES * PAGE, (1 + number % 3) * PAGE),
		0);
	return 1;
}

static int generation_now(struct source *source, uint32_t pid, uint32_t *generation)
{
	(void)source;
	*generation = machine.generation[pid];
	return 0;
}

static const struct source_ops ops = {.name = "test", .generation = generation_now};
static const struct source_ops own_ops = {.name = "test", .own_generations = true};
static struct source source = {.ops = &ops}, own_source = {.ops = &own_ops};

static struct matcher *open_matcher(const struct matcher_config *config)
{
	struct matcher *matcher;

	fake_feed.count = 0;
	fake_feed.until_ns = 1000 * TICK_NS;
	memset(&machine, 0, sizeof(machine));
	assert_int_equal(matcher_open(&matcher, config, NULL), 0);
	return matcher;
}

static struct image_event *tell(enum image_event_type type, uint32_t pid)
{
	struct image_event *event = &fake_feed.events[fake_feed.count++];

	*event = (struct image_event){.type = type, .pid = pid, .time_ns = tick(), .path = "name"};
	return event;
}

static struct image_event *tell_range(enum image_event_type type, uint32_t pid, uint64_t page,
				      uint64_t pages)
{
	struct image_event *event = tell(type, pid);

	event->start = BASE + page * STRIDE;
	event->bytes = pages * STRIDE;
	return event;
}

static void tell_map(uint32_t pid, uint64_t page, uint64_t pages, int image)
{
	static const char *const paths[IMAGES + 1] = {"//anon", "/image", "/image",
						      "/image", "/unit",  "/mine"};
	struct image_event *event = tell_range(IMAGE_EVENT_MAP, pid, page, pages);

	event->path = paths[image];
	event->build_id_bytes = image == 0 ? 0 : 20;
	memset(event->build_id, image, event->build_id_bytes);
}

static void tell_kernel_code(uint64_t number)
{
	static const char *const names[] = {"bpf_prog_1_a", "ftrace_x"};
	struct image_event *event = tell(IMAGE_EVENT_KERNEL_CODE, 0);

	event->path = names[number / PAGES % 2];
	event->start = KERNEL_CODE + number % PAGES * KERNEL_STRIDE + number / 32 % 2 * (PAGE / 2);
	event->bytes = PAGE;
}

static void tell_exec(uint32_t pid)
{
	static const char *const names[] = {"a", "b", "c"};

	machine.generation[pid]++;
	machine.unit[pid]++;
	tell(IMAGE_EVENT_EXEC, pid)->path = names[machine.unit[pid] % 3];
}

/* Nothing is known from here on, but for who is scanned again. */
static void tell_loss(uint32_t pid)
{
	struct image_event *event = tell(IMAGE_EVENT_LOST, pid);

	event->until_ns = tick();
	if (pid == 0)
		for (pid = 1; pid <= PIDS; pid++)
			tell(IMAGE_EVENT_FORK, pid)->scanned = true;
	else
		tell(IMAGE_EVENT_FORK, pid)->scanned = true;
}

/* Who was scanned has something again. */
static void tell_scan(uint32_t pid, uint64_t number)
{
	tell(IMAGE_EVENT_FORK, pid)->scanned = true;
	tell_map(pid, number % PAGES, 1 + number % (PAGES - number % PAGES),
		 (int)(number % (IMAGES + 1)));
	fake_feed.events[fake_feed.count - 1].scanned = true;
}

static void rare_step(struct matcher *matcher, uint32_t pid, uint64_t number)
{
	switch (number % 6) {
	case 0:
		tell_loss(number % 3 == 0 ? 0 : pid);
		break;
	case 1:
		machine.module_loads = 1 + number;
		matcher_refresh(matcher);
		break;
	case 2:
		matcher_epoch(matcher);
		break;
	case 3:
		machine.execs = (unsigned int)(number / 6 % 5);
		break;
	case 4:
		tell(IMAGE_EVENT_RENAME, pid)->path = "renamed";
		break;
	default:
		matcher_events(matcher);
		matcher_expire(matcher, fake_feed.until_ns - number / 6 % 20 * TICK_NS);
		break;
	}
}

static void step(struct matcher *matcher, uint64_t *seed)
{
	uint32_t pid = 1 + (uint32_t)(unit_random(seed) % PIDS);
	uint64_t page = unit_random(seed) % PAGES, number = unit_random(seed) >> 8;

	switch (unit_random(seed) % 12) {
	case 0:
		tell_exec(pid);
		break;
	case 1:
		tell(IMAGE_EVENT_FORK, pid)->parent = 1 + (uint32_t)(number % PIDS);
		machine.generation[pid] = machine.generation[1 + number % PIDS];
		break;
	case 2:
		if (number % 4 == 0)
			tell(IMAGE_EVENT_EXIT, pid);
		break;
	case 3:
		tell_range(IMAGE_EVENT_UNMAP, pid, page, 1 + number % (PAGES - page));
		break;
	case 4:
		tell_scan(pid, number);
		break;
	case 5:
		rare_step(matcher, pid, number);
		break;
	case 6:
		tell_kernel_code(number);
		break;
	default:
		tell_map(pid, page, 1 + number % (PAGES - page), (int)(number % (IMAGES + 1)));
		break;
	}
}

/* Few steps, so that most of what was found holds; a second, so that all may be asked for. */
static void steps(struct matcher *matcher, uint64_t *seed)
{
	size_t i;

	fake_feed.until_ns += NS_PER_SECOND;
	for (i = unit_random(seed) % 2; i > 0; i--)
		step(matcher, seed);
	matcher_events(matcher);
}

static struct dcpi_sample sample_at(uint32_t pid, uint32_t generation, uint64_t pc)
{
	return (struct dcpi_sample){.pc = pc, .tag = dcpi_tag(pid, generation, 0) | 1};
}

static uint64_t random_pc(uint64_t *seed)
{
	switch (unit_random(seed) % 8) {
	case 0:
		return MODULES + unit_random(seed) % (PAGES * PAGE);
	case 1:
		return KERNEL_CODE + unit_random(seed) % PAGES * KERNEL_STRIDE +
		       unit_random(seed) % (2 * PAGE);
	default:
		return BASE - PAGE + unit_random(seed) % (PAGES * STRIDE);
	}
}

/* It was found before, rather than looked up now; and is to be found again. */
static size_t is_found(struct match *match)
{
	size_t found = match->bin != NULL;

	match->bin = (struct accumulate_bin *)(uintptr_t)&source;
	return found;
}

/*
 * As matcher_place() says, which remembers nothing. (It may ask for a process that was
 * not known and is then, so that what was unknown says nothing; it is never kept.)
 */
static size_t expect(struct matcher *matcher, const struct dcpi_sample *sample)
{
	struct match *match = matcher_match(matcher, sample);
	const struct match seen = *match;
	size_t found = is_found(match);
	struct image_place place;

	assert_true(!found || seen.image != IMAGE_UNKNOWN);
	if (seen.image == IMAGE_UNKNOWN)
		return 0;
	place = matcher_place(matcher, sample->tag, sample->pc);
	assert_int_equal(seen.image, place.image);
	assert_int_equal(sample->pc + seen.delta, place.offset);
	return found;
}

static void follows_the_map(void **state)
{
	const struct matcher_config config = {.source = &source};
	struct matcher *matcher = open_matcher(&config);
	size_t round, i, found = 0;
	uint64_t seed = 11;

	(void)state;
	for (round = 0; round < 6000; round++) {
		steps(matcher, &seed);
		for (i = 0; i < SAMPLES; i++) {
			uint32_t pid = 1 + (uint32_t)(unit_random(&seed) % (PIDS + 1));
			struct dcpi_sample sample =
				sample_at(pid, machine.generation[pid], random_pc(&seed));

			found += expect(matcher, &sample);
		}
	}
	assert_true(found > 6000 * SAMPLES / 10);
	matcher_close(matcher);
}

static uint32_t label_at(struct matcher *matcher, const struct match *match,
			 const struct dcpi_sample *sample)
{
	return match->label == MATCH_LABEL_OF_PROCESS
		       ? matcher_label(matcher, dcpi_tag_pid(sample->tag))
		       : match->label;
}

static void expect_same(const struct match *seen, const struct match *anew)
{
	assert_int_equal(seen->image, anew->image);
	assert_int_equal(seen->delta, anew->delta);
	assert_int_equal(seen->owner, anew->owner);
	assert_ptr_equal(seen->command, anew->command);
}

/* Labels, owners and names, too; of a source whose generations are the map's. */
static void follows_all_the_rest(void **state)
{
	const struct matcher_config config = {.source = &own_source,
					      .per_process = "/mine module-1.ko",
					      .per_unit = "/unit module-2.ko",
					      .units = true};
	struct matcher *matcher = open_matcher(&config);
	struct dcpi_sample samples[SAMPLES];
	struct match seen[SAMPLES], *match;
	uint32_t labels[SAMPLES];
	size_t round, i, found = 0;
	uint64_t seed = 12;

	(void)state;
	for (round = 0; round < 6000; round++) {
		steps(matcher, &seed);
		for (i = 0; i < SAMPLES; i++) {
			uint32_t pid = 1 + (uint32_t)(unit_random(&seed) % (PIDS + 1));

			samples[i] =
				sample_at(pid, matcher_generation(matcher, pid, fake_feed.until_ns),
					  random_pc(&seed));
		}
		for (i = 0; i < SAMPLES; i++) {
			match = matcher_match(matcher, &samples[i]);
			seen[i] = *match;
			labels[i] = label_at(matcher, match, &samples[i]);
			found += is_found(match);
		}
		/* Which forgets everything. */
		matcher_divide(matcher);
		for (i = 0; i < SAMPLES; i++) {
			match = matcher_match(matcher, &samples[i]);
			expect_same(&seen[i], match);
			assert_int_equal(labels[i], label_at(matcher, match, &samples[i]));
			is_found(match);
		}
	}
	assert_true(found > 6000 * SAMPLES / 10);
	matcher_close(matcher);
}

/* What the caller has put there is there until it may be wrong. */
static void remembers_the_bin(void **state)
{
	const struct matcher_config config = {.source = &source, .per_process = "/image"};
	struct accumulate_bin *bin = (struct accumulate_bin *)(uintptr_t)&source;
	struct matcher *matcher = open_matcher(&config);
	const struct dcpi_sample sample = sample_at(3, 0, BASE + 7),
				 other = sample_at(3, 0, BASE + 9);
	struct match *match;

	(void)state;
	tell(IMAGE_EVENT_EXEC, 3);
	tell_map(3, 0, 1, 1);
	matcher_events(matcher);
	match = matcher_match(matcher, &sample);
	assert_null(match->bin);
	assert_int_equal(match->owner, 3);
	assert_string_equal(match->command, "name");
	match->bin = bin;
	assert_ptr_equal(matcher_match(matcher, &other)->bin, bin);
	assert_int_equal(other.pc + matcher_match(matcher, &other)->delta, 9);
	/* Another process' doings do not matter. */
	tell_exec(4);
	tell_map(4, 0, 1, 1);
	matcher_events(matcher);
	assert_ptr_equal(matcher_match(matcher, &sample)->bin, bin);
	match_cache_forget_bins(matcher_cache(matcher));
	match = matcher_match(matcher, &sample);
	assert_null(match->bin);
	assert_int_equal(match->owner, 3);
	match->bin = bin;
	tell_map(3, 1, 1, 1);
	matcher_events(matcher);
	assert_null(matcher_match(matcher, &sample)->bin);
	matcher_close(matcher);
}

/* Libraries lie beside each other, and programs are in two of them by turns. */
static void neighbours_are_both_found(void **state)
{
	const struct matcher_config config = {.source = &source};
	struct matcher *matcher = open_matcher(&config);
	uint32_t pid, round, i;

	(void)state;
	for (pid = 1; pid <= PIDS; pid++) {
		tell(IMAGE_EVENT_EXEC, pid);
		for (i = 0; i < 2; i++) {
			tell_map(pid, 0, 1, 1 + (int)i);
			fake_feed.events[fake_feed.count - 1].start += i * PAGE;
			fake_feed.events[fake_feed.count - 1].bytes = PAGE;
		}
	}
	matcher_events(matcher);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 2 * PIDS; i++) {
			const struct dcpi_sample sample =
				sample_at(1 + i / 2, 0, BASE + i % 2 * PAGE);

			assert_int_equal(expect(matcher, &sample), round > 0);
		}
	}
	matcher_close(matcher);
}

/* A scan in the middle of a drain changes what was found of the process before it. */
static void a_scan_is_seen(void **state)
{
	const struct matcher_config config = {.source = &source};
	struct matcher *matcher = open_matcher(&config);
	const struct dcpi_sample sample = sample_at(4, 0, BASE + 5),
				 scanned = sample_at(5, 0, BASE + 5);

	(void)state;
	tell(IMAGE_EVENT_EXEC, 4);
	tell_map(4, 0, 1, 1);
	matcher_events(matcher);
	is_found(matcher_match(matcher, &sample));
	assert_int_not_equal(matcher_match(matcher, &scanned)->image, IMAGE_UNKNOWN);
	assert_true(is_found(matcher_match(matcher, &sample)));
	/* Its next generation is not known: it is asked for. */
	is_found(matcher_match(matcher, &scanned));
	machine.generation[5]++;
	matcher_match(matcher, &(struct dcpi_sample){.pc = BASE, .tag = dcpi_tag(5, 1, 0) | 1});
	assert_false(is_found(matcher_match(matcher, &scanned)));
	matcher_close(matcher);
}

/* Code of the kernel's is no process': it is asked for again with each look at the events. */
static void code_takes_a_place(void **state)
{
	const struct matcher_config config = {.source = &source};
	struct matcher *matcher = open_matcher(&config);
	const struct dcpi_sample sample = sample_at(7, 0, KERNEL_CODE + 5);
	struct match first;

	(void)state;
	tell_kernel_code(0);
	matcher_events(matcher);
	matcher_expire(matcher, fake_feed.until_ns + 1);
	first = *matcher_match(matcher, &sample);
	assert_int_not_equal(first.image, IMAGE_UNKNOWN);
	assert_int_not_equal(first.bytes, 0);
	tell_kernel_code(PAGES);
	fake_feed.until_ns += 100 * NS_PER_SECOND;
	matcher_events(matcher);
	expect(matcher, &sample);
	matcher_expire(matcher, fake_feed.until_ns);
	expect(matcher, &sample);
	matcher_close(matcher);
}

/* Where a process runs is asked for again until it is known. */
static void a_label_comes_late(void **state)
{
	const struct matcher_config config = {.source = &own_source, .units = true};
	struct matcher *matcher = open_matcher(&config);
	const struct dcpi_sample samples[2] = {sample_at(1, 1, BASE), sample_at(1, 1, MODULES)};
	uint32_t i, labels[2];

	(void)state;
	machine.module_loads = PAGES;
	matcher_refresh(matcher);
	tell(IMAGE_EVENT_FORK, 1);
	tell_map(1, 0, 1, 1);
	matcher_events(matcher);
	/* All reads of this second go to another one. */
	for (i = 0; i <= PROCESS_LABEL_READS; i++) {
		const struct dcpi_sample other = sample_at(7, 1, BASE);

		matcher_match(matcher, &other);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(
			label_at(matcher, matcher_match(matcher, &samples[i]), &samples[i]),
			LABEL_NONE);
	fake_feed.until_ns += NS_PER_SECOND;
	matcher_events(matcher);
	for (i = 0; i < 2; i++)
		labels[i] = label_at(matcher, matcher_match(matcher, &samples[i]), &samples[i]);
	assert_int_not_equal(labels[0], LABEL_NONE);
	assert_int_equal(labels[1], labels[0]);
	/* What is of all processes, and what of this one. */
	assert_int_equal(matcher_match(matcher, &samples[1])->label, MATCH_LABEL_OF_PROCESS);
	assert_int_equal(matcher_match(matcher, &samples[0])->label, labels[0]);
	matcher_close(matcher);
}

/* Of what is in no image: whose it is, if it is a process' own. */
static void unknown_code_is_someones(void **state)
{
	const struct matcher_config config = {.source = &own_source, .per_process = "unknown"};
	static const struct {
		uint32_t pid;
		uint64_t pc;
		bool unknown;
		int64_t owner;
	} places[] = {
		{3, BASE + 9 * STRIDE, true, 3},
		{3, BASE + 5, false, PROFILE_PID_ALL},
		{3, KERNEL_CODE - PAGE, true, PROFILE_PID_ALL},
		{PIDS + 9, BASE, true, PROFILE_PID_ALL},
	};
	struct matcher *matcher = open_matcher(&config);
	uint32_t generation;

	(void)state;
	tell_exec(3);
	tell_map(3, 0, 1, 1);
	matcher_events(matcher);
	generation = matcher_generation(matcher, 3, fake_feed.until_ns);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const struct dcpi_sample sample =
			sample_at(places[i].pid, generation, places[i].pc);
		const struct match *match = matcher_match(matcher, &sample);

		assert_int_equal(match->image == IMAGE_UNKNOWN, places[i].unknown);
		assert_int_equal(match->owner, places[i].owner);
		if (places[i].owner != PROFILE_PID_ALL)
			assert_string_equal(match->command, image_map_command(machine.map, 3));
	}
	matcher_close(matcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_map),    cmocka_unit_test(follows_all_the_rest),
		cmocka_unit_test(remembers_the_bin),  cmocka_unit_test(neighbours_are_both_found),
		cmocka_unit_test(a_scan_is_seen),     cmocka_unit_test(code_takes_a_place),
		cmocka_unit_test(a_label_comes_late), cmocka_unit_test(unknown_code_is_someones),
	};

	return cmocka_run_group_tests_name("matcher", tests, NULL, NULL);
}
