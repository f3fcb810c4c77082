// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime/thread_window.h"

#include <linux/errno.h>
#include <linux/mman.h>

#include "instrument/runtime/runtime.h"

#define ARCH_SET_GS 0x1001
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

static uint64_t base_of(int which)
{
	uint64_t base = 0;

	CALL2(SYS_arch_prctl, which, &base);
	return base;
}

static uint32_t thread_id(void)
{
	return (uint32_t)CALL1(SYS_gettid, 0);
}

/* --- ranges --------------------------------------------------------------- */

/* Private memory, all zero. @at: where; nobody else's may be there unless it is @ours. */
static int map_zeros(uint64_t at, uint64_t bytes, int ours)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		    (ours ? MAP_FIXED : MAP_FIXED_NOREPLACE);

	return system_call6(SYS_mmap, (long)at, (long)bytes, PROT_READ_WRITE, flags, -1, 0) ==
	       (long)at;
}

/* Of an image's file, in its header. Return: @image->region_blocks: there is none. */
static uint64_t take_block(const struct profile_layout_state *image, uint32_t number)
{
	struct profile_layout_header *header = (struct profile_layout_header *)image->region;

	if (image->region == 0)
		return image->region_blocks;
	if (number >= image->region_blocks) {
		header->shared++;
		/* Counts are better shared than lost; tables are not. */
		return image->mode == PROFILE_LAYOUT_COUNTS ? image->region_blocks - 1
							    : image->region_blocks;
	}
	header->owners[number] = thread_id();
	if (header->blocks <= number)
		header->blocks = number + 1;
	return number;
}

/* A thread without a block has memory there that nobody reads. */
static int map_block(const struct profile_layout_state *image, uint32_t number, uint64_t at)
{
	uint64_t block = take_block(image, number);
	uint64_t from = image->region + PROFILE_LAYOUT_PAGE + block * image->block_bytes;
	long bytes = (long)image->block_bytes;

	if (image->region == 0 || block >= image->region_blocks)
		return map_zeros(at, image->block_bytes, 1);
	if (system_call6(SYS_mremap, (long)from, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (long)at,
			 0) == (long)at)
		return 1;
	/* Emulators of a process may know only mappings that are moved. */
	if (system_call6(SYS_mremap, (long)from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
			 (long)at, 0) != (long)at)
		return 0;
	map_zeros(from, image->block_bytes, 0);
	return 1;
}

/* @why: RUNTIME_FORK: the private memory stays as it is. */
static void map(struct process_area *area, struct thread_window *window, uint32_t number,
		enum runtime_begin why)
{
	const struct profile_layout_state *image = &area->image[number];
	uint64_t at = (uint64_t)window + image->range;
	struct runtime_memory memory = runtime_memory_at(image, (uint64_t)window);
	int is_first = (window->mapped[number / 64] >> number % 64 & 1) == 0;
	int done = 1;

	/* Behind what could be reserved nobody has kept others away. */
	if (is_first && image->range + profile_layout_range_bytes(image) > window->bytes)
		done = map_zeros(at, profile_layout_range_bytes(image), 0);
	else if (why == RUNTIME_THREAD && image->head_bytes > 0)
		done = map_zeros(at, image->head_bytes, 1);
	if (!done || !map_block(image, window->number, at + image->head_bytes))
		RUNTIME_FAIL("no memory for a thread's counters");
	window->mapped[number / 64] |= UINT64_C(1) << number % 64;
	runtime_mode_begin(image, &memory, why);
}

void thread_window_map(struct process_area *area, struct thread_window *window, uint32_t image)
{
	if ((window->mapped[image / 64] >> image % 64 & 1) == 0)
		map(area, window, image, RUNTIME_THREAD);
}

static void map_again(struct process_area *area, struct thread_window *window,
		      enum runtime_begin why)
{
	for (uint32_t i = 0; i < area->images; i++) {
		if (window->mapped[i / 64] >> i % 64 & 1)
			map(area, window, i, why);
	}
}

/* --- windows -------------------------------------------------------------- */

static uint64_t reserve(uint64_t bytes)
{
	long at = system_call6(SYS_mmap, 0, (long)bytes, 0,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return runtime_is_error(at) ? 0 : (uint64_t)at;
}

/* If there is not room for all there may be, then for what there is. Return: 0: none. */
static uint64_t make_window(const struct process_area *area)
{
	uint64_t bytes = PROFILE_LAYOUT_WINDOW_BYTES, at = reserve(bytes);

	if (at == 0) {
		bytes = PROFILE_LAYOUT_RANGE;
		for (uint32_t i = 0; i < area->images; i++) {
			const struct profile_layout_state *image = &area->image[i];
			uint64_t end = image->range + profile_layout_range_bytes(image);

			if (end < PROFILE_LAYOUT_SHARED_RANGES && end > bytes)
				bytes = end;
		}
		at = reserve(bytes);
	}
	if (at == 0 || !map_zeros(at, PROFILE_LAYOUT_PAGE, 1))
		return 0;
	((struct thread_window *)at)->self = at;
	((struct thread_window *)at)->bytes = bytes;
	return at;
}

/* The window of a thread that has ended serves another one. Return: @limit: there is none. */
static uint32_t find_abandoned(const struct process_area *area, uint32_t limit)
{
	long process = CALL1(SYS_getpid, 0);

	for (uint32_t i = 0; i < limit; i++) {
		if (CALL3(SYS_tgkill, process, area->owners[i], 0) == -ESRCH)
			return i;
	}
	return limit;
}

/* Return: a number; a new one as long as there are blocks for it; with @shared: a live
 * thread's. */
static uint32_t choose(const struct process_area *area, int *shared)
{
	uint32_t number, limit = area->windows;

	if (limit < PROFILE_LAYOUT_BLOCKS)
		return limit;
	number = find_abandoned(area, PROFILE_LAYOUT_BLOCKS);
	if (number < PROFILE_LAYOUT_BLOCKS)
		return number;
	if (limit < PROCESS_AREA_WINDOWS)
		return limit;
	number = find_abandoned(area, limit);
	*shared = number == limit;
	return *shared ? limit - 1 : number;
}

static struct thread_window *take(struct process_area *area, uint64_t owner)
{
	int shared = 0;
	uint32_t number = choose(area, &shared);
	struct thread_window *window;

	if (number == area->windows) {
		area->addresses[number] = make_window(area);
		if (area->addresses[number] != 0) {
			area->windows++;
		} else {
			number = 0;
			shared = 1;
		}
	}
	window = (struct thread_window *)area->addresses[number];
	if (window == 0)
		RUNTIME_FAIL("no memory for a thread's counters");
	if (!shared) {
		window->owner = owner;
		window->number = number;
		area->owners[number] = thread_id();
		map_again(area, window, RUNTIME_THREAD);
	}
	CALL2(SYS_arch_prctl, ARCH_SET_GS, window);
	return window;
}

/*
 * %gs is inherited. The child of a vfork, until it goes on to another program, is the thread
 * that it is on the stack of.
 */
struct thread_window *thread_window_own(struct process_area *area)
{
	struct thread_window *window = (struct thread_window *)base_of(ARCH_GET_GS);
	uint64_t owner = base_of(ARCH_GET_FS);

	if (window == 0)
		return take(area, owner);
	if (area->process != (uint32_t)CALL1(SYS_getpid, 0))
		return window->owner == owner ? window : take(area, owner);
	if (area->owners[window->number] != thread_id())
		return take(area, owner);
	window->owner = owner;
	return window;
}

void thread_window_begin(struct process_area *area)
{
	struct thread_window *own = (struct thread_window *)base_of(ARCH_GET_GS);
	uint64_t owner = base_of(ARCH_GET_FS);
	enum runtime_begin why = own != 0 && own->owner == owner ? RUNTIME_FORK : RUNTIME_THREAD;

	area->process = (uint32_t)CALL1(SYS_getpid, 0);
	if (area->images == 0)
		return;
	for (uint32_t i = 0; i < area->windows; i++) {
		struct thread_window *window = (struct thread_window *)area->addresses[i];

		if (window != own && window != 0)
			CALL2(SYS_munmap, window, window->bytes);
		area->addresses[i] = 0;
	}
	for (uint32_t i = 0; i < area->images; i++) {
		process_file_unmap(&area->image[i]);
		process_file_map(&area->image[i]);
	}
	area->windows = own != 0;
	if (own == 0)
		return;
	area->addresses[0] = (uint64_t)own;
	area->owners[0] = thread_id();
	own->number = 0;
	own->owner = owner;
	map_again(area, own, why);
}
