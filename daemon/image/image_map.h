/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which image is where: (process, generation, PC) -> (image, offset).
 *
 * Fed with image events in order of time. A process has a sequence of address
 * spaces, told apart by a generation; a fork shares its parent's mappings
 * until either changes them. Old address spaces and exited processes are kept
 * until image_map_expire(), because samples arrive later than the events that
 * end them.
 *
 * Generations are either the kernel's exec count, as dcpi.ko reports it, or
 * the map's own (image_map_generation()). Versions of an address space begin
 * with exec, and when a mapping ends or replaces another one. Each has a
 * generation of its own if these are the map's, so that even reused addresses
 * stay apart. The kernel's stay the same: then a sample may be from any of these
 * versions, from before a flush or after it, and if they have different images
 * at its address, it is unknown ("replaced") rather than wrong.
 *
 * The latest 512 versions of each process id are kept, with at most 16384 ranges in each
 * version. Changes beyond that make samples of the process
 * unknown ("quota_mappings"). New mappings in free places are not known. After a change that
 * replaces or unmaps something and cannot be recorded, nothing is known of the process up to its
 * next exec or scan. All together have 64 MB. Beyond that the largest processes of the user with
 * most lose their oldest versions (samples of these are "replaced"). In the end they lose the
 * mappings of the newest version (afterwards "quota_mappings"); image_map_dropped() counts them.
 * image_map_crowded() tells when it is time for a flush. Generations come round: of one that a
 * version had which was dropped before it expired, samples are unknown ("replaced").
 *
 * Each user but root has a quota (image_map_limit_users()). Beyond the quota of events, changes of
 * the mappings of a process are refused and its samples are unknown ("quota_events") up to its
 * next exec or scan.
 *
 * After events were lost (IMAGE_EVENT_LOST) nothing is known of a process up to its
 * next scan or, with generations of the map's own, its next exec: samples are
 * unknown ("lost"), not another image's. The kernel's generation of a process
 * is known again after a scan only.
 */
#ifndef DCPI_IMAGE_MAP_H
#define DCPI_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image/image_place.h"
#include "kmod/uapi/dcpi_uapi.h"

/* An own generation: which version it was is not known, since events were lost. */
#define IMAGE_MAP_GENERATION_LOST DCPI_GENERATION_MAX

struct error;
struct image_event;
struct image_map;
struct image_table;
struct quota;
struct quota_user;

/**
 * image_map_create() - an empty map
 * @table:           where images are registered; must outlive the map
 * @own_generations: see above
 */
int image_map_create(struct image_map **ret, struct image_table *table, bool own_generations,
		     struct error *err);
void image_map_destroy(struct image_map *map);

/**
 * image_map_refuses() - Return: whether an event is refused because its process has reached the
 * limit of its user
 *
 * Counts it. The event need not be passed to image_map_event(), nor to any other object.
 */
bool image_map_refuses(struct image_map *map, const struct image_event *event);

/**
 * image_map_event() - take note of an event
 *
 * A scan may come at any time: to begin with, for a process that a lookup did
 * not know, or after side-band records were lost. What it found replaces what
 * was known; older events that arrive after it tell of the time before it only. The
 * mappings of a process first heard of through a scan count for all its past.
 */
void image_map_event(struct image_map *map, const struct image_event *event);

/**
 * image_map_set_generation() - the kernel's generation of a scanned process
 * @time_ns: when it had been read
 *
 * From then on exec and fork are followed by the map. The generation must be that
 * of the address space which was scanned: read it after the scan's first event and
 * after its last, and if it changed, image_map_doubt(). An exec between the
 * beginning of the scan and @time_ns is dealt with here.
 */
void image_map_set_generation(struct image_map *map, uint32_t pid, uint32_t generation,
			      uint64_t time_ns);

/**
 * image_map_doubt() - what a scan found may be of another generation
 *
 * Up to the next scan the process' samples are unknown. Kernel generations only.
 */
void image_map_doubt(struct image_map *map, uint32_t pid);

/**
 * image_map_untold() - a living process whose generation is not known; kernel's only
 *
 * As after image_map_doubt(), or when events were lost: a scan would tell. What it forks
 * has none until then, so that its children may live too short a time to be asked. Each
 * is named once, and again when it forks or execs.
 *
 * Return: its id; 0: there is none.
 */
uint32_t image_map_untold(struct image_map *map);

/**
 * image_map_generation() - own generations: the address space at a time
 *
 * Return: the generation, 1 .. DCPI_GENERATION_MAX - 1, or IMAGE_MAP_GENERATION_LOST;
 * 0 for a process not known at that time. A lookup with 0 succeeds if a scan has told of
 * it since, and nothing was ever lost.
 */
uint32_t image_map_generation(const struct image_map *map, uint32_t pid, uint64_t time_ns);

/** image_map_has() - whether anything is known of a process: a scan would not tell of its past */
bool image_map_has(const struct image_map *map, uint32_t pid);

/**
 * image_map_changes() - a number of what a process has mapped, as far as events tell
 * @since_ns: out: since when all of it is where it is now, that is, when its newest version
 *            began; 0: a process not known, or no end of a mapping is
 *
 * Return: no other process' either, nor one's that had its id before; 0: not known.
 */
uint32_t image_map_changes(const struct image_map *map, uint32_t pid, uint64_t *since_ns);

/**
 * image_map_lookup() - where a PC is. O(log mappings)
 *
 * Reads no files.
 */
struct image_place image_map_lookup(struct image_map *map, uint32_t pid, uint32_t generation,
				    uint64_t pc);

/**
 * image_map_add_kernel() - register kernel text
 * @start, @bytes: addresses
 *
 * A range that overlaps older ones replaces them.
 */
int image_map_add_kernel(struct image_map *map, uint32_t image, uint64_t start, uint64_t bytes);

/**
 * image_map_forget_kernel() - no kernel text is known
 *
 * To register what there is now; of no more ranges than there were, that cannot fail.
 */
void image_map_forget_kernel(struct image_map *map);

/** image_map_command() - name of a process, "" if not known; valid until the next event. */
const char *image_map_command(const struct image_map *map, uint32_t pid);

/**
 * image_map_next() - the processes that live, as far as is known, one after the other
 * @cursor: 0 to begin with
 *
 * That one of them has ended may be told on the way, and nothing else.
 *
 * Return: its id; 0: there is no other.
 */
uint32_t image_map_next(const struct image_map *map, size_t *cursor);

/** image_map_owner_fn - find the uid that is charged for a process: process_owner() */
typedef int (*image_map_owner_fn)(uint32_t pid, uint32_t *uid);

/** image_map_forget_fn - the number of an image is given back: forget what belongs to it */
typedef void (*image_map_forget_fn)(void *context, uint32_t image);

/**
 * image_map_limit_users() - give each user but root a quota (quota.h), and reuse the numbers of
 * images without samples (image_table_limit())
 * @owner:   see there
 * @forget:  NULL: nothing belongs to an image
 * @context: of @forget
 */
void image_map_limit_users(struct image_map *map, image_map_owner_fn owner,
			   image_map_forget_fn forget, void *context);

/** image_map_quota() - the accounts of the users; stays the map's. */
struct quota *image_map_quota(struct image_map *map);

/** image_map_user() - the account of a process. Return: NULL: there are no limits. */
struct quota_user *image_map_user(struct image_map *map, uint32_t pid);

/**
 * image_map_refuse() - a process was not scanned because of the limit of its user
 *
 * Its samples are unknown up to its next exec or scan; image_map_limited() names it.
 */
void image_map_refuse(struct image_map *map, uint32_t pid, uint64_t time_ns);

/**
 * image_map_limited() - find a living process to scan after a refusal
 *
 * Events of the process were refused, and the account of its user can be charged again.
 *
 * A scan of the process makes its mappings known.
 *
 * Return: its id; 0: there is none.
 */
uint32_t image_map_limited(struct image_map *map, uint64_t now_ns);

/** image_map_crowded() - whether a process has so many versions that some must soon go. */
bool image_map_crowded(const struct image_map *map);

/** image_map_expire() - forget what ended before @time_ns. */
void image_map_expire(struct image_map *map, uint64_t time_ns);

/** image_map_dropped() - versions that went, or were emptied, for want of memory. */
uint64_t image_map_dropped(const struct image_map *map);

/** image_map_processes() - processes known, and the bytes the map uses. */
size_t image_map_processes(const struct image_map *map, size_t *bytes);

#endif
