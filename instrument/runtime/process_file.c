// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime/process_file.h"

#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "instrument/runtime/runtime_system.h"

#define NAMES_MAX 1000

#define FEW_BLOCKS 16

#define PATH_BYTES (PROFILE_LAYOUT_PATH_BYTES + PROFILE_LAYOUT_NAME_BYTES + 48)

#define FILE_SIZE_LIMIT 1 /* RLIMIT_FSIZE */
#define ADVICE_POPULATE_WRITE 23

/* Words of struct stat, and indices into it. */
#define STATUS_WORDS 18
#define STATUS_DEVICE 0
#define STATUS_INODE 1

/* Indices into struct statfs, as an array of words. */
#define DISK_WORDS 16
#define DISK_BLOCK_BYTES 1
#define DISK_BLOCKS 2
#define DISK_LEFT 4

/* Find NAME=value in the environment of the program's start. Return: length of the value; 0: not
 * found. */
static uint32_t find_variable(const char *name, char *value, uint32_t bytes)
{
	long fd = CALL3(SYS_open, "/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
	uint32_t matched = 0, length = 0;
	char buffer[256];
	int begins = 1, copying = 0;
	long n;

	if (fd < 0)
		return 0;
	while ((n = CALL3(SYS_read, fd, buffer, sizeof(buffer))) > 0) {
		for (long i = 0; i < n; i++) {
			char c = buffer[i];

			if (c == '\0') {
				if (copying)
					goto out;
				begins = 1;
				matched = 0;
			} else if (copying) {
				if (length + 1 < bytes)
					value[length++] = c;
			} else if (begins && name[matched] == c) {
				copying = name[++matched] == '\0';
			} else {
				begins = 0;
			}
		}
	}
out:
	CALL1(SYS_close, fd);
	value[length] = '\0';
	return length;
}

static uint32_t append_text(char *out, uint32_t length, const char *text, uint32_t limit)
{
	for (uint32_t i = 0; i < limit && text[i] != '\0'; i++)
		out[length++] = text[i];
	out[length] = '\0';
	return length;
}

static uint32_t append_number(char *out, uint32_t length, uint64_t number)
{
	char digits[20];
	uint32_t count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	while (count > 0)
		out[length++] = digits[--count];
	out[length] = '\0';
	return length;
}

/* A relative name is in the current directory, if the path of that is short enough. */
void process_file_prefix(char prefix[PROFILE_LAYOUT_PATH_BYTES])
{
	char name[PROFILE_LAYOUT_PATH_BYTES];
	uint32_t bytes = find_variable("DCPIX_OUT=", name, sizeof(name)), length = 0;
	long here;

	if (bytes > 0 && name[0] != '/') {
		here = CALL2(SYS_getcwd, prefix, PROFILE_LAYOUT_PATH_BYTES);
		if (here > 0 && prefix[0] == '/' && here + bytes < PROFILE_LAYOUT_PATH_BYTES) {
			length = (uint32_t)here;
			prefix[length - 1] = '/';
		}
	}
	append_text(prefix, length, name, bytes);
}

/*
 * Form the name PATH.PID, or PATH.PID.N if N is not 0. DCPIX_OUT applies to all images of a
 * process: shared objects append their names.
 */
static void form_path(const struct profile_layout_state *state, const char *prefix,
		      uint32_t process, uint64_t suffix, char path[PATH_BYTES])
{
	uint32_t length = append_text(path, 0, prefix, PROFILE_LAYOUT_PATH_BYTES - 1);

	if (length == 0) {
		length = append_text(path, 0, state->path, PROFILE_LAYOUT_PATH_BYTES - 1);
	} else if (state->name[0] != '\0') {
		path[length++] = '.';
		length = append_text(path, length, state->name, PROFILE_LAYOUT_NAME_BYTES);
	}
	path[length++] = '.';
	length = append_number(path, length, process);
	if (suffix > 0) {
		path[length] = '.';
		append_number(path, length + 1, suffix);
	}
}

static int has_identity(const struct profile_layout_state *state, const uint64_t *status)
{
	return status[STATUS_INODE] == state->file_inode &&
	       status[STATUS_DEVICE] == state->file_device;
}

/* Create a file with a name that no process with the same id has used. */
static long create_file(struct profile_layout_state *state, const char *prefix,
			char path[PATH_BYTES])
{
	uint32_t process = (uint32_t)CALL1(SYS_getpid, 0);
	uint64_t status[STATUS_WORDS];
	long fd = -EEXIST;

	for (uint32_t n = 0; fd == -EEXIST && n < NAMES_MAX; n++) {
		form_path(state, prefix, process, n, path);
		fd = CALL3(SYS_open, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		state->file_suffix = n;
	}
	if (fd >= 0 && CALL2(SYS_fstat, fd, status) == 0) {
		state->file_inode = status[STATUS_INODE];
		state->file_device = status[STATUS_DEVICE];
	}
	return fd;
}

static void fill_header(struct profile_layout_header *header,
			const struct profile_layout_state *state)
{
	header->version = PROFILE_LAYOUT_VERSION;
	header->process = (uint32_t)CALL1(SYS_getpid, 0);
	header->image = state->image;
	header->counters = state->counters;
	header->block_bytes = state->block_bytes;
	header->area_bytes = state->area_bytes;
	header->mode = (uint32_t)state->mode;
	header->magic = PROFILE_LAYOUT_MAGIC;
}

static uint64_t bytes_of(const struct profile_layout_state *state, uint64_t blocks)
{
	return PROFILE_LAYOUT_PAGE + blocks * state->block_bytes;
}

/* Return the number of blocks to try after @blocks could not be mapped; @blocks is 0 at first. */
static uint32_t fewer_blocks(const struct profile_layout_state *state, uint32_t blocks)
{
	uint64_t wanted = PROFILE_LAYOUT_FILE_BYTES / state->block_bytes;

	if (blocks == 0)
		return wanted > PROFILE_LAYOUT_BLOCKS ? PROFILE_LAYOUT_BLOCKS
		       : wanted < FEW_BLOCKS	      ? FEW_BLOCKS
						      : (uint32_t)wanted;
	return blocks > FEW_BLOCKS ? FEW_BLOCKS : 1;
}

/* A file that grows beyond this limit would end the process by a signal. */
static uint64_t file_bytes_max(void)
{
	uint64_t limits[2];

	return CALL2(SYS_getrlimit, FILE_SIZE_LIMIT, limits) == 0 ? limits[0] : 0;
}

/* Set the size of the file. Return: true if it has that many blocks. */
static int set_blocks(struct profile_layout_state *state, long fd, uint64_t blocks)
{
	uint64_t bytes = bytes_of(state, blocks);

	if (bytes > file_bytes_max() || CALL2(SYS_ftruncate, fd, bytes) != 0)
		return 0;
	state->file_blocks = blocks;
	return 1;
}

/* Return the number of blocks that a file begins with. */
static uint64_t first_blocks(const struct profile_layout_state *state)
{
	uint64_t blocks = PROFILE_LAYOUT_FIRST_BYTES / state->block_bytes;

	if (blocks > PROFILE_LAYOUT_BLOCKS)
		return PROFILE_LAYOUT_BLOCKS;
	return blocks > 0 ? blocks : 1;
}

/*
 * @fd: a new file, or -1. Pages after the end of the file can be mapped, but not accessed until the
 * file has grown.
 */
static void map(struct profile_layout_state *state, long fd)
{
	int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;

	if (fd >= 0 && !set_blocks(state, fd, first_blocks(state)) && !set_blocks(state, fd, 1))
		return;

	for (uint32_t blocks = 0; state->region == 0 && blocks != 1;) {
		uint64_t bytes;
		long at;

		blocks = fewer_blocks(state, blocks);
		bytes = bytes_of(state, blocks);
		at = system_call6(SYS_mmap, 0, (long)bytes, PROT_READ_WRITE, flags, fd, 0);
		if (runtime_is_error(at))
			continue;
		/* The file need not be read. Without this advice, kernels would clear megabytes
		 * around each page. */
		CALL3(SYS_madvise, at, bytes, MADV_RANDOM);
		state->region = (uint64_t)at;
		state->region_blocks = blocks;
	}
	state->blocks_max = state->region_blocks;
	if (fd < 0 || state->file_blocks > state->region_blocks)
		state->file_blocks = state->region_blocks;
}

/* Open the file of this process, unless its name is that of another file by now. */
static long reopen_file(const struct profile_layout_state *state, const char *prefix)
{
	const struct profile_layout_header *header = (struct profile_layout_header *)state->region;
	uint64_t status[STATUS_WORDS];
	char path[PATH_BYTES];
	long fd;

	form_path(state, prefix, header->process, state->file_suffix, path);
	fd = CALL3(SYS_open, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	if (CALL2(SYS_fstat, fd, status) == 0 && has_identity(state, status))
		return fd;
	CALL1(SYS_close, fd);
	return -ENOENT;
}

int process_file_grow(struct profile_layout_state *state, const char *prefix, uint32_t block)
{
	uint64_t blocks = state->file_blocks + first_blocks(state);
	long fd;

	if (block < state->file_blocks)
		return 1;
	if (blocks <= block)
		blocks = (uint64_t)block + 1;
	if (blocks > state->blocks_max)
		blocks = state->blocks_max;
	fd = reopen_file(state, prefix);
	if (fd >= 0) {
		set_blocks(state, fd, blocks);
		CALL1(SYS_close, fd);
	}
	if (block >= state->file_blocks)
		state->blocks_max = state->file_blocks;
	return block < state->file_blocks;
}

/* Kernels before 5.14 do not know the advice: then space is assumed. */
static int hold(const struct profile_layout_state *state, uint64_t from, uint64_t bytes)
{
	long r = CALL3(SYS_madvise, state->region + from, bytes, ADVICE_POPULATE_WRITE);

	return r != -EFAULT && r != -ENOMEM;
}

int process_file_hold(const struct profile_layout_state *state, uint32_t block)
{
	return hold(state, bytes_of(state, block), state->block_bytes);
}

/*
 * Space is required for the header and for a whole block of counters. Modes whose tables are rarely
 * full require only that a block would fit now.
 */
static int has_room(const struct profile_layout_state *state, long fd)
{
	uint64_t disk[DISK_WORDS];

	if (!hold(state, 0, PROFILE_LAYOUT_PAGE))
		return 0;
	if (state->mode == PROFILE_LAYOUT_COUNTS) {
		long r = system_call6(SYS_fallocate, fd, 0, 0, (long)bytes_of(state, 1), 0, 0);

		/* Not all file systems support this: then reserve page by page. */
		return r == 0 || (r != -ENOSPC && r != -EDQUOT && process_file_hold(state, 0));
	}
	return CALL2(SYS_fstatfs, fd, disk) != 0 || disk[DISK_BLOCKS] == 0 ||
	       disk[DISK_LEFT] * disk[DISK_BLOCK_BYTES] >= state->block_bytes;
}

void process_file_map(struct profile_layout_state *state, const char *prefix, int is_secure)
{
	char path[PATH_BYTES];
	long fd = is_secure && !state->secure ? -1 : create_file(state, prefix, path);

	state->region = 0;
	if (fd >= 0) {
		map(state, fd);
		if (state->region != 0 && !has_room(state, fd))
			process_file_unmap(state);
		if (state->region == 0)
			CALL1(SYS_unlink, path);
		CALL1(SYS_close, fd);
	}
	if (state->region == 0 && state->mode != PROFILE_LAYOUT_COUNTS)
		map(state, -1);
	if (state->region != 0)
		fill_header((struct profile_layout_header *)state->region, state);
}

void process_file_unmap(struct profile_layout_state *state)
{
	if (state->region != 0)
		CALL2(SYS_munmap, state->region, bytes_of(state, state->region_blocks));
	state->region = 0;
}
