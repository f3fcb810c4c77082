// SPDX-License-Identifier: GPL-2.0-only
/* A cached match equals the result of a new lookup. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/counter_set.h"
#include "daemon/collect/label_table.h"
#include "daemon/collect/process_label.h"
#include "daemon/image/image_table.h"
#include "lib/clock.h"
#include "tests/fixtures/fake_machine.h"
#include "tests/fixtures/image_table_fill.h"

#define SAMPLES 50

static void rare_step(struct matcher *matcher, uint32_t pid, uint64_t number)
{
	switch (number % 6) {
	case 0:
		fake_machine_tell_loss(number % 3 == 0 ? 0 : pid);
		break;
	case 1:
		fake_machine.module_loads = 1 + number;
		matcher_refresh(matcher);
		break;
	case 2:
		matcher_epoch(matcher);
		break;
	case 3:
		fake_machine.execs = (unsigned int)(number / 6 % 5);
		break;
	case 4:
		fake_machine_tell(IMAGE_EVENT_RENAME, pid)->path = "renamed";
		break;
	default:
		matcher_events(matcher);
		matcher_expire(matcher, fake_feed.until_ns - number / 6 % 20 * MACHINE_TICK_NS);
		break;
	}
}

static void step(struct matcher *matcher, uint64_t *seed)
{
	uint32_t pid = 1 + (uint32_t)(unit_random(seed) % MACHINE_PIDS);
	uint64_t page = unit_random(seed) % MACHINE_PAGES, number = unit_random(seed) >> 8;

	switch (unit_random(seed) % 12) {
	case 0:
		fake_machine_tell_exec(pid);
		break;
	case 1:
		fake_machine_tell(IMAGE_EVENT_FORK, pid)->parent =
			1 + (uint32_t)(number % MACHINE_PIDS);
		fake_machine.generation[pid] = fake_machine.generation[1 + number % MACHINE_PIDS];
		break;
	case 2:
		if (number % 4 == 0)
			fake_machine_tell(IMAGE_EVENT_EXIT, pid);
		break;
	case 3:
		fake_machine_tell_range(IMAGE_EVENT_UNMAP, pid, page,
					1 + number % (MACHINE_PAGES - page));
		break;
	case 4:
		fake_machine_tell_scan(pid, number);
		break;
	case 5:
		rare_step(matcher, pid, number);
		break;
	case 6:
		fake_machine_tell_kernel_code(number);
		break;
	default:
		fake_machine_tell_map(pid, page, 1 + number % (MACHINE_PAGES - page),
				      (int)(number % (MACHINE_IMAGES + 1)));
		break;
	}
}

/*
 * Make few steps, so that most matches stay valid, and advance by a second, so that rescans are
 * allowed.
 */
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
		return MACHINE_MODULES + unit_random(seed) % (MACHINE_PAGES * MACHINE_PAGE);
	case 1:
		return MACHINE_KERNEL_CODE +
		       unit_random(seed) % MACHINE_PAGES * MACHINE_KERNEL_STRIDE +
		       unit_random(seed) % (2 * MACHINE_PAGE);
	default:
		return MACHINE_BASE - MACHINE_PAGE +
		       unit_random(seed) % (MACHINE_PAGES * MACHINE_STRIDE);
	}
}

/* Return true if the match was cached, and mark it for the next check. */
static size_t is_found(struct match *match)
{
	size_t found = match->bin != NULL;

	match->bin = (struct accumulate_bin *)(uintptr_t)&fake_machine_source;
	return found;
}

/* Look up a place without the cached matches of the process and of the kernel. */
static struct image_place place_anew(struct matcher *matcher, const struct dcpi_sample *sample)
{
	struct match_cache *cache = matcher_cache(matcher);
	uint64_t *process = match_cache_version(cache, dcpi_tag_pid(sample->tag));
	uint64_t *nobody = match_cache_version(cache, 0);
	struct image_place place;

	++*process;
	++*nobody;
	place = matcher_place(matcher, sample->tag, sample->pc);
	--*process;
	--*nobody;
	return place;
}

/*
 * Check a match against a new lookup. Unknown places are skipped: the lookup may scan an unknown
 * process, and unknown places are never cached. An edge event gives the same place.
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
	place = place_anew(matcher, sample);
	assert_int_equal(seen.image, place.image);
	assert_int_equal(sample->pc + seen.delta, place.offset);
	place = matcher_place(matcher, sample->tag | (uint64_t)DCPI_EVENT_BRANCH << DCPI_COUNT_BITS,
			      sample->pc);
	assert_int_equal(seen.image, place.image);
	assert_int_equal(sample->pc + seen.delta, place.offset);
	return found;
}

static void follows_the_map(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_source};
	struct matcher *matcher = fake_machine_open(&config);
	size_t round, i, found = 0;
	uint64_t seed = 11;

	(void)state;
	for (round = 0; round < 6000; round++) {
		steps(matcher, &seed);
		for (i = 0; i < SAMPLES; i++) {
			uint32_t pid = 1 + (uint32_t)(unit_random(&seed) % (MACHINE_PIDS + 1));
			struct dcpi_sample sample =
				sample_at(pid, fake_machine.generation[pid], random_pc(&seed));

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
}

/* Labels, owners and names are also the same, for a source with the map's generations. */
static void follows_all_the_rest(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_own_source,
					      .per_process = "/mine module-1.ko",
					      .per_unit = "/unit module-2.ko",
					      .units = true};
	struct matcher *matcher = fake_machine_open(&config);
	struct dcpi_sample samples[SAMPLES];
	struct match seen[SAMPLES], *match;
	uint32_t labels[SAMPLES];
	size_t round, i, found = 0;
	uint64_t seed = 12;

	(void)state;
	for (round = 0; round < 6000; round++) {
		steps(matcher, &seed);
		for (i = 0; i < SAMPLES; i++) {
			uint32_t pid = 1 + (uint32_t)(unit_random(&seed) % (MACHINE_PIDS + 1));

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
		/* This drops all cached matches. */
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

/* The caller's bin is kept with a match as long as the match is certain. */
static void remembers_the_bin(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_source,
					      .per_process = "/image"};
	struct accumulate_bin *bin = (struct accumulate_bin *)(uintptr_t)&fake_machine_source;
	struct matcher *matcher = fake_machine_open(&config);
	const struct dcpi_sample sample = sample_at(3, 0, MACHINE_BASE + 7),
				 other = sample_at(3, 0, MACHINE_BASE + 9);
	struct match *match;

	(void)state;
	fake_machine_tell(IMAGE_EVENT_EXEC, 3);
	fake_machine_tell_map(3, 0, 1, 1);
	matcher_events(matcher);
	match = matcher_match(matcher, &sample);
	assert_null(match->bin);
	assert_int_equal(match->owner, 3);
	assert_string_equal(matcher_command(matcher, 3), "name");
	match->bin = bin;
	assert_ptr_equal(matcher_match(matcher, &other)->bin, bin);
	assert_int_equal(other.pc + matcher_match(matcher, &other)->delta, 9);
	/* Events of another process have no effect. */
	fake_machine_tell_exec(4);
	fake_machine_tell_map(4, 0, 1, 1);
	matcher_events(matcher);
	assert_ptr_equal(matcher_match(matcher, &sample)->bin, bin);
	match_cache_forget_bins(matcher_cache(matcher));
	match = matcher_match(matcher, &sample);
	assert_null(match->bin);
	assert_int_equal(match->owner, 3);
	match->bin = bin;
	fake_machine_tell_map(3, 1, 1, 1);
	matcher_events(matcher);
	assert_null(matcher_match(matcher, &sample)->bin);
	matcher_close(matcher);
}

/* Matches of two adjacent libraries are both cached while samples alternate between them. */
static void neighbours_are_both_found(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_source};
	struct matcher *matcher = fake_machine_open(&config);
	uint32_t pid, round, i;

	(void)state;
	for (pid = 1; pid <= MACHINE_PIDS; pid++) {
		fake_machine_tell(IMAGE_EVENT_EXEC, pid);
		for (i = 0; i < 2; i++) {
			fake_machine_tell_map(pid, 0, 1, 1 + (int)i);
			fake_feed.events[fake_feed.count - 1].start += i * MACHINE_PAGE;
			fake_feed.events[fake_feed.count - 1].bytes = MACHINE_PAGE;
		}
	}
	matcher_events(matcher);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 2 * MACHINE_PIDS; i++) {
			const struct dcpi_sample sample =
				sample_at(1 + i / 2, 0, MACHINE_BASE + i % 2 * MACHINE_PAGE);

			assert_int_equal(expect(matcher, &sample), round > 0);
		}
	}
	matcher_close(matcher);
}

/* A scan during a drain invalidates earlier matches of the process. */
static void a_scan_is_seen(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_source};
	struct matcher *matcher = fake_machine_open(&config);
	const struct dcpi_sample sample = sample_at(4, 0, MACHINE_BASE + 5),
				 scanned = sample_at(5, 0, MACHINE_BASE + 5);

	(void)state;
	fake_machine_tell(IMAGE_EVENT_EXEC, 4);
	fake_machine_tell_map(4, 0, 1, 1);
	matcher_events(matcher);
	is_found(matcher_match(matcher, &sample));
	assert_int_not_equal(matcher_match(matcher, &scanned)->image, IMAGE_UNKNOWN);
	assert_true(is_found(matcher_match(matcher, &sample)));
	/* The next generation is unknown, so the process is scanned. */
	is_found(matcher_match(matcher, &scanned));
	fake_machine.generation[5]++;
	matcher_match(matcher,
		      &(struct dcpi_sample){.pc = MACHINE_BASE, .tag = dcpi_tag(5, 1, 0) | 1});
	assert_false(is_found(matcher_match(matcher, &scanned)));
	matcher_close(matcher);
}

/*
 * A match of generated kernel code, which belongs to no process, expires with each read of events.
 */
static void code_takes_a_place(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_source};
	struct matcher *matcher = fake_machine_open(&config);
	const struct dcpi_sample sample = sample_at(7, 0, MACHINE_KERNEL_CODE + 5);
	struct match first;

	(void)state;
	fake_machine_tell_kernel_code(0);
	matcher_events(matcher);
	matcher_expire(matcher, fake_feed.until_ns + 1);
	first = *matcher_match(matcher, &sample);
	assert_int_not_equal(first.image, IMAGE_UNKNOWN);
	assert_int_not_equal(first.bytes, 0);
	fake_machine_tell_kernel_code(MACHINE_PAGES);
	fake_feed.until_ns += 100 * NS_PER_SECOND;
	matcher_events(matcher);
	expect(matcher, &sample);
	matcher_expire(matcher, fake_feed.until_ns);
	expect(matcher, &sample);
	matcher_close(matcher);
}

/*
 * After a flush, other code at the address of an unloaded module is not attributed to the module.
 */
static void code_follows_a_module(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_source};
	struct matcher *matcher = fake_machine_open(&config);
	const struct dcpi_sample sample = sample_at(7, 0, MACHINE_MODULES + 5);
	uint32_t module;

	(void)state;
	fake_machine.module_loads = MACHINE_PAGES;
	matcher_refresh(matcher);
	assert_false(matcher_unsettled(matcher));
	module = matcher_match(matcher, &sample)->image;
	assert_int_not_equal(module, IMAGE_UNKNOWN);
	fake_machine.modules_gone = true;
	fake_machine_tell_kernel_code(0);
	fake_feed.events[0].start = MACHINE_MODULES;
	matcher_events(matcher);
	assert_true(matcher_unsettled(matcher));
	assert_int_equal(matcher_match(matcher, &sample)->image, module);
	matcher_expire(matcher, fake_feed.until_ns + 1);
	assert_false(matcher_unsettled(matcher));
	assert_int_not_equal(matcher_match(matcher, &sample)->image, module);
	assert_int_not_equal(matcher_match(matcher, &sample)->image, IMAGE_UNKNOWN);
	matcher_close(matcher);
}

/* The label of a process is read again until it is known. */
static void a_label_comes_late(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_own_source, .units = true};
	struct matcher *matcher = fake_machine_open(&config);
	const struct dcpi_sample samples[2] = {sample_at(1, 1, MACHINE_BASE),
					       sample_at(1, 1, MACHINE_MODULES)};
	uint32_t i, labels[2];

	(void)state;
	fake_machine.module_loads = MACHINE_PAGES;
	matcher_refresh(matcher);
	fake_machine_tell(IMAGE_EVENT_FORK, 1);
	fake_machine_tell_map(1, 0, 1, 1);
	matcher_events(matcher);
	/* All reads of this second are used for another process. */
	for (i = 0; i <= PROCESS_LABEL_READS; i++) {
		const struct dcpi_sample other = sample_at(7, 1, MACHINE_BASE);

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
	/* A label of the process, and a label stored in the match. */
	assert_int_equal(matcher_match(matcher, &samples[1])->label, MATCH_LABEL_OF_PROCESS);
	assert_int_equal(matcher_match(matcher, &samples[0])->label, labels[0]);
	matcher_close(matcher);
}

/* The owner of unknown code is its process if the address is the process's own. */
static void unknown_code_is_someones(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_own_source,
					      .per_process = "unknown"};
	static const struct {
		uint32_t pid;
		uint64_t pc;
		bool unknown;
		int64_t owner;
	} places[] = {
		{3, MACHINE_BASE + 9 * MACHINE_STRIDE, true, 3},
		{3, MACHINE_BASE + 5, false, PROFILE_PID_ALL},
		{3, MACHINE_KERNEL_CODE - MACHINE_PAGE, true, PROFILE_PID_ALL},
		{MACHINE_PIDS + 9, MACHINE_BASE, true, PROFILE_PID_ALL},
	};
	struct matcher *matcher = fake_machine_open(&config);
	uint32_t generation;

	(void)state;
	fake_machine_tell_exec(3);
	fake_machine_tell_map(3, 0, 1, 1);
	matcher_events(matcher);
	generation = matcher_generation(matcher, 3, fake_feed.until_ns);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const struct dcpi_sample sample =
			sample_at(places[i].pid, generation, places[i].pc);
		const struct match *match = matcher_match(matcher, &sample);

		assert_int_equal(match->image == IMAGE_UNKNOWN, places[i].unknown);
		assert_int_equal(match->owner, places[i].owner);
		if (places[i].owner != PROFILE_PID_ALL)
			assert_string_equal(matcher_command(matcher, 3),
					    image_map_command(fake_machine.map, 3));
	}
	matcher_close(matcher);
}

/* A process that ended during a loss of events is dropped without an exit event. */
static void exits_that_were_lost(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_own_source};
	struct matcher *matcher = fake_machine_open(&config);
	uint32_t pid;

	(void)state;
	for (pid = 1; pid <= MACHINE_PIDS; pid++)
		fake_machine_tell(IMAGE_EVENT_FORK, pid);
	matcher_events(matcher);
	fake_machine.gone[2] = fake_machine.gone[3] = true;
	fake_feed.until_ns += 2 * NS_PER_SECOND;
	/* No loss: exit events are still expected. */
	matcher_events(matcher);
	matcher_expire(matcher, UINT64_MAX);
	assert_int_equal(matcher_processes(matcher, NULL), MACHINE_PIDS);
	fake_machine_tell(IMAGE_EVENT_LOST, 0)->until_ns = fake_feed.until_ns;
	matcher_events(matcher);
	fake_machine.gone[5] = true; /* it was ending */
	fake_feed.until_ns += 2 * NS_PER_SECOND;
	matcher_events(matcher);
	matcher_expire(matcher, UINT64_MAX);
	assert_int_equal(matcher_processes(matcher, NULL), MACHINE_PIDS - 3);
	matcher_close(matcher);
}

static uint64_t stat_of(const struct matcher *matcher, const char *name)
{
	struct counter_set tally = {.count = 0};

	matcher_counters(matcher, &tally);
	return counter_set_get(&tally, "stat", name);
}

/* A process is scanned for samples from before its first event only if the scan may help. */
static void a_scan_tells_no_past(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_own_source};
	struct matcher *matcher = fake_machine_open(&config);
	uint64_t before_ns;

	(void)state;
	matcher_events(matcher);
	before_ns = fake_feed.until_ns;
	fake_machine_tell_exec(3);
	fake_machine_tell_map(3, 0, 1, 1);
	matcher_events(matcher);
	assert_int_equal(matcher_generation(matcher, 3, before_ns), 0);
	assert_int_equal(stat_of(matcher, "process_scans"), 0);
	assert_int_not_equal(matcher_generation(matcher, 4, before_ns), 0);
	assert_int_equal(stat_of(matcher, "process_scans"), 1);
	matcher_close(matcher);
}

/* Count messages about missing room in two calls of matcher_refresh(). */
static size_t complaints(struct matcher *matcher)
{
	int saved = dup(STDERR_FILENO);
	FILE *said = tmpfile();
	char line[256];
	size_t lines = 0;

	assert_non_null(said);
	assert_true(dup2(fileno(said), STDERR_FILENO) >= 0);
	matcher_refresh(matcher);
	matcher_refresh(matcher);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(said);
	while (fgets(line, sizeof(line), said) != NULL)
		lines += strstr(line, ": samples in the others are unknown") != NULL;
	fclose(said);
	return lines;
}

/* Refused images are counted, and one message reports them. */
static void images_without_room(void **state)
{
	const struct matcher_config config = {.source = &fake_machine_source};
	struct matcher *matcher = fake_machine_open(&config);

	(void)state;
	fake_machine_tell(IMAGE_EVENT_EXEC, 3);
	fake_machine_tell_map(3, 0, 1, 1);
	matcher_events(matcher);
	image_table_fill(fake_machine.table, IMAGE_TABLE_ROOM);
	/* Images without samples would give up their numbers. */
	for (uint32_t i = 1; i < image_table_count(fake_machine.table); i++)
		image_table_sampled(fake_machine.table, i);
	assert_int_equal(complaints(matcher), 0);
	fake_machine_tell_map(3, 1, 1, 2);
	fake_machine_tell_map(3, 2, 1, 1);
	matcher_events(matcher);
	assert_int_equal(stat_of(matcher, "images_refused"), 1);
	assert_int_equal(complaints(matcher), 1);
	fake_machine_tell_map(3, 1, 1, 3);
	matcher_events(matcher);
	assert_int_equal(stat_of(matcher, "images_refused"), 2);
	assert_int_equal(complaints(matcher), 0);
	matcher_close(matcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_map),	cmocka_unit_test(follows_all_the_rest),
		cmocka_unit_test(remembers_the_bin),	cmocka_unit_test(neighbours_are_both_found),
		cmocka_unit_test(a_scan_is_seen),	cmocka_unit_test(code_takes_a_place),
		cmocka_unit_test(a_label_comes_late),	cmocka_unit_test(unknown_code_is_someones),
		cmocka_unit_test(images_without_room),	cmocka_unit_test(code_follows_a_module),
		cmocka_unit_test(exits_that_were_lost), cmocka_unit_test(a_scan_tells_no_past),
	};

	return cmocka_run_group_tests_name("matcher", tests, NULL, NULL);
}
