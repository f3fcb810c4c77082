// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/program_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/elf_file.h"
#include "instrument/mode/burst_switch_placement.h"
#include "lib/cache_folder.h"
#include "lib/cleanup.h"

#define BYTES_MAX (UINT64_C(512) << 20)

/* FNV-1a: it distinguishes programs of the same user, so there is no reason to forge a hash. */
static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return text != NULL ? mix(hash, text, strlen(text) + 1) : mix(hash, "\1", 2);
}

static uint64_t mix_build_id(uint64_t hash, const char *path)
{
	struct elf_file file;
	const uint8_t *id;
	size_t bytes;

	if (elf_file_open(&file, path, NULL) < 0)
		return hash;
	bytes = elf_file_build_id(&file, &id);
	hash = mix(hash, id, bytes);
	elf_file_close(&file);
	return hash;
}

static uint64_t mix_mode(uint64_t hash, const struct mode_options *options)
{
	char placement[BURST_SWITCH_PLACEMENT_NAME_BYTES] = "";

	if (options->placement != NULL)
		burst_switch_placement_name(placement, options->placement);
	hash = mix(hash, &options->checks, sizeof(options->checks));
	hash = mix(hash, &options->burst, sizeof(options->burst));
	hash = mix(hash, &options->all, sizeof(options->all));
	hash = mix(hash, &options->room, sizeof(options->room));
	hash = mix(hash, &options->whole, sizeof(options->whole));
	hash = mix(hash, &options->sites, sizeof(options->sites));
	return mix_text(hash, placement);
}

/* Return: false without a build-id. */
static bool build_id_text(const char *path, char *text, size_t room)
{
	struct elf_file file;
	const uint8_t *id;
	size_t bytes, length = 0;

	if (elf_file_open(&file, path, NULL) < 0)
		return false;
	bytes = elf_file_build_id(&file, &id);
	for (size_t i = 0; i < bytes && length + 3 < room; i++)
		length += (size_t)snprintf(text + length, room - length, "%02x", id[i]);
	elf_file_close(&file);
	return length > 0;
}

static uint64_t fingerprint(const char *program, const struct stat *status,
			    const struct rewriter_options *options)
{
	_cleanup_free_ char *path = realpath(program, NULL);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = mix_text(hash, path);
	hash = mix(hash, &status->st_size, sizeof(status->st_size));
	hash = mix(hash, &status->st_mtim.tv_sec, sizeof(status->st_mtim.tv_sec));
	hash = mix(hash, &status->st_mtim.tv_nsec, sizeof(status->st_mtim.tv_nsec));
	hash = mix_text(hash, options->mode != NULL ? options->mode->name : NULL);
	hash = mix_text(hash, options->of_mode.metric);
	hash = mix_mode(hash, &options->of_mode);
	hash = mix_text(hash, options->debug);
	hash = mix(hash, &options->secure, sizeof(options->secure));
	return mix_build_id(hash, "/proc/self/exe");
}

/* A file that others could write is not executed. */
static bool is_ours(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return false;
	cache_folder_touch(fd);
	return true;
}

void program_cache_find(struct program_cache *ret, const char *program,
			const struct rewriter_options *options)
{
	_cleanup_free_ char *folder = cache_folder_path("programs", "DCPIX_CACHE");
	char *path, *part, *text, id[160];
	struct stat status;

	*ret = (struct program_cache){0};
	if (folder == NULL || stat(program, &status) < 0 ||
	    (status.st_mode & (S_ISUID | S_ISGID)) != 0 || !build_id_text(program, id, sizeof(id)))
		return;
	if (asprintf(&path, "%s/%s-%016" PRIx64, folder, id,
		     fingerprint(program, &status, options)) < 0)
		return;
	if (asprintf(&text, "%s.text", path) < 0) {
		free(path);
		return;
	}
	if (asprintf(&part, "%s.part%d", path, (int)getpid()) < 0) {
		free(path);
		free(text);
		return;
	}
	*ret = (struct program_cache){.path = path, .part = part, .text = text};
	cache_folder_make(part);
	ret->found = is_ours(path) && is_ours(text);
}

static bool write_text(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t bytes = strlen(text);

	return fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes;
}

/* The program is moved last: if it exists, the text exists as well. */
bool program_cache_keep(struct program_cache *cache, const char *text)
{
	unlink(cache->text);
	if (!write_text(cache->text, text) || chmod(cache->part, 0700) < 0 ||
	    rename(cache->part, cache->path) < 0) {
		unlink(cache->text);
		return false;
	}
	cache_folder_expire(cache->path, BYTES_MAX);
	cache->found = true;
	return true;
}

void program_cache_deinit(struct program_cache *cache)
{
	free(cache->path);
	free(cache->part);
	free(cache->text);
	*cache = (struct program_cache){0};
}
