// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/matcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/archive/archive_policy.h"
#include "daemon/archive/per_process.h"
#include "daemon/base/cgroup.h"
#include "daemon/base/log.h"
#include "daemon/base/counter_set.h"
#include "daemon/collect/label_table.h"
#include "daemon/collect/process_label.h"
#include "daemon/collect/scan_queue.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kernel_image.h"
#include "daemon/image/quota.h"
#include "daemon/jit/jit_table.h"
#include "daemon/jit/kernel_code.h"
#include "daemon/source/source.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/probe_mark.h"
#include "lib/profiler_file.h"
#include "loader-hook/image_feed.h"
#include "loader-hook/proc/process_gone.h"
#include "loader-hook/proc/process_owner.h"
#include "loader-hook/proc/process_scan.h"

/*
 * Maximum number of processes per second that are read from /proc because no event reported them.
 */
#define SCANS_PER_SECOND 20
/* Part of these for processes with unknown generations, per call of matcher_events(). */
#define UNTOLD_ASKED 4
/* Minimum points charged to a user for reading a process: limits each user to SCANS_PER_SECOND. */
#define SCAN_POINTS (QUOTA_POINTS_PER_SECOND / SCANS_PER_SECOND)
/* Maximum time for reading processes between two drains. */
#define SCAN_BUDGET_NS (20 * NS_PER_MS)
/* CPU time for reading a process that is not charged. */
#define SCAN_FREE_NS NS_PER_MS
/* Maximum number of attempts to read a process that calls exec meanwhile. */
#define SCAN_ROUNDS 3
#define NS_PER_POINT 1000
/*
 * Time from a loss of events to the check for processes that have exited: exits in progress are
 * then complete.
 */
#define ENDED_NS NS_PER_SECOND
/* Maximum number of processes that exit between two expiries: they stay in memory. */
#define CROWD 4096
/*
 * CPU time of a check for modules that needs no pause afterwards, and the longest pause after
 * others.
 */
#define KERNEL_CHEAP_NS 100000
#define KERNEL_PAUSE_NS NS_PER_SECOND

/* How an image is profiled; indexed by number in the image table. */
enum division {
	DIVISION_NOT_ASKED,
	DIVISION_NONE,
	DIVISION_BY_PROCESS,
	DIVISION_BY_UNIT,
};

/*
 * @cache:              matches, valid until an event of their process; those without an image until
 *                      any event
 * @next_kernel_ns:     when to check for modules again
 * @limits_users:       users other than root have quotas: the processes run on this machine
 * @now_ns:             when image events were last read
 * @ended_ns:           when to check for processes whose exit events were lost; 0: none were
 * @scan_queue:         processes to be read from /proc
 * @scanned_pid:        0, or the process whose scan has not been settled
 * @scanned_generation: its generation at the start of the scan
 */
struct matcher {
	struct matcher_config config;
	struct match_cache cache;
	struct image_feed *feed;
	struct scan_queue scan_queue;
	struct image_table *images;
	struct image_map *map;
	struct kernel_images *kernel;
	uint64_t next_kernel_ns;
	struct process_labels *labels;
	struct jit_table *jit;
	struct kernel_code *kernel_code;
	uint8_t *division;
	size_t division_count;
	size_t division_capacity;
	size_t processes_expired;
	bool limits_users;
	bool full_reported;
	uint64_t scans;
	uint64_t scan_second;
	uint64_t now_ns;
	uint64_t ended_ns;
	unsigned int scans_in_second;
	uint32_t scanned_pid;
	uint32_t scanned_generation;
};

/*
 * A scan of a process has ended: if its generation has changed meanwhile, the findings may belong
 * to another one.
 */
static bool scan_settle(struct matcher *matcher)
{
	struct source *source = matcher->config.source;
	uint32_t pid = matcher->scanned_pid, now;

	matcher->scanned_pid = 0;
	if (pid == 0 ||
	    (source->ops->generation(source, pid, &now) == 0 && now == matcher->scanned_generation))
		return true;
	image_map_doubt(matcher->map, pid);
	match_cache_forget_process(&matcher->cache, pid);
	return false;
}

/*
 * Called after the first event of a scan: the following ones belong to that generation, unless an
 * exec intervenes.
 */
static void scan_begin(struct matcher *matcher, uint32_t pid)
{
	struct source *source = matcher->config.source;

	if (source->ops->generation(source, pid, &matcher->scanned_generation) < 0) {
		image_map_doubt(matcher->map, pid);
		return;
	}
	matcher->scanned_pid = pid;
	image_map_set_generation(matcher->map, pid, matcher->scanned_generation,
				 clock_monotonic_ns());
}

/*
 * Invalidate the matches of an event's process, or all of them if the event concerns all processes.
 */
static void event_forget(struct match_cache *cache, const struct image_event *event)
{
	match_cache_drop_volatile(cache);
	if (event->type == IMAGE_EVENT_LOST && event->pid == 0)
		match_cache_forget(cache);
	else if (event->type != IMAGE_EVENT_KERNEL_CODE)
		match_cache_forget_process(cache, event->pid);
}

static bool change_refuse(void *context, uint32_t pid, uint64_t time_ns)
{
	const struct matcher *matcher = context;

	return image_map_refuses(matcher->map, pid, time_ns);
}

/* Divide kernel samples of a process that has become the profiler's from those of the others. */
static void profiler_note(struct matcher *matcher, const struct image_event *event)
{
	bool forked = event->type == IMAGE_EVENT_FORK && !event->scanned &&
		      match_cache_is_divided(&matcher->cache, event->parent);

	if (forked || (event->type == IMAGE_EVENT_MAP && event->path != NULL &&
		       profiler_file_is_program(event->path)))
		match_cache_divide(&matcher->cache, event->pid);
}

static void event_take(void *context, const struct image_event *event)
{
	struct matcher *matcher = context;
	bool begins = event->scanned && event->type == IMAGE_EVENT_FORK &&
		      !matcher->config.source->ops->own_generations;

	if (!event->scanned &&
	    (event->type == IMAGE_EVENT_MAP || event->type == IMAGE_EVENT_UNMAP) &&
	    image_map_refuses(matcher->map, event->pid, event->time_ns))
		return;
	event_forget(&matcher->cache, event);
	if (event->type == IMAGE_EVENT_LOST && matcher->ended_ns == 0)
		matcher->ended_ns = matcher->now_ns + ENDED_NS;
	if (event->type == IMAGE_EVENT_LOST)
		scan_queue_add(&matcher->scan_queue, event->pid);
	else if (event->scanned && event->type == IMAGE_EVENT_FORK)
		scan_queue_remove(&matcher->scan_queue, event->pid);
	/* An event that is not from the scan ends the scan of one process. */
	if (matcher->scanned_pid != 0 && (begins || !event->scanned))
		scan_settle(matcher);
	if (event->type == IMAGE_EVENT_KERNEL_CODE) {
		kernel_code_event(matcher->kernel_code, event);
		return;
	}
	jit_table_event(matcher->jit, event);
	image_map_event(matcher->map, event);
	profiler_note(matcher, event);
	if (matcher->labels != NULL)
		process_labels_event(matcher->labels, event);
	if (begins)
		scan_begin(matcher, event->pid);
}

/* Warn once: later mappings have no image. */
static void refusal_report(struct matcher *matcher)
{
	if (matcher->full_reported || image_table_refused(matcher->images) == 0)
		return;
	matcher->full_reported = true;
	log_warning("more than %u images: samples in the others are unknown",
		    image_table_used(matcher->images));
}

/* A check for modules takes several system calls per module: limit it to 1% of the time. */
static void kernel_refresh(struct matcher *matcher)
{
	uint64_t now_ns = clock_monotonic_ns(), cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now_ns < matcher->next_kernel_ns)
		return;
	if (kernel_images_refresh(matcher->kernel, NULL) != 0)
		match_cache_forget(&matcher->cache);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	if (cpu_ns > KERNEL_CHEAP_NS)
		matcher->next_kernel_ns =
			now_ns + (cpu_ns < KERNEL_PAUSE_NS / 100 ? 100 * cpu_ns : KERNEL_PAUSE_NS);
}

void matcher_refresh(struct matcher *matcher)
{
	refusal_report(matcher);
	kernel_refresh(matcher);
}

/* Read a process from /proc, again if it calls exec meanwhile. */
static bool process_read(struct matcher *matcher, uint32_t pid)
{
	int round;

	for (round = 0; round < SCAN_ROUNDS; round++) {
		int rc = process_scan(pid, event_take, matcher, NULL);

		if (scan_settle(matcher))
			return rc == 0;
	}
	return false;
}

static bool may_scan(struct matcher *matcher)
{
	uint64_t second = clock_monotonic_ns() / NS_PER_SECOND;

	if (second != matcher->scan_second) {
		matcher->scan_second = second;
		matcher->scans_in_second = 0;
	}
	return matcher->scans_in_second < SCANS_PER_SECOND;
}

/* Return the account that is charged for reading a process; NULL: reading it costs nothing. */
static struct quota_user *payer_of(struct matcher *matcher, uint32_t pid)
{
	struct quota_user *user;
	uint32_t uid;

	if (!matcher->limits_users || process_owner(pid, &uid) < 0)
		return NULL;
	user = quota_user_of(image_map_quota(matcher->map), uid);
	return quota_is_limited(user) ? user : NULL;
}

static bool process_read_charged(struct matcher *matcher, uint32_t pid, struct quota_user *payer)
{
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bool known = process_read(matcher, pid);
	uint64_t points = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) / NS_PER_POINT;

	quota_charge(payer, clock_monotonic_ns(),
		     (int64_t)(points > SCAN_POINTS ? points : SCAN_POINTS));
	return known;
}

/* Last resort for a process whose events were lost. */
static bool process_look_for(struct matcher *matcher, uint32_t pid)
{
	struct quota_user *payer;

	if (pid == 0)
		return false;
	payer = payer_of(matcher, pid);
	if (payer == NULL && !may_scan(matcher))
		return false;
	if (payer != NULL && quota_points(payer, clock_monotonic_ns()) < SCAN_POINTS) {
		quota_refuse(image_map_quota(matcher->map), payer, QUOTA_EVENTS);
		return false;
	}
	matcher->scans++;
	if (payer != NULL)
		return process_read_charged(matcher, pid, payer);
	matcher->scans_in_second++;
	return process_read(matcher, pid);
}

/* Query unknown generations before the processes fork children that could not be known. */
static void generations_query(struct matcher *matcher)
{
	uint32_t pid;
	int i;

	for (i = 0; i < UNTOLD_ASKED && may_scan(matcher); i++) {
		pid = image_map_next_unscanned(matcher->map);
		if (pid == 0)
			return;
		process_look_for(matcher, pid);
	}
}

/* One at a time: reading a process takes up to a tenth of a second. */
static void limited_ask(struct matcher *matcher)
{
	uint32_t pid = image_map_limited(matcher->map, matcher->now_ns);

	if (pid != 0)
		process_look_for(matcher, pid);
}

/*
 * A user without points must wait. Ordinary processes take less than SCAN_FREE_NS, so that a user
 * may have any number of them.
 */
static void process_scan_next(struct matcher *matcher, uint32_t pid)
{
	struct image_event event = {.type = IMAGE_EVENT_EXIT, .pid = pid};
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), used_ns;
	struct quota_user *payer = payer_of(matcher, pid);

	if (payer != NULL && quota_points(payer, clock_monotonic_ns()) <= 0) {
		quota_refuse(image_map_quota(matcher->map), payer, QUOTA_EVENTS);
		image_map_refuse(matcher->map, pid, clock_monotonic_ns());
		match_cache_forget_process(&matcher->cache, pid);
		return;
	}
	if (!process_read(matcher, pid) && image_map_has(matcher->map, pid) &&
	    process_is_gone(pid)) {
		event.time_ns = clock_monotonic_ns();
		event_take(matcher, &event);
	}
	used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	if (payer != NULL && used_ns > SCAN_FREE_NS)
		quota_charge(payer, clock_monotonic_ns(),
			     (int64_t)((used_ns - SCAN_FREE_NS) / NS_PER_POINT));
}

static void scan_some(struct matcher *matcher)
{
	uint64_t now_ns = clock_monotonic_ns(), end_ns = now_ns + SCAN_BUDGET_NS;
	uint32_t pid;

	if (image_feed_must_scan(matcher->feed))
		scan_queue_all(&matcher->scan_queue);
	for (; now_ns < end_ns; now_ns = clock_monotonic_ns()) {
		pid = scan_queue_next(&matcher->scan_queue, now_ns);
		if (pid == 0)
			return;
		process_scan_next(matcher, pid);
	}
}

bool matcher_scanning(const struct matcher *matcher)
{
	return scan_queue_is_busy(&matcher->scan_queue, clock_monotonic_ns());
}

/* Scans report only live processes. After a loss, exits must be detected separately. */
static void ended_report(struct matcher *matcher)
{
	struct image_event event = {.type = IMAGE_EVENT_EXIT};
	size_t cursor = 0;

	if (matcher->ended_ns == 0 || matcher->now_ns < matcher->ended_ns)
		return;
	matcher->ended_ns = 0;
	while ((event.pid = image_map_next(matcher->map, &cursor)) != 0) {
		if (!process_is_gone(event.pid))
			continue;
		event.time_ns = clock_monotonic_ns();
		event_take(matcher, &event);
	}
}

uint64_t matcher_events(struct matcher *matcher)
{
	uint64_t until;

	match_cache_drop_volatile(&matcher->cache);
	matcher->now_ns = clock_monotonic_ns();
	until = image_feed_drain(matcher->feed, event_take, matcher);
	image_table_settle(matcher->images, 0);
	scan_settle(matcher);
	scan_some(matcher);
	ended_report(matcher);
	generations_query(matcher);
	limited_ask(matcher);
	jit_table_drain(matcher->jit, until);
	return until;
}

uint32_t matcher_generation(struct matcher *matcher, uint32_t pid, uint64_t time_ns)
{
	uint32_t generation = image_map_generation(matcher->map, pid, time_ns);

	if (generation == 0 && !image_map_has(matcher->map, pid) && process_look_for(matcher, pid))
		generation = image_map_generation(matcher->map, pid, time_ns);
	return generation;
}

uint32_t matcher_changes(const struct matcher *matcher, uint32_t pid, uint64_t *since_ns)
{
	return image_map_changes(matcher->map, pid, since_ns);
}

static enum division division_ask(const struct matcher *matcher, uint32_t image)
{
	const char *path = image_table_get(matcher->images, image)->path;

	if (per_process_match(matcher->config.per_process, path))
		return DIVISION_BY_PROCESS;
	if (matcher->config.units && per_process_match(matcher->config.per_unit, path))
		return DIVISION_BY_UNIT;
	return DIVISION_NONE;
}

static enum division division_of(struct matcher *matcher, uint32_t image)
{
	uint8_t *known;

	if (image >= matcher->division_count) {
		if (array_reserve(&matcher->division, &matcher->division_capacity,
				  (size_t)image + 1, 1) < 0)
			return DIVISION_NONE;
		memset(matcher->division + matcher->division_count, DIVISION_NOT_ASKED,
		       image + 1 - matcher->division_count);
		matcher->division_count = (size_t)image + 1;
	}
	known = &matcher->division[image];
	if (*known == DIVISION_NOT_ASKED)
		*known = (uint8_t)division_ask(matcher, image);
	return (enum division) * known;
}

/*
 * Return true if the process of a sample is known. Without an image, the other reasons mean that
 * the process is unknown, or that the sample is the kernel's.
 */
static bool is_whose(const struct image_place *place)
{
	return place->image != IMAGE_UNKNOWN || place->unknown == IMAGE_UNKNOWN_ADDRESS ||
	       place->unknown == IMAGE_UNKNOWN_ANONYMOUS ||
	       place->unknown == IMAGE_UNKNOWN_JIT_LIMIT ||
	       place->unknown == IMAGE_UNKNOWN_JIT_AMBIGUOUS ||
	       place->unknown == IMAGE_UNKNOWN_REPLACED;
}

static enum division division_at(struct matcher *matcher, const struct image_place *place)
{
	return is_whose(place) ? division_of(matcher, place->image) : DIVISION_NONE;
}

/* @brief: out: the result does not depend only on the image map, so that a match is volatile */
static struct image_place place_find(struct matcher *matcher, uint64_t tag, uint64_t pc,
				     bool *brief)
{
	uint32_t pid = dcpi_tag_pid(tag), generation = dcpi_tag_generation(tag);
	struct image_place place = image_map_lookup(matcher->map, pid, generation, pc);

	if (place.image == IMAGE_UNKNOWN && place.unknown == IMAGE_UNKNOWN_PROCESS &&
	    !matcher->config.source->ops->own_generations && process_look_for(matcher, pid))
		place = image_map_lookup(matcher->map, pid, generation, pc);
	*brief = place.image == IMAGE_UNKNOWN;
	image_table_sampled(matcher->images, place.image);
	if (place.image == IMAGE_UNKNOWN && place.unknown == IMAGE_UNKNOWN_ANONYMOUS)
		jit_table_place(matcher->jit, pid, pc, &place);
	else if (place.image == IMAGE_UNKNOWN && place.unknown == IMAGE_UNKNOWN_KERNEL)
		kernel_code_place(matcher->kernel_code, pc, matcher->now_ns, &place);
	return place;
}

/* A marked sample outside the image of such samples is counted like an unmarked one. */
static struct image_place place_of_sample(struct matcher *matcher, uint64_t tag, uint64_t pc,
					  bool *brief)
{
	struct image_place place;

	if (!probe_mark_is(pc))
		return place_find(matcher, tag, pc, brief);
	*brief = false;
	place = image_map_lookup(matcher->map, dcpi_tag_pid(tag), 0, pc);
	if (place.image != IMAGE_UNKNOWN)
		return place;
	place = place_find(matcher, tag, probe_mark_remove(pc), brief);
	place.start = probe_mark_set(place.start);
	return place;
}

struct image_place matcher_place(struct matcher *matcher, uint64_t tag, uint64_t pc)
{
	const struct match *match = match_cache_at(&matcher->cache, tag, pc);
	bool brief;

	return match != NULL ? match_place(match, pc) : place_of_sample(matcher, tag, pc, &brief);
}

static uint32_t label_find(struct matcher *matcher, uint32_t pid, bool *settled)
{
	*settled = true;
	return matcher->labels == NULL
		       ? LABEL_NONE
		       : process_labels_get(matcher->labels, pid, matcher->now_ns, settled);
}

bool matcher_is_profiler(const struct matcher *matcher, uint64_t tag)
{
	uint32_t pid = dcpi_tag_pid(tag);

	return match_cache_is_divided(&matcher->cache, pid) &&
	       image_map_is_profiler(matcher->map, pid, dcpi_tag_generation(tag));
}

/* Return true if the process of a sample is the profiler's, but not the image. */
static bool is_of_profiler(const struct matcher *matcher, const struct image_place *place,
			   uint64_t tag)
{
	return place->image != IMAGE_UNKNOWN && matcher_is_profiler(matcher, tag) &&
	       !profiler_file_is_program(image_table_get(matcher->images, place->image)->path);
}

/* Set the profile of a match. */
static void match_divide(struct matcher *matcher, struct match *match,
			 const struct image_place *place, uint32_t pid)
{
	enum division division = division_at(matcher, place);

	if (division == DIVISION_BY_PROCESS)
		match->owner = (int64_t)pid;
	else if (division == DIVISION_BY_UNIT && match->label != LABEL_NONE)
		match->owner = PROFILE_PID_OF_LABEL(match->label);
}

static void match_fill(struct matcher *matcher, struct match *match,
		       const struct image_place *place, const struct dcpi_sample *sample)
{
	uint64_t offset = place->image == IMAGE_UNKNOWN ? (uint64_t)place->unknown : place->offset;
	uint64_t who = match_cache_who(&matcher->cache, sample);
	uint32_t pid = dcpi_tag_pid(sample->tag);
	bool settled = true;

	*match = (struct match){
		.who = who,
		.version = *match_cache_version(&matcher->cache, dcpi_tag_pid(who)),
		.start = place->start,
		.bytes = place->bytes,
		.image = place->image,
		.delta = offset - sample->pc,
		.owner = PROFILE_PID_ALL,
	};
	if (is_of_profiler(matcher, place, sample->tag)) {
		match->owner = PROFILE_PID_PROFILER;
		match->label = LABEL_NONE;
		return;
	}
	if (match_cache_shares(&matcher->cache, sample))
		match->label = matcher->labels != NULL ? MATCH_LABEL_OF_PROCESS : LABEL_NONE;
	else
		match->label = label_find(matcher, pid, &settled);
	if (!settled)
		match_cache_mark_volatile(&matcher->cache, &match->version);
	match_divide(matcher, match, place, pid);
}

struct match *matcher_match(struct matcher *matcher, const struct dcpi_sample *sample)
{
	struct match_cache *cache = &matcher->cache;
	struct match *match = match_cache_find(cache, sample);
	struct image_place place;
	bool brief;

	if (match != NULL)
		return match;
	place = place_of_sample(matcher, sample->tag, sample->pc, &brief);
	if (match_cache_shares(cache, sample) && division_at(matcher, &place) != DIVISION_NONE)
		match_cache_divide_kernel(cache);
	match = match_cache_place(cache, sample);
	match_fill(matcher, match, &place, sample);
	if (brief)
		match_cache_mark_volatile(cache, &match->version);
	return match;
}

const char *matcher_command(const struct matcher *matcher, uint32_t pid)
{
	return image_map_command(matcher->map, pid);
}

uint32_t matcher_label(struct matcher *matcher, uint32_t pid)
{
	struct match_cache *cache = &matcher->cache;
	struct match_label *known = match_cache_label(cache, pid);
	bool settled;

	if (match_label_is(known, pid))
		return known->label;
	*known = (struct match_label){
		.whose = (uint64_t)pid + 1,
		.label = label_find(matcher, pid, &settled),
	};
	if (!settled)
		match_cache_mark_volatile(cache, &known->whose);
	return known->label;
}

struct match_cache *matcher_cache(struct matcher *matcher)
{
	return &matcher->cache;
}

/* Process ids of the profiler's that have ended are free for other processes. */
static void profilers_renew(struct matcher *matcher)
{
	size_t cursor = 0;
	uint32_t pid;

	memset(matcher->cache.divided, 0, sizeof(matcher->cache.divided));
	while ((pid = image_map_next_profiler(matcher->map, &cursor)) != 0)
		match_cache_divide(&matcher->cache, pid);
}

void matcher_expire(struct matcher *matcher, uint64_t time_ns)
{
	match_cache_forget(&matcher->cache);
	image_map_expire(matcher->map, time_ns);
	kernel_images_expire(matcher->kernel, time_ns);
	jit_table_expire(matcher->jit, time_ns);
	kernel_code_expire(matcher->kernel_code, time_ns);
	matcher->processes_expired = image_map_processes(matcher->map, NULL);
	profilers_renew(matcher);
	if (matcher->labels != NULL)
		process_labels_expire(matcher->labels, time_ns);
}

bool matcher_crowded(const struct matcher *matcher)
{
	return image_map_crowded(matcher->map) ||
	       image_map_processes(matcher->map, NULL) > matcher->processes_expired + CROWD;
}

bool matcher_unsettled(const struct matcher *matcher)
{
	return jit_table_unsettled(matcher->jit) || kernel_images_unsettled(matcher->kernel);
}

uint32_t matcher_uid(const struct matcher *matcher, uint32_t pid)
{
	const struct quota_user *user = image_map_user(matcher->map, pid);

	return user != NULL ? user->uid : 0;
}

const struct quota *matcher_quota(const struct matcher *matcher)
{
	return image_map_quota(matcher->map);
}

void matcher_counters(const struct matcher *matcher, struct counter_set *tally)
{
	struct quota_totals totals = quota_totals(image_map_quota(matcher->map));

	counter_set_put(tally, "stat", "image_events_lost", image_feed_lost(matcher->feed));
	counter_set_put(tally, "stat", "images_refused", image_table_refused(matcher->images));
	counter_set_put(tally, "stat", "mappings_dropped", image_map_dropped(matcher->map));
	counter_set_put(tally, "stat", "process_scans", matcher->scans);
	for (int i = 0; i < QUOTA_LIMITS; i++)
		counter_set_put(tally, "stat", quota_limit_name((enum quota_limit)i),
				image_map_quota(matcher->map)->refused[i]);
	counter_set_put(tally, "stat", "quota_points", totals.spent);
	counter_set_put(tally, "stat", "quota_files", totals.files);
	if (matcher->labels != NULL)
		process_labels_counters(matcher->labels, tally);
	jit_table_counters(matcher->jit, tally);
}

size_t matcher_processes(const struct matcher *matcher, size_t *bytes)
{
	size_t count = image_map_processes(matcher->map, bytes);

	if (matcher->labels != NULL && bytes != NULL)
		*bytes += process_labels_bytes(matcher->labels);
	if (bytes != NULL)
		*bytes += jit_table_bytes(matcher->jit) + image_table_bytes(matcher->images);
	return count;
}

struct image_table *matcher_images(struct matcher *matcher)
{
	return matcher->images;
}

struct kernel_images *matcher_kernel(struct matcher *matcher)
{
	return matcher->kernel;
}

const struct label_table *matcher_labels(const struct matcher *matcher)
{
	return matcher->labels != NULL ? process_labels_table(matcher->labels) : NULL;
}

void matcher_divide(struct matcher *matcher)
{
	matcher->division_count = 0;
	match_cache_forget(&matcher->cache);
}

void matcher_epoch(struct matcher *matcher)
{
	match_cache_forget(&matcher->cache);
	if (matcher->labels != NULL)
		process_labels_epoch(matcher->labels);
}

struct jit_images *matcher_jit(struct matcher *matcher)
{
	return jit_table_images(matcher->jit);
}

void matcher_describe(const struct matcher *matcher, char *text, size_t bytes)
{
	snprintf(text, bytes, "; image events: %s (%s)", image_feed_name(matcher->feed),
		 image_feed_reason(matcher->feed));
}

int matcher_poll_fd(struct matcher *matcher)
{
	return image_feed_poll_fd(matcher->feed);
}

/* The kernel's images are optional: without permission the call succeeds. */
static int kernel_open(struct matcher *matcher, struct error *err)
{
	struct error notice = {.message = ""};
	int rc;

	if (matcher->config.user_only)
		rc = kernel_images_create_user(&matcher->kernel, matcher->images, matcher->map,
					       &notice);
	else
		rc = kernel_images_create(&matcher->kernel, matcher->images, matcher->map, &notice);
	if (rc < 0)
		return error_set(err, -rc, "%s", notice.message);
	if (notice.message[0] != '\0')
		log_warning("%s", notice.message);
	return 0;
}

/* A target needs no scan: its address space begins with its exec. */
static int events_open(struct matcher *matcher, struct error *err)
{
	int rc = image_feed_open(&matcher->feed, matcher->config.image_events,
				 matcher->config.audit_socket, matcher->config.target_pid, err);

	if (rc < 0 || matcher->config.target_pid != 0)
		return rc;
	if (matcher->limits_users)
		image_feed_refuse(matcher->feed, change_refuse, matcher);
	scan_queue_all(&matcher->scan_queue);
	return 0;
}

/* There is no event of a target's fork; its parent is this process. */
static int labels_open(struct matcher *matcher, struct error *err)
{
	const struct image_event fork = {
		.type = IMAGE_EVENT_FORK,
		.pid = matcher->config.target_pid,
		.parent = (uint32_t)getpid(),
		.time_ns = clock_monotonic_ns(),
	};
	int rc = process_labels_create(&matcher->labels, cgroup_read, err);

	if (rc == 0 && fork.pid != 0)
		process_labels_event(matcher->labels, &fork);
	return rc;
}

/* Another image will get this number. */
static void image_forget(void *context, uint32_t image)
{
	struct matcher *matcher = context;

	archive_policy_forget(matcher->config.policy, image);
	if (image < matcher->division_count)
		matcher->division[image] = DIVISION_NOT_ASKED;
}

static uint32_t jit_uid(void *context, uint32_t pid)
{
	return matcher_uid(context, pid);
}

int matcher_open(struct matcher **ret, const struct matcher_config *config, struct error *err)
{
	struct matcher *matcher = calloc(1, sizeof(*matcher));
	int rc;

	if (matcher == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	matcher->config = *config;
	match_cache_forget(&matcher->cache);
	rc = image_table_create(&matcher->images, err);
	if (rc == 0 && config->policy != NULL)
		image_table_watch(matcher->images, archive_policy_seen, config->policy);
	if (rc == 0)
		rc = image_map_create(&matcher->map, matcher->images,
				      config->source->ops->own_generations, err);
	if (rc == 0 && config->target_pid == 0 &&
	    strcmp(config->source->ops->name, "replay") != 0) {
		matcher->limits_users = true;
		image_map_limit_users(matcher->map, process_owner, image_forget, matcher);
	}
	if (rc == 0 && config->units)
		rc = labels_open(matcher, err);
	if (rc == 0)
		rc = jit_table_create(&matcher->jit, matcher->images, err);
	if (rc == 0 && matcher->limits_users)
		jit_table_limit_users(matcher->jit, jit_uid, matcher);
	if (rc == 0)
		rc = kernel_code_create(&matcher->kernel_code, matcher->images,
					jit_table_images(matcher->jit), "/proc/kallsyms", err);
	if (rc == 0)
		rc = kernel_open(matcher, err);
	if (rc == 0)
		rc = events_open(matcher, err);
	if (rc < 0) {
		matcher_close(matcher);
		return rc;
	}
	matcher->processes_expired = image_map_processes(matcher->map, NULL);
	*ret = matcher;
	return 0;
}

void matcher_close(struct matcher *matcher)
{
	if (matcher == NULL)
		return;
	image_feed_close(matcher->feed);
	scan_queue_deinit(&matcher->scan_queue);
	kernel_images_destroy(matcher->kernel);
	kernel_code_destroy(matcher->kernel_code);
	jit_table_destroy(matcher->jit);
	image_map_destroy(matcher->map);
	image_table_destroy(matcher->images);
	process_labels_destroy(matcher->labels);
	free(matcher->division);
	free(matcher);
}
