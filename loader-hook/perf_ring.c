// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"

/* A record's size is a 16-bit number. */
#define RECORD_BYTES_MAX 65536

/* A mapping's, with the longest path; those of samples may be larger. */
#define EVENT_BYTES_MAX 4608

/* What read() may give: the count, then whatever the event's read_format asks for. */
#define READ_VALUES_MAX 5

/*
 * All records are multiples of eight bytes, so that a header never wraps.
 *
 * @head:     what the kernel had published when the batch began
 * @position: of the record that perf_ring_next() returns next
 * @last:     of the one it returned last
 * @enabled_ns: when perf_ring_stands() was asked last
 */
struct perf_ring {
	int fd;
	struct perf_event_mmap_page *control;
	size_t mapped_bytes;
	const uint8_t *data;
	uint64_t data_bytes;
	uint64_t head;
	uint64_t position;
	uint64_t last;
	bool in_batch;
	uint64_t dropped;
	uint64_t enabled_ns;
	_Alignas(8) uint8_t wrapped[RECORD_BYTES_MAX];
};

static int open_error(int errnum, struct error *err)
{
	errno = errnum;
	switch (errnum) {
	case EACCES:
	case EPERM:
		return error_set(
			err, errnum,
			"perf_event_open is not permitted: run as root, grant CAP_PERFMON, "
			"or lower /proc/sys/kernel/perf_event_paranoid");
	case ENOENT:
	case EOPNOTSUPP:
		return error_set(err, errnum, "this machine does not have the event");
	case EMFILE:
		return error_set(err, errnum,
				 "too many open files: raise the limit (ulimit -n, LimitNOFILE=)");
	case ENOSYS:
		return error_set(err, errnum, "this kernel has no perf_event_open");
	default:
		return error_set_errno(err, "perf_event_open failed");
	}
}

int perf_ring_map(struct perf_ring **ret, int fd, size_t pages, struct error *err)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (pages + 1) * page_bytes;
	struct perf_ring *ring;
	void *mapping;

	if (pages == 0 || (pages & (pages - 1)) != 0 || pages > SIZE_MAX / 2 / page_bytes)
		return error_set(err, EINVAL, "a ring of %zu pages is not a power of two", pages);
	ring = malloc(sizeof(*ring));
	if (ring == NULL)
		return error_set(err, ENOMEM, "out of memory");
	mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapping == MAP_FAILED) {
		int result = error_set_errno(
			err,
			errno == EPERM ? "cannot map a ring of %zu pages: raise "
					 "/proc/sys/kernel/perf_event_mlock_kb or the limit "
					 "of locked memory"
				       : "cannot map a ring of %zu pages",
			pages);

		free(ring);
		return result;
	}
	memset(ring, 0, offsetof(struct perf_ring, wrapped));
	ring->fd = fd;
	ring->control = mapping;
	ring->mapped_bytes = bytes;
	ring->data = (const uint8_t *)mapping + page_bytes;
	ring->data_bytes = pages * page_bytes;
	ring->position = ring->last = ring->control->data_tail;
	ring->enabled_ns = UINT64_MAX;
	*ret = ring;
	return 0;
}

int perf_ring_open(struct perf_ring **ret, const struct perf_event_attr *attr, int pid, int cpu,
		   size_t pages, struct error *err)
{
	struct perf_event_attr own = *attr;
	_cleanup_close_ int fd = -1;
	int result;

	own.size = sizeof(own);
	fd = (int)syscall(SYS_perf_event_open, &own, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return open_error(errno, err);
	result = perf_ring_map(ret, fd, pages, err);
	if (result == 0)
		fd = -1;
	return result;
}

void perf_ring_close(struct perf_ring *ring)
{
	if (ring == NULL)
		return;
	munmap(ring->control, ring->mapped_bytes);
	close(ring->fd);
	free(ring);
}

int perf_ring_fd(const struct perf_ring *ring)
{
	return ring->fd;
}

static void begin_batch(struct perf_ring *ring)
{
	ring->head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	ring->in_batch = true;
	/* The kernel never gets further ahead than the ring is long. */
	if (ring->head - ring->position > ring->data_bytes) {
		ring->dropped += ring->data_bytes;
		ring->position = ring->head;
	}
}

/* The record as one piece, or NULL if its size cannot be true. */
static const struct perf_event_header *record_at(struct perf_ring *ring, uint64_t position)
{
	uint64_t offset = position & (ring->data_bytes - 1);
	uint64_t contiguous = ring->data_bytes - offset;
	struct perf_event_header header;

	if (ring->head - position < sizeof(header) || contiguous < sizeof(header))
		return NULL;
	memcpy(&header, ring->data + offset, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 != 0 ||
	    header.size > ring->head - position)
		return NULL;
	if (header.size <= contiguous)
		return (const void *)(ring->data + offset);
	memcpy(ring->wrapped, ring->data + offset, contiguous);
	memcpy(ring->wrapped + contiguous, ring->data, header.size - contiguous);
	return (const void *)ring->wrapped;
}

const struct perf_event_header *perf_ring_next(struct perf_ring *ring)
{
	const struct perf_event_header *record;

	if (!ring->in_batch)
		begin_batch(ring);
	if (ring->position == ring->head)
		return NULL;
	record = record_at(ring, ring->position);
	ring->last = ring->position;
	if (record == NULL) {
		/* Where the next record begins is not known. */
		ring->dropped += ring->head - ring->position;
		ring->position = ring->last = ring->head;
		return NULL;
	}
	ring->position += record->size;
	return record;
}

void perf_ring_put_back(struct perf_ring *ring)
{
	ring->position = ring->last;
}

bool perf_ring_pressed(const struct perf_ring *ring, bool all)
{
	uint64_t end =
		all ? __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE) : ring->position;

	return end - ring->control->data_tail + EVENT_BYTES_MAX > ring->data_bytes;
}

void perf_ring_consumed(struct perf_ring *ring)
{
	ring->last = ring->position;
	ring->in_batch = false;
	__atomic_store_n(&ring->control->data_tail, ring->position, __ATOMIC_RELEASE);
}

uint64_t perf_ring_dropped(struct perf_ring *ring)
{
	uint64_t dropped = ring->dropped;

	ring->dropped = 0;
	return dropped;
}

/*
 * The time enabled goes on whatever the CPU does, and if others have the counters; an
 * event without a CPU is not enabled.
 */
bool perf_ring_stands(struct perf_ring *ring)
{
	uint64_t values[READ_VALUES_MAX], before = ring->enabled_ns;

	if (read(ring->fd, values, sizeof(values)) < (ssize_t)(2 * sizeof(values[0])))
		return false;
	ring->enabled_ns = values[1];
	return values[1] == before;
}
