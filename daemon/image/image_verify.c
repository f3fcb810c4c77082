// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_table.h"

#include <errno.h>
#include <string.h>

#include "daemon/image/image_system.h"
#include "daemon/image/image_table_state.h"
#include "daemon/image/quota.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

/* Maximum number of system files that are compared with other files by contents. */
#define ORIGINALS_MAX 4096
/* Marks the number of an original in the verifier. */
#define TAG_ORIGINAL (1U << 31)

/* The thread is started for the first file. */
enum image_verdict image_table_verify(struct image_table *table, uint32_t tag,
				      enum image_verifier_kind kind, int fd,
				      const struct stat *status)
{
	const struct quota_user *user = image_table_payer(table);
	uint32_t uid = user != NULL ? user->uid : 0;
	int r = -ENOMEM;

	if (table->verifier == NULL)
		table->verifier = image_verifier_create();
	if (table->verifier != NULL)
		r = image_verifier_add(table->verifier, tag, kind, uid, fd, status);
	return r == 0 ? VERDICT_WAITING : VERDICT_WANTED;
}

static struct system_original *find_original(struct image_table *table, uint32_t image)
{
	size_t i;

	for (i = 0; i < table->original_count; i++) {
		if (table->originals[i].image == image)
			return &table->originals[i];
	}
	return NULL;
}

/* Return the number of the system file with the image's build-id, 0 if there is none. */
static uint32_t system_image(struct image_table *table, const struct profile_image *image)
{
	struct profile_image wanted = {.kind = PROFILE_IMAGE_FILE,
				       .identity_kind = PROFILE_IDENTITY_BUILD_ID};
	const uint8_t *build_id = profile_image_build_id(image, &wanted.identity_bytes);

	if (build_id == NULL || wanted.identity_bytes > sizeof(wanted.identity))
		return 0;
	memcpy(wanted.identity, build_id, wanted.identity_bytes);
	return image_table_find(table, &wanted);
}

/* Queue the file at the path of an original for reading, if it is the file that was mapped. */
static enum image_verdict verify_original(struct image_table *table, uint32_t image)
{
	_cleanup_close_ int fd = image_system_open(table->entries[image]->image.path);
	struct image_file_key key;
	const struct known_file *known;
	struct stat status;

	if (fd < 0 || image_file_get_key(fd, &key) < 0 || fstat(fd, &status) < 0)
		return VERDICT_WANTED;
	known = image_table_find_file(table, &key);
	if (known == NULL || known->image != (int)image)
		return VERDICT_WANTED;
	return image_table_verify(table, image | TAG_ORIGINAL, IMAGE_VERIFIER_CONTENT, fd, &status);
}

/* Return: NULL: no memory, or the limit is reached. */
static struct system_original *get_original(struct image_table *table, uint32_t image)
{
	struct system_original *original = find_original(table, image);

	if (original == NULL) {
		if (table->original_count == ORIGINALS_MAX ||
		    array_reserve(&table->originals, &table->original_capacity,
				  table->original_count + 1, sizeof(*table->originals)) < 0)
			return NULL;
		original = &table->originals[table->original_count++];
		*original = (struct system_original){.image = image, .verdict = VERDICT_WANTED};
	}
	if (original->verdict == VERDICT_WANTED)
		original->verdict = verify_original(table, image);
	return original;
}

/* Return: true if it need not be compared again. */
static bool original_compare(struct image_table *table, struct image_entry *entry)
{
	uint32_t system = system_image(table, &entry->image);
	const struct system_original *original = system != 0 ? get_original(table, system) : NULL;

	if (original == NULL || original->verdict != VERDICT_READ)
		return original == NULL || original->verdict != VERDICT_WAITING;
	if (memcmp(original->content, entry->content, sizeof(entry->content)) == 0) {
		entry->original = system;
		entry->trusted = false;
		table->revision++;
	}
	return true;
}

static void original_compare_awaiting(struct image_table *table)
{
	size_t left = 0;

	for (size_t i = 0; i < table->awaiting_count; i++) {
		if (!original_compare(table, table->entries[table->awaiting[i]]))
			table->awaiting[left++] = table->awaiting[i];
	}
	table->awaiting_count = left;
}

static void identity_copy(struct profile_image *image, const struct profile_image *from)
{
	image->identity_kind = from->identity_kind;
	image->identity_bytes = from->identity_bytes;
	memcpy(image->identity, from->identity, from->identity_bytes);
}

/* Return: true if the image is still that of the file that was read. */
static bool is_file_of(const struct profile_image *image, const struct stat *status)
{
	uint8_t digest[FILE_IDENTITY_BYTES];

	file_identity_status(digest, status);
	return image->identity_kind == PROFILE_IDENTITY_FILE &&
	       memcmp(image->identity, digest, sizeof(digest)) == 0;
}

/* Replace the identity of an image, and that of JIT code of the same program. */
static void identity_replace(struct image_table *table, uint32_t image,
			     const struct profile_image *identity)
{
	struct profile_image *replaced = &table->entries[image]->image, old = {.path = ""};

	for (size_t i = 0; i < table->jit_count; i++) {
		struct image_entry *jit = table->entries[table->jits[i]];

		if (jit->program != image)
			continue;
		image_identity_jit(&old, replaced, jit->jit_uid);
		if (image_identity_equal(&jit->image, &old))
			image_identity_jit(&jit->image, identity, jit->jit_uid);
	}
	identity_copy(replaced, identity);
	table->revision++;
}

static void set_content(struct image_table *table, uint32_t image,
			const struct image_verifier_result *result)
{
	struct image_entry *entry = table->entries[image];
	struct profile_image identity = {.identity_bytes = 0};
	uint8_t digest[FILE_IDENTITY_BYTES];
	const uint8_t *build_id;
	size_t bytes;

	file_identity_content(digest, result->content, &result->writers);
	build_id = profile_image_build_id(&entry->image, &bytes);
	image_identity_set(&identity, PROFILE_IDENTITY_CONTENT, digest, build_id, bytes);
	memcpy(entry->content, result->content, sizeof(entry->content));
	identity_replace(table, image, &identity);
}

static void set_named(struct image_table *table, uint32_t image,
		      const struct image_verifier_result *result)
{
	struct profile_image identity = {.identity_bytes = 0};
	uint8_t digest[FILE_IDENTITY_BYTES];

	table->entries[image]->named = true;
	table->revision++;
	if (result->result < 0 || result->build_id.bytes == 0)
		return;
	file_identity_status(digest, &result->status);
	image_identity_set(&identity, PROFILE_IDENTITY_FILE, digest, result->build_id.data,
			   result->build_id.bytes);
	identity_replace(table, image, &identity);
}

static void set_digest(struct image_table *table, uint32_t image,
		       const struct image_verifier_result *result)
{
	struct profile_image identity = {.identity_kind = PROFILE_IDENTITY_DIGEST,
					 .identity_bytes = sizeof(result->digest)};

	memcpy(identity.identity, result->digest, sizeof(result->digest));
	identity_replace(table, image, &identity);
}

static void take_original(struct image_table *table, const struct image_verifier_result *result)
{
	struct system_original *original = find_original(table, result->tag & ~TAG_ORIGINAL);

	memcpy(original->content, result->content, sizeof(original->content));
	original->verdict = result->result == 0 ? VERDICT_READ : VERDICT_NONE;
	original_compare_awaiting(table);
}

static void take_result(struct image_table *table, const struct image_verifier_result *result)
{
	struct image_entry *entry;

	if (result->tag & TAG_ORIGINAL) {
		take_original(table, result);
		return;
	}
	entry = table->entries[result->tag];
	if (!is_file_of(&entry->image, &result->status))
		return;
	if (result->kind == IMAGE_VERIFIER_BUILD_ID)
		set_named(table, result->tag, result);
	if (result->result < 0 || result->kind == IMAGE_VERIFIER_DIGEST)
		entry->verdict = VERDICT_NONE;
	if (result->result < 0 || result->kind == IMAGE_VERIFIER_BUILD_ID)
		return;
	if (result->kind == IMAGE_VERIFIER_DIGEST) {
		set_digest(table, result->tag, result);
		return;
	}
	entry->verdict = VERDICT_READ;
	set_content(table, result->tag, result);
	if (!original_compare(table, entry) && table->awaiting_count < AWAITING_MAX)
		table->awaiting[table->awaiting_count++] = result->tag;
}

static bool is_number_kept(const uint8_t *kept, uint32_t image)
{
	return (kept[image / 8] & 1U << image % 8) != 0;
}

static void number_keep(uint8_t *kept, uint32_t image)
{
	kept[image / 8] |= (uint8_t)(1U << image % 8);
}

static void originals_forget(struct image_table *table, const uint8_t *kept)
{
	size_t left = 0;

	for (size_t i = 0; i < table->original_count; i++) {
		if (is_number_kept(kept, table->originals[i].image))
			table->originals[left++] = table->originals[i];
	}
	table->original_count = left;
}

static void awaiting_forget(struct image_table *table, const uint8_t *kept)
{
	size_t left = 0;

	for (size_t i = 0; i < table->awaiting_count; i++) {
		if (is_number_kept(kept, table->awaiting[i]))
			table->awaiting[left++] = table->awaiting[i];
	}
	table->awaiting_count = left;
}

/* The verifier's results contain numbers, so a file that it reads keeps its number. */
void image_table_keep_compared(struct image_table *table, uint8_t *kept)
{
	for (size_t i = 0; i < table->original_count; i++) {
		if (table->originals[i].verdict == VERDICT_WAITING)
			number_keep(kept, table->originals[i].image);
	}
	for (uint32_t i = 0; i < table->count; i++) {
		if (is_number_kept(kept, i) && table->entries[i]->original != 0)
			number_keep(kept, table->entries[i]->original);
	}
	originals_forget(table, kept);
	awaiting_forget(table, kept);
}

void image_table_settle(struct image_table *table, uint64_t wait_ns)
{
	struct image_verifier_result result;
	uint64_t end_ns = wait_ns > 0 ? clock_monotonic_ns() + wait_ns : 0;

	if (table->verifier == NULL)
		return;
	do {
		while (image_verifier_result(table->verifier, &result))
			take_result(table, &result);
	} while (end_ns > clock_monotonic_ns() && image_verifier_wait(table->verifier, end_ns));
}
