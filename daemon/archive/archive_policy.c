// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/archive/archive_policy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/archive/per_process.h"
#include "daemon/base/log.h"
#include "daemon/image/image_file.h"
#include "daemon/image/image_table.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/image_event.h"
#include "loader-hook/proc/process_scan.h"

#define PINS_MAX 1024
/* Maximum number of pins with an open file. */
#define PINS_OPEN_MAX 256
/* Maximum number of processes scanned for hot images without a pin, between two ticks. */
#define SCANS_PER_TICK 4
/* After this number of copies with a wrong identity, an image is ignored. */
#define WRONG_MAX 4
#define NS_PER_DAY (86400LL * (int64_t)NS_PER_SECOND)
/* Minimum extension of a copy's lifetime. */
#define TOUCH_NS (3600LL * (int64_t)NS_PER_SECOND)
/* Tag of a job without an image. */
#define TAG_NONE 0

enum state {
	STATE_NEW,     /* no event yet */
	STATE_WATCHED, /* to be copied when hot */
	STATE_WAITING, /* queued in the copier */
	STATE_KEPT,
	STATE_IGNORED, /* not requested, or cannot be archived */
};

/*
 * @pid:        the first process that mapped it, as long as it lives; @latest: the last one
 * @wrong:      number of copies that had another image's identity
 * @samples:    since the start; of a watched image, since its file was last searched for
 * @sampled:    since the start
 * @inode:      of its file, from its first event; 0: unknown
 * @pin:        index of its pin, if the pin still belongs to this image
 * @expires_ns: time of its copy, if there is one
 */
struct candidate {
	enum state state;
	uint32_t pid;
	uint32_t latest;
	unsigned int wrong;
	uint64_t samples;
	uint64_t sampled;
	uint64_t inode;
	int64_t expires_ns;
	uint32_t pin;
};

/*
 * Information to find the file of an image: opened through its mapping, or its identity, to be
 * found at the image's path.
 *
 * @image:    0: free
 * @fd:       O_PATH, until @until_ns; -1: it could not be opened, or has been closed
 * @is_named: the event had the image's path
 */
struct pin {
	uint32_t image;
	int fd;
	bool is_named;
	uint64_t until_ns;
	struct image_file_claim claim;
};

struct archive_policy {
	const char *patterns;
	uint64_t pin_ns;
	struct image_copier *copier;
	struct candidate *candidates; /* indexed by number in the image table */
	size_t count;
	size_t capacity;
	struct pin pins[PINS_MAX];
	size_t next_pin; /* the oldest */
	size_t open_pins;
	unsigned int scans;
	uint64_t lost;
	uint64_t ambiguous;
	uint64_t unreadable;
	bool failure_reported;
};

static struct candidate *candidate_get(struct archive_policy *policy, uint32_t image)
{
	if (image >= policy->count) {
		if (array_reserve(&policy->candidates, &policy->capacity, (size_t)image + 1,
				  sizeof(*policy->candidates)) < 0)
			return NULL;
		memset(policy->candidates + policy->count, 0,
		       (image + 1 - policy->count) * sizeof(*policy->candidates));
		policy->count = (size_t)image + 1;
	}
	return &policy->candidates[image];
}

static struct pin *pin_find(struct archive_policy *policy, uint32_t image)
{
	struct pin *pin = &policy->pins[policy->candidates[image].pin];

	return pin->image == image ? pin : NULL;
}

static void pin_close(struct archive_policy *policy, struct pin *pin)
{
	if (pin->image == 0 || pin->fd < 0)
		return;
	close(pin->fd);
	pin->fd = -1;
	policy->open_pins--;
}

/* Close the oldest open files: their images have had time to be sampled. */
static void pin_make_room(struct archive_policy *policy)
{
	for (size_t i = 0; policy->open_pins >= PINS_OPEN_MAX && i < PINS_MAX; i++)
		pin_close(policy, &policy->pins[(policy->next_pin + i) % PINS_MAX]);
}

/* Return the image's own pin, or the oldest one. */
static struct pin *pin_take(struct archive_policy *policy, uint32_t image)
{
	struct pin *pin = pin_find(policy, image);

	if (pin == NULL) {
		policy->candidates[image].pin = (uint32_t)policy->next_pin;
		pin = &policy->pins[policy->next_pin];
		policy->next_pin = (policy->next_pin + 1) % PINS_MAX;
	}
	pin_close(policy, pin);
	return pin;
}

static void pin_set(struct archive_policy *policy, uint32_t image, const char *path,
		    const struct image_event *event)
{
	struct pin new = {.image = image, .fd = image_file_pin(event)};

	if (event->path != NULL)
		new.is_named = strcmp(event->path, path) == 0;
	if (new.fd < 0 && (event->inode == 0 || !new.is_named))
		return;
	image_file_claim(&new.claim, event);
	new.until_ns = clock_monotonic_ns() + policy->pin_ns;
	if (new.fd >= 0)
		pin_make_room(policy);
	policy->open_pins += new.fd >= 0;
	*pin_take(policy, image) = new;
}

static enum image_store_kind archive_policy_kind_of(const struct profile_image *image)
{
	switch (image->identity_kind) {
	case PROFILE_IDENTITY_BUILD_ID:
		return IMAGE_STORE_BUILD_ID;
	case PROFILE_IDENTITY_CONTENT:
		return IMAGE_STORE_CONTENT;
	default:
		return IMAGE_STORE_DIGEST;
	}
}

/* Return true if a file with that inode number is still at @path; 0 matches any. */
static bool is_in_place(const char *path, uint64_t inode, struct stat *status)
{
	return stat(path, status) == 0 && (inode == 0 || status->st_ino == inode);
}

/*
 * Files of the distribution's packages rarely disappear, and debug packages contain their names.
 * The same path in a container refers to another inode.
 */
static bool is_packaged(const char *path, uint64_t inode)
{
	static const char *const folders[] = {"/usr/",	  "/lib/", "/lib32/", "/lib64/",
					      "/libx32/", "/bin/", "/sbin/"};
	struct stat status;

	if (strncmp(path, "/usr/local/", strlen("/usr/local/")) == 0)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return is_in_place(path, inode, &status) && status.st_uid == 0;
	}
	return false;
}

static bool is_wanted(const struct archive_policy *policy, const char *path, uint64_t inode)
{
	if (strcmp(policy->patterns, ARCHIVE_POLICY_UNPACKAGED) == 0)
		return !is_packaged(path, inode);
	return per_process_match(policy->patterns, path);
}

/*
 * Return true if the contents are yet to be read: the file is pinned, and copied once its identity
 * is known.
 */
static bool is_unverified(const struct profile_image *image)
{
	return image->identity_kind == PROFILE_IDENTITY_FILE;
}

/* Return the state of an image after its first event: ignored images are never archived. */
static enum state state_first(const struct archive_policy *policy,
			      const struct profile_image *image, uint64_t inode)
{
	if (image->kind != PROFILE_IMAGE_FILE || image->identity_kind == PROFILE_IDENTITY_NONE ||
	    image->identity_bytes < 2 || !is_wanted(policy, image->path, inode))
		return STATE_IGNORED;
	if (is_unverified(image))
		return STATE_WATCHED;
	return image_copier_has(policy->copier, archive_policy_kind_of(image), image->identity,
				image->identity_bytes)
		       ? STATE_KEPT
		       : STATE_WATCHED;
}

void archive_policy_seen(void *context, struct image_table *table, uint32_t image,
			 const struct image_event *event)
{
	struct archive_policy *policy = context;
	struct candidate *candidate = policy != NULL ? candidate_get(policy, image) : NULL;
	const struct pin *pin;

	if (candidate == NULL || candidate->state > STATE_WATCHED)
		return;
	if (candidate->state == STATE_NEW) {
		candidate->inode = event->inode;
		candidate->state = state_first(policy, image_table_get(table, image), event->inode);
	}
	if (candidate->state != STATE_WATCHED)
		return;
	candidate->latest = event->pid;
	if (candidate->pid == 0)
		candidate->pid = event->pid;
	pin = pin_find(policy, image);
	if (pin == NULL || pin->fd < 0)
		pin_set(policy, image, image_table_get(table, image)->path, event);
}

void archive_policy_forget(struct archive_policy *policy, uint32_t image)
{
	struct pin *pin;

	if (policy == NULL || image >= policy->count)
		return;
	pin = pin_find(policy, image);
	if (pin != NULL) {
		pin_close(policy, pin);
		pin->image = 0;
	}
	memset(&policy->candidates[image], 0, sizeof(*policy->candidates));
}

/* Looking up an event's image has the side effect of a call of archive_policy_seen(). */
static void event_look(void *table, const struct image_event *event)
{
	if (event->type == IMAGE_EVENT_MAP)
		image_table_from_event(table, event);
}

static bool pin_through(struct archive_policy *policy, struct image_table *table, uint32_t image,
			uint32_t pid)
{
	const struct pin *pin;

	if (pid == 0 || process_scan(pid, event_look, table, NULL) < 0)
		return false;
	pin = pin_find(policy, image);
	return pin != NULL && pin->fd >= 0;
}

/* Scan a process that still has the image mapped: the first one seen, otherwise the last one. */
static void pin_through_process(struct archive_policy *policy, struct image_table *table,
				uint32_t image)
{
	uint32_t first = policy->candidates[image].pid, latest = policy->candidates[image].latest;

	if (pin_through(policy, table, image, first))
		return;
	/* The array may have been reallocated if the scan found new images. */
	policy->candidates[image].pid = 0;
	if (latest != first)
		pin_through(policy, table, image, latest);
}

/* Return the time of a copy: now, plus a day for each doubling of its samples. */
static int64_t expiry(const struct candidate *candidate)
{
	int64_t doublings = 63 - __builtin_clzll(candidate->samples | 1);

	return clock_real_ns() + doublings * NS_PER_DAY;
}

static struct image_copier_job job_for(const struct profile_image *image, uint32_t number,
				       const struct candidate *candidate)
{
	struct image_copier_job job = {
		.tag = number,
		.kind = archive_policy_kind_of(image),
		.identity_bytes = image->identity_bytes,
		.fd = -1,
		.expires_ns = expiry(candidate),
	};

	memcpy(job.identity, image->identity, image->identity_bytes);
	return job;
}

/* The image is copied later if it remains hot. */
static void candidate_rest(struct candidate *candidate)
{
	candidate->state = STATE_WATCHED;
	candidate->samples = 0;
}

/* Return false if the copier's queue is full, or out of memory. */
static bool job_add(struct archive_policy *policy, struct image_table *table, struct pin *pin)
{
	const struct profile_image *image = image_table_get(table, pin->image);
	struct candidate *candidate = &policy->candidates[pin->image];
	struct image_copier_job job = job_for(image, pin->image, candidate);

	job.claim = pin->claim;
	job.fd = pin->fd;
	if (pin->fd < 0)
		job.path = strdup(image->path);
	if ((pin->fd < 0 && job.path == NULL) || image_copier_add(policy->copier, &job) < 0) {
		free(job.path);
		return false;
	}
	policy->open_pins -= pin->fd >= 0;
	pin->image = 0;
	candidate->expires_ns = job.expires_ns;
	candidate->state = STATE_WAITING;
	return true;
}

/* Return: 0; -EAGAIN if the copier's queue is full, or too many processes have been scanned. */
static int copy_ask(struct archive_policy *policy, struct image_table *table, uint32_t image)
{
	struct pin *pin = pin_find(policy, image);

	if (is_unverified(image_table_get(table, image)))
		return 0;
	if (pin == NULL || pin->fd < 0) {
		if (policy->scans++ >= SCANS_PER_TICK)
			return -EAGAIN; /* the next samples try again */
		pin_through_process(policy, table, image);
		pin = pin_find(policy, image);
	}
	if (pin != NULL && (pin->fd >= 0 || pin->is_named))
		return job_add(policy, table, pin) ? 0 : -EAGAIN;
	policy->lost++;
	candidate_rest(&policy->candidates[image]);
	return 0;
}

static void copy_prolong(struct archive_policy *policy, struct image_table *table, uint32_t image)
{
	struct candidate *candidate = &policy->candidates[image];
	struct image_copier_job job;

	if (expiry(candidate) < candidate->expires_ns + TOUCH_NS)
		return;
	job = job_for(image_table_get(table, image), image, candidate);
	if (image_copier_touch(policy->copier, &job) == 0)
		candidate->expires_ns = job.expires_ns;
}

void archive_policy_sampled(struct archive_policy *policy, struct image_table *table,
			    uint32_t image, uint64_t samples)
{
	struct candidate *candidate;

	if (policy == NULL || image >= policy->count)
		return;
	candidate = &policy->candidates[image];
	candidate->samples += samples;
	candidate->sampled += samples;
	if (candidate->state == STATE_WATCHED && candidate->samples >= ARCHIVE_POLICY_SAMPLES_MIN)
		copy_ask(policy, table, image);
	else if (candidate->state == STATE_KEPT)
		copy_prolong(policy, table, image);
}

bool archive_policy_finish(struct archive_policy *policy, struct image_table *table)
{
	bool done = true;

	for (size_t i = 0; policy != NULL && i < policy->count; i++) {
		const struct candidate *candidate = &policy->candidates[i];

		if (candidate->state == STATE_WATCHED && candidate->samples > 0 &&
		    copy_ask(policy, table, (uint32_t)i) < 0)
			done = false;
	}
	return done;
}

int archive_policy_memory(struct archive_policy *policy, enum image_store_kind kind,
			  const uint8_t *identity, size_t identity_bytes, void *data,
			  size_t data_bytes)
{
	struct image_copier_job job = {
		.tag = TAG_NONE,
		.kind = kind,
		.identity_bytes = identity_bytes,
		.fd = -1,
		.data = data,
		.data_bytes = data_bytes,
		.expires_ns = clock_real_ns(),
	};
	int rc = policy == NULL ? -ENODATA : -EINVAL;

	if (policy != NULL && identity_bytes <= sizeof(job.identity)) {
		memcpy(job.identity, identity, identity_bytes);
		rc = image_copier_add(policy->copier, &job);
	}
	if (rc < 0)
		free(data);
	return rc;
}

/* Log once, and only errors that the archive's owner can fix. */
static void failure_report(struct archive_policy *policy, int result)
{
	if (policy->failure_reported || (result != -ENOSPC && result != -EACCES &&
					 result != -EROFS && result != -EDQUOT && result != -EIO))
		return;
	policy->failure_reported = true;
	log_error("cannot store a copy of an image: %s", strerror(-result));
}

static void result_take(struct archive_policy *policy, const struct image_copier_job *job)
{
	struct candidate *candidate;

	if (job->tag == TAG_NONE || job->result == -ECANCELED)
		return;
	candidate = &policy->candidates[job->tag];
	failure_report(policy, job->result);
	policy->lost += job->result == -ESTALE;
	policy->ambiguous += job->result == -ENOTUNIQ;
	policy->unreadable += job->result == -EPERM;
	switch (job->result) {
	case 0:
		candidate->state = STATE_KEPT;
		return;
	case -EFBIG: /* permanent errors */
	case -EINVAL:
	case -ENODEV:
		candidate->state = STATE_IGNORED;
		return;
	case -EBADMSG:
		/* The process may have mapped another program by then. */
		if (++candidate->wrong == WRONG_MAX) {
			candidate->state = STATE_IGNORED;
			return;
		}
		break;
	}
	candidate_rest(candidate); /* evicted, or failed */
}

void archive_policy_tick(struct archive_policy *policy, uint64_t now_ns)
{
	struct image_copier_job job;
	size_t i;

	if (policy == NULL)
		return;
	policy->scans = 0;
	while (image_copier_result(policy->copier, &job))
		result_take(policy, &job);
	for (i = 0; i < PINS_MAX; i++) {
		if (policy->pins[i].until_ns <= now_ns)
			pin_close(policy, &policy->pins[i]);
	}
}

int archive_policy_open(struct archive_policy **ret, const struct archive_policy_config *config,
			struct error *err)
{
	struct archive_policy *policy = calloc(1, sizeof(*policy));
	int rc;

	if (policy == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	policy->patterns = config->patterns;
	policy->pin_ns = config->pin_ns;
	rc = image_copier_open(&policy->copier, &config->copier, err);
	if (rc < 0) {
		free(policy);
		return rc;
	}
	*ret = policy;
	return 0;
}

void archive_policy_close(struct archive_policy *policy)
{
	size_t i;

	if (policy == NULL)
		return;
	image_copier_close(policy->copier);
	for (i = 0; i < PINS_MAX; i++)
		pin_close(policy, &policy->pins[i]);
	free(policy->candidates);
	free(policy);
}

void archive_policy_status(struct archive_policy *policy, struct archive_policy_status *status)
{
	*status = (struct archive_policy_status){.lost = 0};
	if (policy == NULL)
		return;
	image_copier_status(policy->copier, &status->copier);
	status->lost = policy->lost;
	status->ambiguous = policy->ambiguous;
	status->unreadable = policy->unreadable;
	status->pinned = policy->open_pins;
}

uint64_t archive_policy_gone(const struct archive_policy *policy, const struct image_table *table)
{
	uint64_t samples = 0;
	struct stat status;

	for (size_t i = 0; policy != NULL && i < policy->count; i++) {
		const struct candidate *candidate = &policy->candidates[i];
		const struct profile_image *image = image_table_get(table, (uint32_t)i);

		if (candidate->sampled > 0 && candidate->state != STATE_KEPT &&
		    image->kind == PROFILE_IMAGE_FILE &&
		    !is_in_place(image->path, candidate->inode, &status) &&
		    !image_copier_has(policy->copier, archive_policy_kind_of(image),
				      image->identity, image->identity_bytes))
			samples += candidate->sampled;
	}
	return samples;
}
