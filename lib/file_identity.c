// SPDX-License-Identifier: GPL-2.0-only
#include "lib/file_identity.h"

#include <endian.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "lib/blake2b.h"

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/* The first byte of a hash, so that no two kinds of identity are equal. */
enum subject {
	SUBJECT_CONTENT = 1,
	SUBJECT_STATUS = 2,
	SUBJECT_CLAIM = 3,
	SUBJECT_JIT = 4,
};

static void identity_begin(struct blake2b *hash, enum subject subject)
{
	const uint8_t byte = (uint8_t)subject;

	blake2b_init(hash, FILE_IDENTITY_BYTES);
	blake2b_update(hash, &byte, sizeof(byte));
}

static void add_number(struct blake2b *hash, uint64_t number)
{
	const uint64_t little = htole64(number);

	blake2b_update(hash, &little, sizeof(little));
}

static void identity_add_time(struct blake2b *hash, const struct timespec *time)
{
	add_number(hash, (uint64_t)time->tv_sec);
	add_number(hash, (uint64_t)time->tv_nsec);
}

struct file_writers file_writers_get(int fd, const struct stat *status)
{
	struct file_writers writers = {.owner = status->st_uid};
	struct statfs system;

	/* A group with the number of the user is that user's own. */
	writers.others = (status->st_mode & S_IWOTH) != 0 ||
			 ((status->st_mode & S_IWGRP) != 0 && status->st_gid != status->st_uid) ||
			 fstatfs(fd, &system) < 0 || system.f_type == FUSE_SUPER_MAGIC ||
			 (writers.owner == 0 && (system.f_flags & ST_NOSUID) != 0);
	return writers;
}

bool file_writers_only(const struct file_writers *writers, uid_t user)
{
	return !writers->others && (writers->owner == 0 || writers->owner == user);
}

void file_identity_content(uint8_t identity[FILE_IDENTITY_BYTES],
			   const uint8_t content[CONTENT_DIGEST_BYTES],
			   const struct file_writers *writers)
{
	struct blake2b hash;

	identity_begin(&hash, SUBJECT_CONTENT);
	add_number(&hash, writers->owner);
	add_number(&hash, writers->others);
	blake2b_update(&hash, content, CONTENT_DIGEST_BYTES);
	blake2b_final(&hash, identity);
}

void file_identity_status(uint8_t identity[FILE_IDENTITY_BYTES], const struct stat *status)
{
	struct blake2b hash;

	identity_begin(&hash, SUBJECT_STATUS);
	add_number(&hash, status->st_uid);
	add_number(&hash, status->st_dev);
	add_number(&hash, status->st_ino);
	add_number(&hash, (uint64_t)status->st_size);
	identity_add_time(&hash, &status->st_mtim);
	identity_add_time(&hash, &status->st_ctim);
	blake2b_final(&hash, identity);
}

void file_identity_claim(uint8_t identity[FILE_IDENTITY_BYTES], uid_t owner, const char *path)
{
	struct blake2b hash;

	identity_begin(&hash, SUBJECT_CLAIM);
	add_number(&hash, owner);
	blake2b_update(&hash, path, strlen(path));
	blake2b_final(&hash, identity);
}

void file_identity_jit(uint8_t identity[FILE_IDENTITY_BYTES], uid_t user, const uint8_t *program,
		       size_t bytes)
{
	struct blake2b hash;

	identity_begin(&hash, SUBJECT_JIT);
	add_number(&hash, user);
	blake2b_update(&hash, program, bytes);
	blake2b_final(&hash, identity);
}
