// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/perf/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* A record's size is a 16-bit number. */
#define RECORD_BYTES_MAX 65536

/* Largest mapping record, with the longest path; sample records may be larger. */
#define EVENT_BYTES_MAX 4608

/* read() returns the count and the values requested by the event's read_format. */
#define READ_VALUES_MAX 5

/*
 * Complete records, in order, that were moved out of the ring.
 *
 * @nearly_full_at: from this byte on the kernel may have had no room for another record
 */
struct ring_block {
	struct ring_block *next;
	uint64_t bytes;
	uint64_t nearly_full_at;
	_Alignas(8) uint8_t data[];
};

/*
 * The size of every record is a multiple of eight bytes, so a header never wraps.
 *
 * The owner reads either from the ring or from a block: @data, @data_bytes, @head, @position and
 * @last refer to that place.
 *
 * @ring, @ring_bytes: the kernel's memory
 * @lock:           protects the ring's tail, @first, @newest and @held
 * @first, @newest: list of blocks. Once a block existed, all records go through blocks.
 * @current, @end:  the block that is being read and the last one of this batch; NULL: none
 * @last_block:     the block of the record that perf_ring_next() returned last
 * @held:           bytes in blocks
 * @shorten:        NULL: records are kept as they are
 * @head:           end of the records that may be read
 * @position:       position of the record that perf_ring_next() returns next
 * @last:           position of the record that it returned last
 * @enabled_ns:     time enabled at the last perf_ring_stands()
 */
struct perf_ring {
	int fd;
	struct perf_event_mmap_page *control;
	size_t mapped_bytes;
	const uint8_t *ring;
	uint64_t ring_bytes;
	pthread_mutex_t lock;
	bool in_blocks;
	struct ring_block *first;
	struct ring_block *newest;
	struct ring_block *current;
	struct ring_block *end;
	struct ring_block *last_block;
	size_t held;
	perf_ring_shorten_fn shorten;
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

/* Used as the ring's length when a block is read, because blocks do not wrap. */
#define BLOCK_BYTES (1ULL << 62)

static int open_error(int errnum, struct error *err)
{
	errno = errnum;
	switch (errnum) {
	case EACCES:
	case EPERM:
		return error_set(
			err, errnum,
			"perf_event_open is not permitted: run as root, grant CAP_PERFMON, "
			"or lower /proc/sys/kernel/perf_event_paranoid (at 3, Debian's kernel "
			"asks for CAP_SYS_ADMIN)");
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
		return error_set(err, EINVAL,
				 "the size of a ring, %zu pages, is not a power of two", pages);
	ring = malloc(sizeof(*ring));
	if (ring == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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
	pthread_mutex_init(&ring->lock, NULL);
	ring->data = ring->ring = (const uint8_t *)mapping + page_bytes;
	ring->data_bytes = ring->ring_bytes = pages * page_bytes;
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

static void block_free(struct perf_ring *ring)
{
	struct ring_block *block = ring->first;

	ring->first = block->next;
	if (ring->first == NULL)
		ring->newest = NULL;
	ring->held -= block->bytes;
	free(block);
}

void perf_ring_close(struct perf_ring *ring)
{
	if (ring == NULL)
		return;
	while (ring->first != NULL)
		block_free(ring);
	pthread_mutex_destroy(&ring->lock);
	munmap(ring->control, ring->mapped_bytes);
	close(ring->fd);
	free(ring);
}

int perf_ring_fd(const struct perf_ring *ring)
{
	return ring->fd;
}

/* Atomic, because the reader thread may add while the owner reads the count. */
static void drop(struct perf_ring *ring, uint64_t bytes)
{
	__atomic_fetch_add(&ring->dropped, bytes, __ATOMIC_RELAXED);
}

static uint64_t published(const struct perf_ring *ring)
{
	return __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

static bool is_nearly_full(const struct perf_ring *ring, uint64_t bytes)
{
	return bytes + EVENT_BYTES_MAX > ring->ring_bytes;
}

static struct ring_block *block_create(const struct perf_ring *ring, uint64_t from, uint64_t bytes)
{
	struct ring_block *block = malloc(sizeof(*block) + bytes);
	uint64_t at = from & (ring->ring_bytes - 1), contiguous = ring->ring_bytes - at;

	if (block == NULL)
		return NULL;
	if (contiguous > bytes)
		contiguous = bytes;
	memcpy(block->data, ring->ring + at, contiguous);
	memcpy(block->data + contiguous, ring->ring, bytes - contiguous);
	block->next = NULL;
	block->bytes = bytes;
	block->nearly_full_at =
		ring->ring_bytes > EVENT_BYTES_MAX ? ring->ring_bytes - EVENT_BYTES_MAX : 0;
	return block;
}

/* Shorten the records of a block. A malformed record ends this; the rest stays as it is. */
static struct ring_block *block_shorten(const struct perf_ring *ring, struct ring_block *block)
{
	uint64_t from = 0, to = 0, bytes;
	struct ring_block *smaller;

	while (block->bytes - from >= sizeof(struct perf_event_header)) {
		struct perf_event_header *record = (void *)(block->data + from);
		uint16_t size = record->size;

		if (size < sizeof(*record) || size % 8 != 0 || size > block->bytes - from)
			break;
		record->size = ring->shorten(record);
		bytes = record->size;
		memmove(block->data + to, record, bytes);
		from += size;
		to += bytes;
	}
	memmove(block->data + to, block->data + from, block->bytes - from);
	/* The position from which on the ring was nearly full is lost. */
	block->nearly_full_at = 0;
	block->bytes = to + (block->bytes - from);
	smaller = realloc(block, sizeof(*block) + block->bytes);
	return smaller != NULL ? smaller : block;
}

void perf_ring_shorten(struct perf_ring *ring, perf_ring_shorten_fn shorten)
{
	ring->shorten = shorten;
}

static size_t collect_locked(struct perf_ring *ring)
{
	uint64_t from = ring->control->data_tail, head = published(ring), bytes = head - from;
	struct ring_block *block;

	if (bytes == 0)
		return 0;
	/* More cannot be published than the ring holds: the positions are corrupt. */
	if (bytes > ring->ring_bytes) {
		drop(ring, ring->ring_bytes);
		bytes = 0;
	} else {
		block = block_create(ring, from, bytes);
		if (block == NULL)
			return 0;
		if (ring->shorten != NULL)
			block = block_shorten(ring, block);
		if (ring->newest != NULL)
			ring->newest->next = block;
		else
			ring->first = block;
		ring->newest = block;
		ring->held += block->bytes;
	}
	__atomic_store_n(&ring->control->data_tail, head, __ATOMIC_RELEASE);
	return bytes;
}

size_t perf_ring_collect(struct perf_ring *ring)
{
	size_t bytes = 0;

	pthread_mutex_lock(&ring->lock);
	/* The owner may be reading the ring itself; records are moved only after that batch. */
	if (ring->in_blocks || !ring->in_batch) {
		bytes = collect_locked(ring);
		ring->in_blocks |= bytes != 0;
	}
	pthread_mutex_unlock(&ring->lock);
	return bytes;
}

size_t perf_ring_held(struct perf_ring *ring)
{
	size_t held;

	pthread_mutex_lock(&ring->lock);
	held = ring->held;
	pthread_mutex_unlock(&ring->lock);
	return held;
}

static void block_read(struct perf_ring *ring, struct ring_block *block, uint64_t position)
{
	ring->current = block;
	ring->data = block != NULL ? block->data : ring->ring;
	ring->data_bytes = block != NULL ? BLOCK_BYTES : ring->ring_bytes;
	ring->head = block != NULL ? block->bytes : 0;
	ring->position = ring->last = position;
}

/* The batch ends with the last record that the kernel has published. */
static void begin_blocks(struct perf_ring *ring)
{
	collect_locked(ring);
	ring->end = ring->newest;
	if (ring->current == NULL)
		block_read(ring, ring->first, 0);
}

static void begin_batch(struct perf_ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	ring->in_batch = true;
	if (ring->in_blocks)
		begin_blocks(ring);
	pthread_mutex_unlock(&ring->lock);
	if (ring->in_blocks)
		return;
	ring->head = published(ring);
	/* More cannot be published than the ring holds: the positions are corrupt. */
	if (ring->head - ring->position > ring->data_bytes) {
		drop(ring, ring->data_bytes);
		ring->position = ring->head;
	}
}

/* Return: the record in contiguous memory, or NULL if its size is impossible. */
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
	while (ring->position == ring->head && ring->current != ring->end)
		block_read(ring, ring->current->next, 0);
	if (ring->position == ring->head)
		return NULL;
	record = record_at(ring, ring->position);
	ring->last = ring->position;
	ring->last_block = ring->current;
	if (record == NULL) {
		/* The start of the next record is unknown. */
		drop(ring, ring->head - ring->position);
		ring->position = ring->last = ring->head;
		return NULL;
	}
	ring->position += record->size;
	return record;
}

void perf_ring_put_back(struct perf_ring *ring)
{
	if (ring->current != ring->last_block)
		block_read(ring, ring->last_block, ring->last);
	ring->position = ring->last;
}

static uint64_t tail_of(const struct perf_ring *ring)
{
	return __atomic_load_n(&ring->control->data_tail, __ATOMIC_ACQUIRE);
}

/* Return the bytes in the ring that are neither read nor in memory. */
static size_t perf_ring_waiting(const struct perf_ring *ring)
{
	/*
	 * Read the tail first: it may be moved meanwhile, but never past a head that is read later.
	 */
	uint64_t tail = tail_of(ring);

	return published(ring) - tail;
}

bool perf_ring_is_nearly_full(const struct perf_ring *ring, bool all)
{
	if (all)
		return is_nearly_full(ring, perf_ring_waiting(ring));
	if (ring->in_blocks)
		return ring->current != NULL && ring->position > ring->current->nearly_full_at;
	return is_nearly_full(ring, ring->position - tail_of(ring));
}

/* Free the blocks that were read; the current block stays if some of it has not been read. */
static void blocks_consumed(struct perf_ring *ring)
{
	if (ring->current == NULL)
		return;
	while (ring->first != ring->current)
		block_free(ring);
	if (ring->position == ring->head) {
		block_free(ring);
		block_read(ring, NULL, 0);
	}
	ring->end = NULL;
	ring->last_block = NULL;
}

void perf_ring_consumed(struct perf_ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	ring->last = ring->position;
	ring->in_batch = false;
	if (ring->in_blocks)
		blocks_consumed(ring);
	else
		__atomic_store_n(&ring->control->data_tail, ring->position, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ring->lock);
}

uint64_t perf_ring_dropped(struct perf_ring *ring)
{
	return __atomic_exchange_n(&ring->dropped, 0, __ATOMIC_RELAXED);
}

/*
 * The time enabled advances regardless of the CPU's load and of other users of the counters; an
 * event whose CPU went offline is not enabled.
 */
bool perf_ring_stands(struct perf_ring *ring)
{
	uint64_t values[READ_VALUES_MAX], before = ring->enabled_ns;

	if (read(ring->fd, values, sizeof(values)) < (ssize_t)(2 * sizeof(values[0])))
		return false;
	ring->enabled_ns = values[1];
	return values[1] == before;
}
