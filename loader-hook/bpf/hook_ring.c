// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/bpf/hook_ring.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/error.h"

int hook_ring_map(struct hook_ring *ring, int fd, size_t bytes, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	memset(ring, 0, sizeof(*ring));
	if (memory == MAP_FAILED)
		return error_set_errno(err, "cannot map a BPF ring buffer");
	ring->consumer = memory;
	ring->bytes = bytes;
	/* The kernel maps the data twice in a row, so that a record that wraps is contiguous. */
	memory = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (memory == MAP_FAILED) {
		int r = error_set_errno(err, "cannot map a BPF ring buffer");

		hook_ring_unmap(ring);
		return r;
	}
	ring->producer = memory;
	ring->data = (uint8_t *)memory + page;
	return 0;
}

void hook_ring_unmap(struct hook_ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (ring->consumer != NULL)
		munmap(ring->consumer, page);
	if (ring->producer != NULL)
		munmap(ring->producer, page + 2 * ring->bytes);
	memset(ring, 0, sizeof(*ring));
}

uint64_t hook_ring_malformed(const struct hook_ring *ring)
{
	return ring->malformed;
}

uint64_t hook_ring_end(const struct hook_ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
}

bool hook_ring_read(struct hook_ring *ring, uint64_t until, hook_ring_fn handle, void *context)
{
	uint64_t position = *ring->consumer;

	while (position < until) {
		const uint8_t *header = ring->data + (position & (ring->bytes - 1));
		uint32_t length = __atomic_load_n((const uint32_t *)header, __ATOMIC_ACQUIRE);
		uint64_t bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if ((length & BPF_RINGBUF_BUSY_BIT) != 0)
			return false;
		/*
		 * The kernel never does this; a longer record would reach past the second mapping
		 * of the data.
		 */
		if (bytes > ring->bytes - BPF_RINGBUF_HDR_SZ) {
			ring->malformed++;
			position = until;
		} else {
			if ((length & BPF_RINGBUF_DISCARD_BIT) == 0)
				handle(context, header + BPF_RINGBUF_HDR_SZ, bytes);
			position += (bytes + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
		}
		__atomic_store_n(ring->consumer, position, __ATOMIC_RELEASE);
	}
	return true;
}
