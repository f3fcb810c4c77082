// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime/process_area.h"

#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/mman.h>

#include "instrument/runtime/process_file.h"
#include "instrument/runtime/runtime_system.h"

/* Size of the kernel's signal sets. */
#define SIGNAL_BYTES 8
#define HOW_BLOCK 0
#define HOW_SET 2
#define HOW_NONE 99

/*
 * The kernel reads the set before it checks the operation. If a filter forbids the system call, the
 * area is taken for readable: the process was not restricted at its start, and has been here then.
 */
static int can_be_read(const void *at)
{
	return system_call6(SYS_rt_sigprocmask, HOW_NONE, (long)at, 0, SIGNAL_BYTES, 0, 0) !=
	       -EFAULT;
}

static struct process_area *process_area_find(void)
{
	struct process_area *area = (struct process_area *)PROCESS_AREA_ADDRESS;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	long at = system_call6(SYS_mmap, (long)area, sizeof(*area), PROT_READ_WRITE, flags, -1, 0);

	if (at == (long)area) {
		CALL3(SYS_madvise, area, PROFILE_LAYOUT_PAGE, MADV_WIPEONFORK);
		return area;
	}
	if (!runtime_is_error(at)) /* a kernel that does not know the flag */
		CALL2(SYS_munmap, at, sizeof(*area));
	return can_be_read(&area->magic) && (area->magic == PROCESS_AREA_MAGIC || area->magic == 0)
		       ? area
		       : 0;
}

struct process_area *process_area_lock(uint64_t *signals)
{
	uint64_t all = UINT64_MAX;
	struct process_area *area = process_area_find();
	uint32_t was = 0;

	if (area == 0)
		RUNTIME_FAIL("the addresses that rewritten images share are in use");
	system_call6(SYS_rt_sigprocmask, HOW_BLOCK, (long)&all, (long)signals, SIGNAL_BYTES, 0, 0);
	if (!__atomic_compare_exchange_n(&area->lock, &was, 1, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED)) {
		while (__atomic_exchange_n(&area->lock, 2, __ATOMIC_ACQUIRE) != 0)
			system_call6(SYS_futex, (long)&area->lock, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
	}
	area->magic = PROCESS_AREA_MAGIC;
	return area;
}

void process_area_unlock(struct process_area *area, uint64_t signals)
{
	if (__atomic_exchange_n(&area->lock, 0, __ATOMIC_RELEASE) == 2)
		CALL3(SYS_futex, &area->lock, FUTEX_WAKE_PRIVATE, 1);
	system_call6(SYS_rt_sigprocmask, HOW_SET, (long)&signals, 0, SIGNAL_BYTES, 0, 0);
}

/* --- ranges --------------------------------------------------------------- */

static int is_free(const struct process_area *area, uint64_t first, uint64_t bytes)
{
	if (first > PROFILE_LAYOUT_WINDOW_BYTES || bytes > PROFILE_LAYOUT_WINDOW_BYTES - first)
		return 0;
	for (uint32_t i = 0; i < area->images; i++) {
		const struct profile_layout_state *other = &area->image[i];

		if (first < other->range + profile_layout_range_bytes(other) &&
		    other->range < first + bytes)
			return 0;
	}
	return 1;
}

/* Return the image's own range if it is free, else the first free one. Images that cannot be moved
 * come first. */
static uint64_t find_range(const struct process_area *area,
			   const struct profile_layout_state *state)
{
	uint64_t bytes = profile_layout_range_bytes(state), best = 0;

	if (is_free(area, state->range, bytes))
		return state->range;
	if (state->sites == 0)
		return 0;
	if (is_free(area, PROFILE_LAYOUT_SHARED_RANGES, bytes))
		return PROFILE_LAYOUT_SHARED_RANGES;
	for (uint32_t i = 0; i < area->images; i++) {
		const struct profile_layout_state *other = &area->image[i];
		uint64_t after = other->range + profile_layout_range_bytes(other);

		if (after >= PROFILE_LAYOUT_SHARED_RANGES && (best == 0 || after < best) &&
		    is_free(area, after, bytes))
			best = after;
	}
	return best;
}

static uint64_t read_distance(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = *(*at)++;
		value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	return value;
}

/* Operand of an instruction, at any address. */
struct operand {
	uint32_t value;
} __attribute__((packed, may_alias));

static void copy_state(struct profile_layout_state *to, const struct profile_layout_state *from)
{
	for (uint64_t i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
		((volatile uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

/* No thread executes the code that is changed, and this function is not part of it. */
static void move(struct profile_layout_state *state, uint64_t range)
{
	uint8_t *at = (uint8_t *)state + state->code;
	const uint8_t *sites = (const uint8_t *)state + state->sites;
	const uint8_t *end = sites + state->sites_bytes;
	uint32_t by = (uint32_t)(range - state->range);

	if (CALL3(SYS_mprotect, at, state->code_bytes, PROT_READ_WRITE) != 0)
		RUNTIME_FAIL("a library's counters cannot be moved");
	while (sites < end) {
		at += read_distance(&sites);
		((struct operand *)at)->value += by;
	}
	if (CALL3(SYS_mprotect, (uint8_t *)state + state->code, state->code_bytes,
		  PROT_READ_EXECUTE) != 0)
		RUNTIME_FAIL("a library's code is no longer executable");
	state->range = range;
}

uint32_t process_area_add(struct process_area *area, struct profile_layout_state *state)
{
	struct profile_layout_state *image;
	uint64_t range;
	uint32_t i = 0;

	while (i < area->images && area->image[i].image != state->image)
		i++;
	image = &area->image[i];
	range = i < area->images ? image->range : find_range(area, state);
	if (i == PROCESS_AREA_IMAGES || range == 0)
		RUNTIME_FAIL("too many rewritten libraries in one process");
	if (range != state->range)
		move(state, range);
	if (i == area->images) {
		copy_state(image, state);
		process_file_map(image, area->prefix, area->secure != 0);
		__atomic_store_n(&area->images, i + 1, __ATOMIC_RELEASE);
	}
	return i;
}
