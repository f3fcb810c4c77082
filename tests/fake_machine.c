// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fake_machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/cgroup.h"
#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kallsyms.h"
#include "daemon/image/kernel_image.h"
#include "lib/clock.h"
#include "loader-hook/process_gone.h"
#include "loader-hook/process_scan.h"
#include "tests/unit.h"

struct fake_machine fake_machine;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

/* The current time is that of the last event. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){.tv_sec = (time_t)(fake_feed.until_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(fake_feed.until_ns % NS_PER_SECOND)};
	return 0;
}

static uint64_t tick(void)
{
	return fake_feed.until_ns += MACHINE_TICK_NS;
}

/* Report an image for every process that is scanned because it is unknown. */
int process_scan(uint32_t pid, image_event_fn handle, void *context, struct error *err)
{
	struct image_event event = {
		.type = IMAGE_EVENT_FORK, .pid = pid, .time_ns = tick(), .scanned = true};

	(void)err;
	handle(context, &event);
	event.type = IMAGE_EVENT_MAP;
	event.start = MACHINE_BASE;
	event.bytes = MACHINE_PAGES * MACHINE_STRIDE;
	event.path = "/scanned";
	event.build_id_bytes = 20;
	memset(event.build_id, 0x55, 20);
	handle(context, &event);
	if (fake_machine.execs > 0) {
		fake_machine.execs--;
		fake_machine.generation[pid]++;
	}
	return 0;
}

bool process_is_gone(uint32_t pid)
{
	return pid < sizeof(fake_machine.gone) && fake_machine.gone[pid];
}

int process_scan_list(uint32_t **pids, size_t *count, struct error *err)
{
	(void)err;
	*pids = calloc(1, sizeof(**pids));
	*count = 0;
	return 0;
}

int cgroup_read(struct cgroup *ret, uint32_t pid)
{
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->unit, sizeof(ret->unit), "%u-%u.service", pid, fake_machine.unit[pid]);
	return fake_machine.unit[pid] % 3 == 2 ? -ESRCH : 0;
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
	fake_machine.map = map;
	fake_machine.table = table;
	*ret = NULL;
	return 0;
}

int kernel_images_create_user(struct kernel_images **ret, struct image_table *table,
			      struct image_map *map, struct error *err)
{
	return kernel_images_create(ret, table, map, err);
}

void kernel_images_destroy(struct kernel_images *kernel)
{
	(void)kernel;
}

/* Load a module that may replace another one, or a part of it. */
int kernel_images_refresh(struct kernel_images *kernel, struct error *err)
{
	uint64_t number = fake_machine.module_loads;
	char path[32];
	struct profile_image image = {.kind = PROFILE_IMAGE_MODULE, .path = path};

	(void)kernel;
	(void)err;
	if (number == 0)
		return 0;
	fake_machine.module_loads = 0;
	snprintf(path, sizeof(path), "module-%u.ko", (unsigned int)(number % MACHINE_IMAGES));
	assert_int_equal(
		image_map_add_kernel(fake_machine.map,
				     (uint32_t)image_table_add(fake_machine.table, &image),
				     MACHINE_MODULES + number % MACHINE_PAGES * MACHINE_PAGE,
				     (1 + number % 3) * MACHINE_PAGE),
		0);
	return 1;
}

bool kernel_images_unsettled(const struct kernel_images *kernel)
{
	(void)kernel;
	return fake_machine.modules_gone;
}

void kernel_images_expire(struct kernel_images *kernel, uint64_t time_ns)
{
	(void)kernel;
	(void)time_ns;
	if (fake_machine.modules_gone)
		image_map_forget_kernel(fake_machine.map);
	fake_machine.modules_gone = false;
}

static int generation_now(struct source *source, uint32_t pid, uint32_t *generation)
{
	(void)source;
	*generation = fake_machine.generation[pid];
	return 0;
}

static const struct source_ops ops = {.name = "test", .generation = generation_now};
static const struct source_ops own_ops = {.name = "test", .own_generations = true};
struct source fake_machine_source = {.ops = &ops};
struct source fake_machine_own_source = {.ops = &own_ops};

struct matcher *fake_machine_open(const struct matcher_config *config)
{
	struct matcher *matcher;

	fake_feed.count = 0;
	fake_feed.until_ns = 1000 * MACHINE_TICK_NS;
	memset(&fake_machine, 0, sizeof(fake_machine));
	assert_int_equal(matcher_open(&matcher, config, NULL), 0);
	return matcher;
}

struct image_event *fake_machine_tell(enum image_event_type type, uint32_t pid)
{
	struct image_event *event = &fake_feed.events[fake_feed.count++];

	*event = (struct image_event){.type = type, .pid = pid, .time_ns = tick(), .path = "name"};
	return event;
}

struct image_event *fake_machine_tell_range(enum image_event_type type, uint32_t pid, uint64_t page,
					    uint64_t pages)
{
	struct image_event *event = fake_machine_tell(type, pid);

	event->start = MACHINE_BASE + page * MACHINE_STRIDE;
	event->bytes = pages * MACHINE_STRIDE;
	return event;
}

void fake_machine_tell_map(uint32_t pid, uint64_t page, uint64_t pages, int image)
{
	static const char *const paths[MACHINE_IMAGES + 1] = {"//anon", "/image", "/image",
							      "/image", "/unit",  "/mine"};
	struct image_event *event = fake_machine_tell_range(IMAGE_EVENT_MAP, pid, page, pages);

	event->path = paths[image];
	event->build_id_bytes = image == 0 ? 0 : 20;
	memset(event->build_id, image, event->build_id_bytes);
}

void fake_machine_tell_kernel_code(uint64_t number)
{
	static const char *const names[] = {"bpf_prog_1_a", "ftrace_x"};
	struct image_event *event = fake_machine_tell(IMAGE_EVENT_KERNEL_CODE, 0);

	event->path = names[number / MACHINE_PAGES % 2];
	event->start = MACHINE_KERNEL_CODE + number % MACHINE_PAGES * MACHINE_KERNEL_STRIDE +
		       number / 32 % 2 * (MACHINE_PAGE / 2);
	event->bytes = MACHINE_PAGE;
}

void fake_machine_tell_exec(uint32_t pid)
{
	static const char *const names[] = {"a", "b", "c"};

	fake_machine.generation[pid]++;
	fake_machine.unit[pid]++;
	fake_machine_tell(IMAGE_EVENT_EXEC, pid)->path = names[fake_machine.unit[pid] % 3];
}

void fake_machine_tell_loss(uint32_t pid)
{
	struct image_event *event = fake_machine_tell(IMAGE_EVENT_LOST, pid);

	event->until_ns = tick();
	if (pid == 0)
		for (pid = 1; pid <= MACHINE_PIDS; pid++)
			fake_machine_tell(IMAGE_EVENT_FORK, pid)->scanned = true;
	else
		fake_machine_tell(IMAGE_EVENT_FORK, pid)->scanned = true;
}

void fake_machine_tell_scan(uint32_t pid, uint64_t number)
{
	fake_machine_tell(IMAGE_EVENT_FORK, pid)->scanned = true;
	fake_machine_tell_map(pid, number % MACHINE_PAGES,
			      1 + number % (MACHINE_PAGES - number % MACHINE_PAGES),
			      (int)(number % (MACHINE_IMAGES + 1)));
	fake_feed.events[fake_feed.count - 1].scanned = true;
}
