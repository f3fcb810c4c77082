/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of images, for its parts: numbers (image_table.c), the image of an event
 * (image_identify.c), and images that are compared by contents (image_verify.c).
 */
#ifndef DCPI_IMAGE_TABLE_STATE_H
#define DCPI_IMAGE_TABLE_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/image/image_file.h"
#include "daemon/image/image_table.h"
#include "daemon/image/image_verifier.h"
#include "lib/u64_map.h"

/* Maximum number of images that wait until the contents of system files have been read. */
#define AWAITING_MAX 1024

/* enum image_verdict - progress of verifying a file that users other than the superuser may write
 */
enum image_verdict {
	VERDICT_NONE,	 /* it need not be verified, or cannot be compared */
	VERDICT_WANTED,	 /* its contents should be read: the queue was full */
	VERDICT_WAITING, /* the verifier has it */
	VERDICT_READ,	 /* its identity is derived from its contents */
};

/*
 * Images with equal hashes are chained by number; 0 ends the chain. The path is stored only if no
 * earlier image has the same path.
 *
 * @user:     account that is charged for the number; NULL: none
 * @original: number of the system file with the same contents; otherwise 0
 * @program:  of JIT code: the number of its program, whose identity it follows; otherwise 0
 * @jit_uid:  of JIT code: the user that generated it; 0: a trusted one
 * @named:    the build-id has been read, if the file has one
 * @digested: the verifier computes the digest of a system file
 * @trusted:  only the superuser can write the file, but its path is not known in our root directory
 * @content:  if @verdict is VERDICT_READ
 */
struct image_entry {
	struct profile_image image;
	struct quota_user *user;
	bool sampled;
	uint32_t next;
	uint32_t program;
	uint32_t jit_uid;
	uint32_t original;
	enum image_verdict verdict;
	bool named;
	bool digested;
	bool trusted;
	uint8_t content[CONTENT_DIGEST_BYTES];
	char path[];
};

/*
 * A system file. The contents of other files are compared with its contents.
 *
 * @image: its number
 */
struct system_original {
	uint32_t image;
	enum image_verdict verdict;
	uint8_t content[CONTENT_DIGEST_BYTES];
};

/*
 * @image: its number, or -ENOENT: not an image
 * @next:  index + 1 of the next file with the same hash
 * @state: of keys made from an event: the state of the file when it was last seen, at @seen_ns
 */
struct known_file {
	struct image_file_key key;
	int image;
	uint32_t next;
	struct image_file_key state;
	uint64_t seen_ns;
};

/*
 * @bytes:    of entries
 * @pid:      the process of the current event; 0: none
 * @free:     reclaimed numbers
 * @swept_ns: time of the last sweep
 * @awaiting: images to be compared with an original that is being read
 * @retry_ns: earliest time to pass a file to the verifier again
 * @revision: number of identities that were replaced
 */
struct image_table {
	uint64_t seed;
	struct image_entry **entries;
	size_t count;
	size_t capacity;
	size_t bytes;
	uint32_t *free;
	size_t free_count;
	size_t free_capacity;
	struct image_table_limits limits;
	uint32_t pid;
	uint64_t swept_ns;
	uint64_t refused;
	struct u64_map by_identity; /* hash -> number */
	struct u64_map by_path;	    /* hash -> number of the first image with that path */
	struct known_file *files;
	size_t file_count;
	size_t file_capacity;
	struct u64_map by_file; /* hash -> index + 1 */
	struct image_verifier *verifier;
	struct system_original *originals;
	size_t original_count;
	size_t original_capacity;
	uint32_t awaiting[AWAITING_MAX];
	size_t awaiting_count;
	uint64_t retry_ns;
	uint32_t *jits; /* images whose identity follows that of a program */
	size_t jit_count;
	size_t jit_capacity;
	uint64_t revision;
	int vdso; /* number, or -1: not used yet */
	bool is_recorded;
	struct image_recording recording;
	image_table_watch_fn watch;
	void *watch_context;
};

/** image_table_payer() - return the account of the process of the current event, or NULL: no limits
 */
struct quota_user *image_table_payer(const struct image_table *table);

/** image_table_find() - return the number of an image with this identity, or IMAGE_UNKNOWN */
uint32_t image_table_find(const struct image_table *table, const struct profile_image *image);

/** image_table_find_file() - return a known file, or NULL; valid until one is remembered */
struct known_file *image_table_find_file(struct image_table *table,
					 const struct image_file_key *key);

/**
 * image_table_remember_file() - record the image of a file. @image: its number, or -ENOENT
 *
 * Return: the file, or NULL if there is no memory
 */
struct known_file *image_table_remember_file(struct image_table *table,
					     const struct image_file_key *key, int image);

/** image_identity_set() - set an identity of a digest followed by the build-id */
void image_identity_set(struct profile_image *image, enum profile_identity_kind kind,
			const uint8_t digest[PROFILE_IDENTITY_DIGEST_BYTES],
			const uint8_t *build_id, size_t bytes);

static inline bool image_identity_equal(const struct profile_image *a,
					const struct profile_image *b)
{
	return a->identity_kind == b->identity_kind && a->identity_bytes == b->identity_bytes &&
	       memcmp(a->identity, b->identity, a->identity_bytes) == 0;
}

/** image_identity_jit() - set the identity of JIT code. @uid: as image_entry.jit_uid */
void image_identity_jit(struct profile_image *jit, const struct profile_image *program,
			uint32_t uid);

/**
 * image_table_verify() - queue a file for reading by the verifier
 * @tag: the image, which gets the result in image_table_settle()
 *
 * Return: VERDICT_WAITING, or VERDICT_WANTED if the queue is full
 */
enum image_verdict image_table_verify(struct image_table *table, uint32_t tag,
				      enum image_verifier_kind kind, int fd,
				      const struct stat *status);

/**
 * image_table_keep_compared() - keep system files that are being read or equal a kept image
 *
 * The contents that were read of the others are forgotten.
 * @kept: in and out: a bit for each number
 */
void image_table_keep_compared(struct image_table *table, uint8_t *kept);

#endif
