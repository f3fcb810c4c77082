// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime/thread_window.h"

#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "instrument/runtime/process_file.h"
#include "instrument/runtime/runtime_mode.h"
#include "instrument/runtime/runtime_system.h"

#define ARCH_SET_GS 0x1001
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

#define NO_THREAD UINT32_MAX
#define AUXILIARY_ENTRIES 64
#define CONTROL_GET_AUXILIARY 0x41555856 /* PR_GET_AUXV, since Linux 6.4 */
#define AUXILIARY_SECURE 23
#define AUXILIARY_HWCAP2 26
#define HWCAP2_FSGSBASE 2

/* Read the auxiliary vector. Not every process may read its own file in /proc. Return: number of
 * bytes. */
static long read_auxiliary(void *entries, uint64_t size)
{
	long fd = CALL3(SYS_open, "/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
	long bytes = -1;

	if (fd >= 0) {
		bytes = CALL3(SYS_read, fd, entries, size);
		CALL1(SYS_close, fd);
	}
	if (bytes <= 0)
		bytes = system_call6(SYS_prctl, CONTROL_GET_AUXILIARY, (long)entries, (long)size, 0,
				     0, 0);
	return bytes < (long)size ? bytes : (long)size;
}

/*
 * Find out if the bases can be accessed without the kernel, which may forbid the system call later.
 * Find out also if the process has more rights than the user that started it. If not, the
 * environment names the files.
 */
static void read_rights(struct process_area *area)
{
	uint64_t entries[AUXILIARY_ENTRIES][2];
	long bytes = read_auxiliary(entries, sizeof(entries));

	area->secure = 1;
	for (long i = 0; i < bytes / (long)sizeof(*entries); i++) {
		if (entries[i][0] == AUXILIARY_HWCAP2)
			area->direct = (entries[i][1] & HWCAP2_FSGSBASE) != 0;
		else if (entries[i][0] == AUXILIARY_SECURE)
			area->secure = entries[i][1];
	}
	if (!area->secure)
		process_file_prefix(area->prefix);
}

/*
 * Return a base without a system call. The memory at the %fs base contains its own address, and so
 * does a window. Once there is a window, all threads have one as their %gs base, except older
 * threads.
 */
static uint64_t base_from_memory(const struct process_area *area, int which)
{
	uint64_t base = 0;

	if (which == ARCH_GET_FS)
		__asm__ volatile("movq %%fs:0, %0" : "=r"(base));
	else if (area->windows > 0)
		base = thread_window_base();
	return base;
}

static uint64_t base_of(const struct process_area *area, int which)
{
	uint64_t base = 0;

	if (!area->direct) {
		if (runtime_is_error(CALL2(SYS_arch_prctl, which, &base)))
			base = base_from_memory(area, which);
	} else if (which == ARCH_GET_FS)
		__asm__ volatile("rdfsbase %0" : "=r"(base));
	else
		__asm__ volatile("rdgsbase %0" : "=r"(base));
	return base;
}

/* Return: true if the base could be set. */
static int set_window(const struct process_area *area, struct thread_window *window)
{
	if (!area->direct)
		return CALL2(SYS_arch_prctl, ARCH_SET_GS, window) == 0;
	__asm__ volatile("wrgsbase %0" : : "r"(window) : "memory");
	return 1;
}

/* Return: UINT32_MAX if the program is not permitted to make the system call. */
static uint32_t thread_id(void)
{
	long id = CALL1(SYS_gettid, 0);

	return id > 0 ? (uint32_t)id : NO_THREAD;
}

/* --- ranges --------------------------------------------------------------- */

/* Map private memory, filled with zeros. @at: address; other mappings must not be there, unless
 * they are @ours. */
static int map_zeros(uint64_t at, uint64_t bytes, int ours)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		    (ours ? MAP_FIXED : MAP_FIXED_NOREPLACE);

	return system_call6(SYS_mmap, (long)at, (long)bytes, PROT_READ_WRITE, flags, -1, 0) ==
	       (long)at;
}

/* Take a block in the header of an image's file. Return: @image->blocks_max if there is no block.
 */
static uint64_t thread_window_take_block(struct profile_layout_state *image, const char *prefix,
					 uint32_t number)
{
	struct profile_layout_header *header = (struct profile_layout_header *)image->region;

	if (image->region == 0)
		return image->blocks_max;
	if (number >= image->blocks_max || !process_file_grow(image, prefix, number)) {
		header->shared++;
		/* Counts that are shared are better than lost ones; tables cannot be shared. */
		return image->mode == PROFILE_LAYOUT_COUNTS ? image->blocks_max - 1
							    : image->blocks_max;
	}
	if (image->mode == PROFILE_LAYOUT_COUNTS && number > 0 &&
	    !process_file_hold(image, number)) {
		header->shared++;
		return image->blocks_max;
	}
	header->owners[number] = thread_id();
	if (header->blocks <= number)
		header->blocks = number + 1;
	return number;
}

/* A thread without a block gets memory there that is never read. */
static int map_block(struct profile_layout_state *image, const char *prefix, uint32_t number,
		     uint64_t at)
{
	uint64_t block = thread_window_take_block(image, prefix, number);
	uint64_t from = image->region + PROFILE_LAYOUT_PAGE + block * image->block_bytes;
	long bytes = (long)image->block_bytes;

	if (image->region == 0 || block >= image->blocks_max)
		return map_zeros(at, image->block_bytes, 1);
	if (system_call6(SYS_mremap, (long)from, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (long)at,
			 0) == (long)at)
		return 1;
	/* Emulators of a process may support only mappings that are moved. */
	if (system_call6(SYS_mremap, (long)from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
			 (long)at, 0) != (long)at)
		return map_zeros(at, image->block_bytes, 1);
	map_zeros(from, image->block_bytes, 0);
	return 1;
}

/*
 * @forked: in the child of a fork: private memory stays unchanged, and so does all memory that
 *          cannot be replaced. Return: true if there is memory.
 */
static int map(struct process_area *area, struct thread_window *window, uint32_t number, int forked)
{
	struct profile_layout_state *image = &area->image[number];
	uint64_t at = (uint64_t)window + image->range;
	struct runtime_memory memory = runtime_memory_at(image, (uint64_t)window);
	int is_first = (window->mapped[number / 64] >> number % 64 & 1) == 0;
	int done = 1;

	/* Beyond the reserved address space there may be other mappings. */
	if (is_first && image->range + profile_layout_range_bytes(image) > window->bytes)
		done = map_zeros(at, profile_layout_range_bytes(image), 0);
	else if (!forked && image->head_bytes > 0)
		done = map_zeros(at, image->head_bytes, 1);
	if ((!done || !map_block(image, area->prefix, window->number, at + image->head_bytes)) &&
	    !forked)
		return 0;
	window->mapped[number / 64] |= UINT64_C(1) << number % 64;
	runtime_mode_begin(image, &memory);
	return 1;
}

void thread_window_map(struct process_area *area, struct thread_window *window, uint32_t image)
{
	if ((window->mapped[image / 64] >> image % 64 & 1) == 0 && !map(area, window, image, 0))
		RUNTIME_FAIL("no memory for a thread's counters");
}

static int map_again(struct process_area *area, struct thread_window *window, int forked)
{
	int done = 1;

	for (uint32_t i = 0; i < area->images; i++) {
		if (window->mapped[i / 64] >> i % 64 & 1)
			done &= map(area, window, i, forked);
	}
	return done;
}

/* --- windows -------------------------------------------------------------- */

static uint64_t thread_window_reserve(uint64_t bytes)
{
	long at = system_call6(SYS_mmap, 0, (long)bytes, 0,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return runtime_is_error(at) ? 0 : (uint64_t)at;
}

/* Without room for a window of full size, make one for the present images. Return: 0 without any
 * room. */
static uint64_t make_window(const struct process_area *area)
{
	uint64_t bytes = PROFILE_LAYOUT_WINDOW_BYTES, at = thread_window_reserve(bytes);

	if (at == 0) {
		bytes = PROFILE_LAYOUT_RANGE;
		for (uint32_t i = 0; i < area->images; i++) {
			const struct profile_layout_state *image = &area->image[i];
			uint64_t end = image->range + profile_layout_range_bytes(image);

			if (end < PROFILE_LAYOUT_SHARED_RANGES && end > bytes)
				bytes = end;
		}
		at = thread_window_reserve(bytes);
	}
	if (at == 0 || !map_zeros(at, PROFILE_LAYOUT_PAGE, 1))
		return 0;
	((struct thread_window *)at)->self = at;
	((struct thread_window *)at)->bytes = bytes;
	((struct thread_window *)at)->no_state = UINT32_MAX;
	return at;
}

/*
 * Find the window of a thread that has ended, for another thread. The calling process may be
 * another one that shares this memory. Return: @limit if there is no such window.
 */
static uint32_t find_abandoned(const struct process_area *area, uint32_t limit)
{
	for (uint32_t i = 0; i < limit; i++) {
		if (CALL3(SYS_tgkill, area->process, area->owners[i], 0) == -ESRCH)
			return i;
	}
	return limit;
}

/* Return the number of threads that can have a block of each image. */
static uint32_t blocks_of_all(const struct process_area *area)
{
	uint64_t blocks = PROFILE_LAYOUT_BLOCKS;

	for (uint32_t i = 0; i < area->images; i++) {
		if (area->image[i].region != 0 && area->image[i].blocks_max < blocks)
			blocks = area->image[i].blocks_max;
	}
	return (uint32_t)blocks;
}

/*
 * Choose a window for a thread. Windows with blocks come first. Return: its number: a new one as
 * long as there are blocks for it. If there are many windows, only a part of their threads is
 * tested for having ended. @shared: out: the window is that of a live thread.
 */
static uint32_t thread_window_choose(const struct process_area *area, int *shared)
{
	uint32_t number, limit = area->windows;
	uint32_t tested = limit < PROFILE_LAYOUT_BLOCKS ? limit : PROFILE_LAYOUT_BLOCKS;

	if (limit < blocks_of_all(area))
		return limit;
	number = find_abandoned(area, tested);
	if (number < tested)
		return number;
	if (limit < PROCESS_AREA_WINDOWS)
		return limit;
	number = find_abandoned(area, limit);
	*shared = number == limit;
	return *shared ? limit - 1 : number;
}

/* Return: 0 if there is no memory for a window. */
static struct thread_window *take_own(struct process_area *area, uint32_t number, uint64_t owner)
{
	int is_new = number == area->windows;
	uint64_t at = is_new ? make_window(area) : area->addresses[number];
	struct thread_window *window = (struct thread_window *)at;

	if (window == 0)
		return 0;
	window->owner = owner;
	window->number = number;
	if (!map_again(area, window, 0)) {
		if (is_new)
			CALL2(SYS_munmap, window, window->bytes);
		return 0;
	}
	area->addresses[number] = at;
	area->owners[number] = thread_id();
	area->windows += (uint32_t)is_new;
	return window;
}

/* A thread without memory for a window shares the first one. */
static struct thread_window *thread_window_take(struct process_area *area, uint64_t owner)
{
	int shared = 0;
	uint32_t number = thread_window_choose(area, &shared);
	struct thread_window *window = shared ? (struct thread_window *)area->addresses[number]
					      : take_own(area, number, owner);

	if (window == 0)
		window = (struct thread_window *)area->addresses[0];
	if (window == 0)
		RUNTIME_FAIL("no memory for a thread's counters");
	/* The inherited window of another thread serves as well, but there is none at first. */
	if (!set_window(area, window) && number == 0)
		RUNTIME_FAIL("a thread's register cannot be set");
	return window;
}

/*
 * %gs is inherited. Until it executes another program, the child of a vfork is the thread whose
 * stack it uses.
 */
struct thread_window *thread_window_own(struct process_area *area)
{
	struct thread_window *window = (struct thread_window *)base_of(area, ARCH_GET_GS);
	uint64_t owner = base_of(area, ARCH_GET_FS);

	if (window == 0)
		return thread_window_take(area, owner);
	if (area->process != (uint32_t)CALL1(SYS_getpid, 0))
		return window->owner == owner ? window : thread_window_take(area, owner);
	if (area->owners[window->number] != thread_id() ||
	    (thread_id() == NO_THREAD && window->owner != owner))
		return thread_window_take(area, owner);
	window->owner = owner;
	return window;
}

void thread_window_begin(struct process_area *area)
{
	struct thread_window *own;
	uint64_t owner;
	int forked;

	area->process = (uint32_t)CALL1(SYS_getpid, 0);
	if (area->images == 0) {
		read_rights(area);
		return;
	}
	own = (struct thread_window *)base_of(area, ARCH_GET_GS);
	owner = base_of(area, ARCH_GET_FS);
	forked = own != 0 && own->owner == owner;
	for (uint32_t i = 0; i < area->windows; i++) {
		struct thread_window *window = (struct thread_window *)area->addresses[i];

		if (window != own && window != 0)
			CALL2(SYS_munmap, window, window->bytes);
		area->addresses[i] = 0;
	}
	for (uint32_t i = 0; i < area->images; i++) {
		process_file_unmap(&area->image[i]);
		process_file_map(&area->image[i], area->prefix, area->secure != 0);
	}
	area->windows = own != 0;
	if (own == 0)
		return;
	area->addresses[0] = (uint64_t)own;
	area->owners[0] = thread_id();
	own->number = 0;
	own->owner = owner;
	map_again(area, own, forked);
}
