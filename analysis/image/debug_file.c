// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <string.h>

#include "analysis/image/debug_server.h"
#include "analysis/image/file_stamps.h"
#include "analysis/image/image_elf.h"
#include "lib/cleanup.h"

/* Symbol tables are small: data that decompresses to more is not mini-debuginfo. */
#define MINI_BYTES_MAX (256U << 20)
#define MINI_MEMORY_MAX (128U << 20)

static bool same_build_id(const struct elf_file *file, const struct elf_file *other)
{
	const uint8_t *a = NULL, *b = NULL;
	size_t bytes = elf_file_build_id(file, &a);

	return bytes > 0 && bytes == elf_file_build_id(other, &b) && memcmp(a, b, bytes) == 0;
}

/* Opens @path if it belongs to the build-id of @elf. */
static int open_same(struct elf_file *ret, const struct elf_file *elf, const char *path,
		     struct file_stamps *stamps)
{
	struct elf_file file = {0};

	file_stamps_note(stamps, path);
	if (elf_file_open(&file, path, NULL) < 0)
		return -ENOENT;
	if (!same_build_id(elf, &file)) {
		elf_file_close(&file);
		return -ENOENT;
	}
	*ret = file;
	return 0;
}

char *debug_file_path(const char *directory, const uint8_t *id, size_t bytes, const char *suffix)
{
	size_t size = strlen(directory) + sizeof("/.build-id/") + 2 * bytes + 1 + strlen(suffix);
	char *path;
	int length;

	if (bytes < 2 || bytes > DEBUG_FILE_BUILD_ID_BYTES_MAX)
		return NULL;
	path = malloc(size);
	if (path == NULL)
		return NULL;
	length = snprintf(path, size, "%s/.build-id/%02x/", directory, id[0]);
	for (size_t i = 1; i < bytes; i++)
		length += snprintf(path + length, size - (size_t)length, "%02x", id[i]);
	snprintf(path + length, size - (size_t)length, "%s", suffix);
	return path;
}

static int open_by_build_id(struct elf_file *ret, const struct elf_file *elf, const char *directory,
			    struct file_stamps *stamps)
{
	const uint8_t *id = NULL;
	size_t bytes = elf_file_build_id(elf, &id);
	_cleanup_free_ char *path = debug_file_path(directory, id, bytes, ".debug");

	return path != NULL ? open_same(ret, elf, path, stamps) : -ENOENT;
}

static bool checksum_matches(const struct elf_file *file, uint32_t expected)
{
	uint8_t buffer[65536];
	uint64_t at = 0;
	uint32_t crc = 0;
	ssize_t bytes;

	while ((bytes = pread(file->fd, buffer, sizeof(buffer), (off_t)at)) > 0) {
		crc = lzma_crc32(buffer, (size_t)bytes, crc);
		at += (uint64_t)bytes;
	}
	return bytes == 0 && crc == expected;
}

static int open_linked(struct elf_file *ret, const struct elf_file *elf, const char *path,
		       uint32_t crc, struct file_stamps *stamps)
{
	struct elf_file file = {0};
	const uint8_t *id;

	if (elf_file_build_id(elf, &id) > 0)
		return open_same(ret, elf, path, stamps);
	file_stamps_note(stamps, path);
	if (elf_file_open(&file, path, NULL) < 0)
		return -ENOENT;
	if (!checksum_matches(&file, crc)) {
		elf_file_close(&file);
		return -ENOENT;
	}
	*ret = file;
	return 0;
}

static int open_by_link(struct elf_file *ret, const struct image_elf *image, const char *directory,
			struct file_stamps *stamps)
{
	const struct elf_file *elf = image_elf_file(image);
	const char *path = image_elf_profiled_path(image), *slash = strrchr(path, '/');
	int folder = slash != NULL ? (int)(slash - path) : 1;
	char candidate[PATH_MAX];
	const char *name;
	GElf_Word crc;

	name = dwelf_elf_gnu_debuglink(elf->elf, &crc);
	if (slash == NULL)
		path = ".";
	/* It must be a name and not a path, so that the link cannot lead elsewhere. */
	if (name == NULL || *name == '\0' || strchr(name, '/') != NULL)
		return -ENOENT;
	for (int place = 0; place < 3; place++) {
		int length = snprintf(candidate, sizeof(candidate), "%s%s%.*s%s/%s",
				      place == 2 ? directory : "",
				      place == 2 && slash == NULL ? "/" : "", folder, path,
				      place == 1 ? "/.debug" : "", name);

		if (length < 0 || (size_t)length >= sizeof(candidate))
			continue;
		if (open_linked(ret, elf, candidate, crc, stamps) == 0)
			return 0;
	}
	return -ENOENT;
}

/* Decompress one .xz stream. Return: malloc'd memory, or NULL. */
static void *unpack(const void *data, size_t bytes, size_t *unpacked)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t capacity = bytes < MINI_BYTES_MAX / 8 ? bytes * 8 + 4096 : MINI_BYTES_MAX;
	_cleanup_free_ uint8_t *memory = malloc(capacity);
	lzma_ret r = LZMA_OK;

	if (memory == NULL || lzma_stream_decoder(&stream, MINI_MEMORY_MAX, 0) != LZMA_OK)
		return NULL;
	stream.next_in = data;
	stream.avail_in = bytes;
	stream.next_out = memory;
	stream.avail_out = capacity;
	while ((r = lzma_code(&stream, LZMA_FINISH)) == LZMA_OK) {
		uint8_t *grown;

		if (stream.avail_out > 0 || capacity >= MINI_BYTES_MAX)
			break;
		grown = realloc(memory, capacity * 2);
		if (grown == NULL)
			break;
		memory = grown;
		stream.next_out = memory + capacity;
		stream.avail_out = capacity;
		capacity *= 2;
	}
	*unpacked = (size_t)stream.total_out;
	lzma_end(&stream);
	return r == LZMA_STREAM_END ? take_ptr(memory) : NULL;
}

static int open_mini(struct elf_file *ret, const struct elf_file *elf)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(elf, ".gnu_debugdata", &header);
	Elf_Data *data = section != NULL ? elf_rawdata(section, NULL) : NULL;
	size_t bytes = 0;
	void *memory;

	if (data == NULL || data->d_buf == NULL)
		return -ENOENT;
	memory = unpack(data->d_buf, data->d_size, &bytes);
	if (memory == NULL)
		return -ENOENT;
	return elf_file_from_memory(ret, memory, bytes) == 0 ? 0 : -ENOENT;
}

static int open_from_server(struct elf_file *ret, const struct elf_file *elf)
{
	const uint8_t *id = NULL;
	size_t bytes = elf_file_build_id(elf, &id);
	_cleanup_free_ char *path = debug_server_find(DEBUG_SERVER_DEBUGINFO, id, bytes);

	return path != NULL ? open_same(ret, elf, path, NULL) : -ENOENT;
}

int debug_file_open(struct elf_file *ret, const struct image_elf *image,
		    const struct debug_file_options *options)
{
	const struct elf_file *elf = image_elf_file(image);
	const char *directory = options->directory;

	if (directory == NULL)
		directory = DEBUG_FILE_DIRECTORY;
	if (open_by_build_id(ret, elf, directory, options->stamps) == 0 ||
	    open_by_link(ret, image, directory, options->stamps) == 0)
		return 0;
	/* Archives of dcpiexport have debug files in the store. */
	if (options->images != NULL &&
	    open_by_build_id(ret, elf, options->images, options->stamps) == 0)
		return 0;
	if (open_mini(ret, elf) == 0)
		return 0;
	return options->debuginfod ? open_from_server(ret, elf) : -ENOENT;
}
