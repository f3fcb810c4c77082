// SPDX-License-Identifier: GPL-2.0-only
/* Matches that are found again are what they would be if they were looked up anew. */
#include "tests/unit.h"

#include <errno.h>
#include <string.h>

#include "daemon/collect/matcher.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kernel_image.h"
#include "daemon/source/source.h"
#include "loader-hook/image_event.h"
#include "loader-hook/process_scan.h"
#include "tests/fake_feed.h"

#define BASE 0x400000ULL
#define PAGE 0x1000ULL
/* Pages as far apart as the addresses that share a match. */
#define STRIDE 0x300000ULL

enum {
	PIDS = 6,
	PAGES = 12,
	IMAGES = 5,
};

/* Finds an image wherever a process is looked for that nobody has heard of. */
int process_scan(uint32_t pid, image_event_fn handle, void *context, struct error *err)
{
	struct image_event event = {.type = IMAGE_EVENT_FORK,
				    .pid = pid,
				    .time_ns = ++fake_feed.until_ns,
				    .scanned = true};

	(void)err;
	handle(context, &event);
	event.type = IMAGE_EVENT_MAP;
	event.start = BASE;
	event.bytes = PAGES * STRIDE;
	event.path = "/scanned";
	event.build_id_bytes = 20;
	memset(event.build_id, 0x55, 20);
	handle(context, &event);
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

int kernel_images_create(struct kernel_images **ret, struct image_table *table,
			 struct image_map *map, struct error *err)
{
	(void)table;
	(void)map;
	(void)err;
	*ret = NULL;
	return 0;
}

void kernel_images_destroy(struct kernel_images *kernel)
{
	(void)kernel;
}

int kernel_images_refresh(struct kernel_images *kernel, struct error *err)
{
	(void)kernel;
	(void)err;
	return 0;
}

static int first_generation(struct source *source, uint32_t pid, uint32_t *generation)
{
	(void)source;
	(void)pid;
	*generation = 0;
	return 0;
}

static const struct source_ops ops = {.name = "test", .generation = first_generation};
static struct source source = {.ops = &ops};

static struct matcher *open_matcher(const char *per_process)
{
	const struct matcher_config config = {.source = &source, .per_process = per_process};
	struct matcher *matcher;

	fake_feed.count = 0;
	fake_feed.until_ns = 1000;
	assert_int_equal(matcher_open(&matcher, &config, NULL), 0);
	return matcher;
}

static struct image_event *tell(enum image_event_type type, uint32_t pid)
{
	struct image_event *event = &fake_feed.events[fake_feed.count++];

	*event = (struct image_event){
		.type = type, .pid = pid, .time_ns = ++fake_feed.until_ns, .path = "name"};
	return event;
}

static void tell_map(uint32_t pid, uint64_t page, uint64_t pages, int image)
{
	struct image_event *event = tell(IMAGE_EVENT_MAP, pid);

	event->start = BASE + page * STRIDE;
	event->bytes = pages * STRIDE;
	event->path = image == 0 ? "//anon" : "/image";
	event->build_id_bytes = image == 0 ? 0 : 20;
	memset(event->build_id, image, event->build_id_bytes);
}

static struct dcpi_sample sample_at(uint32_t pid, uint64_t pc)
{
	return (struct dcpi_sample){.pc = pc, .tag = dcpi_tag(pid, 0, 0) | 1};
}

/* As matcher_place() says, which remembers nothing. */
static void expect(struct matcher *matcher, const struct dcpi_sample *sample)
{
	const struct match match = *matcher_match(matcher, sample);
	struct image_place place = matcher_place(matcher, sample->tag, sample->pc);

	assert_int_equal(match.image, place.image);
	assert_int_equal(sample->pc + match.delta,
			 place.image == IMAGE_UNKNOWN ? (uint64_t)place.unknown : place.offset);
}

static void step(struct matcher *matcher, uint64_t *seed)
{
	uint32_t pid = 1 + (uint32_t)(unit_random(seed) % PIDS);
	uint64_t page = unit_random(seed) % PAGES;

	switch (unit_random(seed) % 8) {
	case 0:
		tell(IMAGE_EVENT_EXEC, pid);
		break;
	case 1:
		tell(IMAGE_EVENT_FORK, pid)->parent = 1 + (uint32_t)(unit_random(seed) % PIDS);
		break;
	case 2:
		tell(IMAGE_EVENT_EXIT, pid);
		break;
	case 3:
		matcher_events(matcher);
		matcher_expire(matcher, fake_feed.until_ns - unit_random(seed) % 20);
		matcher_events(matcher);
		break;
	default:
		tell_map(pid, page, 1 + unit_random(seed) % (PAGES - page),
			 (int)(unit_random(seed) % (IMAGES + 1)));
		break;
	}
}

static void follows_the_map(void **state)
{
	struct matcher *matcher = open_matcher("");
	uint64_t seed = 11;
	size_t round, i;

	(void)state;
	for (round = 0; round < 3000; round++) {
		for (i = unit_random(&seed) % 4; i > 0; i--)
			step(matcher, &seed);
		matcher_events(matcher);
		for (i = 0; i < 50; i++) {
			struct dcpi_sample sample =
				sample_at(1 + (uint32_t)(unit_random(&seed) % (PIDS + 1)),
					  BASE - PAGE + unit_random(&seed) % (PAGES * STRIDE));

			expect(matcher, &sample);
		}
	}
	matcher_close(matcher);
}

/* What the caller has put there is there until it may be wrong. */
static void remembers_the_bin(void **state)
{
	struct accumulate_bin *bin = (struct accumulate_bin *)(uintptr_t)&source;
	struct matcher *matcher = open_matcher("/image");
	const struct dcpi_sample sample = sample_at(3, BASE + 7), other = sample_at(3, BASE + 9);
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
	matcher_events(matcher);
	assert_null(matcher_match(matcher, &sample)->bin);
	matcher_close(matcher);
}

/* A scan in the middle of a drain changes what was found before it. */
static void a_scan_is_seen(void **state)
{
	struct matcher *matcher = open_matcher("");
	const struct dcpi_sample sample = sample_at(4, BASE + 5), scanned = sample_at(5, BASE + 5);

	(void)state;
	tell(IMAGE_EVENT_EXEC, 4);
	tell_map(4, 0, 1, 1);
	matcher_events(matcher);
	matcher_match(matcher, &sample)->bin = (struct accumulate_bin *)(uintptr_t)&source;
	assert_int_not_equal(matcher_match(matcher, &scanned)->image, IMAGE_UNKNOWN);
	assert_null(matcher_match(matcher, &sample)->bin);
	matcher_close(matcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_map),
		cmocka_unit_test(remembers_the_bin),
		cmocka_unit_test(a_scan_is_seen),
	};

	return cmocka_run_group_tests_name("matcher", tests, NULL, NULL);
}
