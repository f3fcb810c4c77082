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
 * Create PATH.PID, or PATH.PID.N if a process with the same id has run before. DCPIX_OUT applies to
 * all images of a process: shared objects append their names.
 */
static long create_file(const struct profile_layout_state *state, const char *prefix,
			char path[PATH_BYTES])
{
	uint32_t length = append_text(path, 0, prefix, PROFILE_LAYOUT_PATH_BYTES - 1);
	long fd = -EEXIST;

	if (length == 0) {
		length = append_text(path, 0, state->path, PROFILE_LAYOUT_PATH_BYTES - 1);
	} else if (state->name[0] != '\0') {
		path[length++] = '.';
		length = append_text(path, length, state->name, PROFILE_LAYOUT_NAME_BYTES);
	}
	path[length++] = '.';
	length = append_number(path, length, (uint64_t)CALL1(SYS_getpid, 0));
	for (uint32_t n = 0; fd == -EEXIST && n < NAMES_MAX; n++) {
		if (n > 0) {
			path[length] = '.';
			append_number(path, length + 1, n);
		}
		fd = CALL3(SYS_open, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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

/* @fd: a new file, or -1. */
static void map(struct profile_layout_state *state, long fd)
{
	uint64_t bytes_max = fd < 0 ? 0 : file_bytes_max();
	int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;

	for (uint32_t blocks = 0; state->region == 0 && blocks != 1;) {
		uint64_t bytes;
		long at = -1;

		blocks = fewer_blocks(state, blocks);
		bytes = bytes_of(state, blocks);

		if (fd < 0 || (bytes <= bytes_max && CALL2(SYS_ftruncate, fd, bytes) == 0))
			at = system_call6(SYS_mmap, 0, (long)bytes, PROT_READ_WRITE, flags, fd, 0);
		if (runtime_is_error(at))
			continue;
		/* The file need not be read. Without this advice, kernels would clear megabytes
		 * around each page. */
		CALL3(SYS_madvise, at, bytes, MADV_RANDOM);
		state->region = (uint64_t)at;
		state->region_blocks = blocks;
	}
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
