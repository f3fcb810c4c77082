/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps (process, generation, PC) to (image, offset).
 *
 * Its input is image events in chronological order. A process has a sequence of address spaces with
 * different generations; a fork shares its parent's mappings until either changes them. Old address
 * spaces and exited processes are kept until image_map_expire(), because samples arrive later than
 * the events that end them.
 *
 * Generations are assigned by the map (image_map_generation()), or they are the kernel's exec count
 * as reported by dcpi.ko. A new version of an address space begins with an exec, and when a mapping
 * ends or replaces another one. If generations are the map's, each version has its own, so that
 * even reused addresses are distinguished. If they are the kernel's, all versions since an exec
 * have the same. A sample may then be from any of these versions, from before a flush or after it.
 * If they have different images at its address, it is unknown ("replaced") rather than wrong.
 *
 * The latest 512 versions of each process id are kept, with at most 16384 ranges in each version.
 * Changes beyond that make samples of the process unknown ("quota_mappings"): new mappings in free
 * places are not recorded. If a change that replaces or unmaps something cannot be recorded, all
 * mappings of the process are invalid until its next exec or scan. All versions together have 64
 * MB. Beyond that, the largest processes of the user with the most lose their oldest versions
 * (their samples are "replaced"). Finally they lose the mappings of the newest version (afterwards
 * "quota_mappings"); image_map_dropped() counts them. image_map_crowded() indicates when a flush is
 * due. Generations wrap around. Samples with the generation of a version that was dropped before it
 * expired are unknown ("replaced").
 *
 * Each user except root has a quota (image_map_limit_users()). Beyond the quota of events, changes
 * of the mappings of a process are refused, and its samples are unknown ("quota_events") until its
 * next exec or scan.
 *
 * After events were lost (IMAGE_EVENT_LOST), the mappings of a process are invalid until its next
 * scan or, with the map's own generations, its next exec. Its samples are unknown ("lost"), rather
 * than assigned to another image. The kernel's generation of a process is known again only after a
 * scan.
 */
#ifndef DCPI_IMAGE_MAP_H
#define DCPI_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image/image_place.h"
#include "kmod/uapi/dcpi_uapi.h"

/* With own generations: the version is unknown, because events were lost. */
#define IMAGE_MAP_GENERATION_LOST DCPI_GENERATION_MAX

struct error;
struct image_event;
struct image_map;
struct image_table;
struct quota;
struct quota_user;

/**
 * image_map_create() - create an empty map
 * @table:           where images are registered; must outlive the map
 * @own_generations: generations are assigned by the map; see above
 */
int image_map_create(struct image_map **ret, struct image_table *table, bool own_generations,
		     struct error *err);
void image_map_destroy(struct image_map *map);

/**
 * image_map_refuses() - check whether a change of mappings is refused because its process has
 * reached its user's limit
 *
 * Does not concern events of scans. A refused event is counted. It need not be passed to
 * image_map_event(), nor to any other object.
 *
 * Return: true if it is refused.
 */
bool image_map_refuses(struct image_map *map, uint32_t pid, uint64_t time_ns);

/**
 * image_map_event() - process an event
 *
 * A scan may come at any time: at the start, for a process that a lookup did not know, or after
 * side-band records were lost. Its findings replace earlier information; older events that arrive
 * after it affect only the time before it. If a process was unknown before its scan, the mappings
 * found are taken to be valid for all its past.
 */
void image_map_event(struct image_map *map, const struct image_event *event);

/**
 * image_map_set_generation() - set the kernel's generation of a scanned process
 * @time_ns: when it had been read
 *
 * Afterwards the map updates it at execs and forks. The generation must be that of the address
 * space which was scanned. So read it after the scan's first event and after its last one; if it
 * has changed, call image_map_doubt(). An exec between the beginning of the scan and @time_ns is
 * handled here.
 */
void image_map_set_generation(struct image_map *map, uint32_t pid, uint32_t generation,
			      uint64_t time_ns);

/**
 * image_map_doubt() - invalidate the findings of a scan, which may belong to another generation
 *
 * The samples of the process are unknown until its next scan. Kernel generations only.
 */
void image_map_doubt(struct image_map *map, uint32_t pid);

/**
 * image_map_next_unscanned() - return a live process whose kernel generation is unknown
 *
 * Generations become unknown by image_map_doubt() or lost events; a scan determines them. The
 * children of such a process have none until then, and may be too short-lived to be scanned
 * themselves. Each process is returned once, and again when it forks or execs.
 *
 * Return: its id; 0: there is none.
 */
uint32_t image_map_next_unscanned(struct image_map *map);

/**
 * image_map_generation() - own generations: return the generation of a process at a time
 *
 * Return: the generation, 1 .. DCPI_GENERATION_MAX - 1, or IMAGE_MAP_GENERATION_LOST; 0 for a
 * process that was unknown at that time. A lookup with 0 succeeds if a scan has found the process
 * since, and no event was ever lost.
 */
uint32_t image_map_generation(const struct image_map *map, uint32_t pid, uint64_t time_ns);

/** image_map_has() - return true if a process is known: a scan would add nothing about its past */
bool image_map_has(const struct image_map *map, uint32_t pid);

/**
 * image_map_changes() - return a number that changes with the mappings of a process, as reported by
 * events
 * @since_ns: out: time since when no mapping has moved, that is, the start of the newest version;
 *            0: the process is unknown, or no mapping of it has ended
 *
 * Return: unique among processes, including earlier ones with the same id; 0: unknown process.
 */
uint32_t image_map_changes(const struct image_map *map, uint32_t pid, uint64_t *since_ns);

/**
 * image_map_lookup() - find the image and offset of a PC. O(log mappings)
 *
 * Reads no files.
 */
struct image_place image_map_lookup(struct image_map *map, uint32_t pid, uint32_t generation,
				    uint64_t pc);

/**
 * image_map_is_profiler() - return true if a process executed a program of the profiler
 * (lib/profiler_file.h) in a generation; also before that program's first own instruction
 */
bool image_map_is_profiler(const struct image_map *map, uint32_t pid, uint32_t generation);

/**
 * image_map_next_profiler() - iterate over the processes for which image_map_is_profiler() may
 * return true
 * @cursor: initially 0
 *
 * Return: its id; 0: there are no more.
 */
uint32_t image_map_next_profiler(const struct image_map *map, size_t *cursor);

/**
 * image_map_add_kernel() - register kernel text
 * @start, @bytes: range of addresses
 *
 * A range that overlaps older ones replaces them.
 */
int image_map_add_kernel(struct image_map *map, uint32_t image, uint64_t start, uint64_t bytes);

/**
 * image_map_forget_kernel() - remove all kernel text
 *
 * The caller then registers the current text. With no more ranges than before, that cannot fail.
 */
void image_map_forget_kernel(struct image_map *map);

/**
 * image_map_command() - return the name of a process, "" if unknown; valid until the next event.
 */
const char *image_map_command(const struct image_map *map, uint32_t pid);

/**
 * image_map_next() - iterate over the processes that are alive, according to events
 * @cursor: initially 0
 *
 * During the iteration the map may process exit events, but no others.
 *
 * Return: its id; 0: there are no more.
 */
uint32_t image_map_next(const struct image_map *map, size_t *cursor);

/** image_map_owner_fn - find the uid that is charged for a process: process_owner() */
typedef int (*image_map_owner_fn)(uint32_t pid, uint32_t *uid);

/** image_map_forget_fn - the number of an image is reclaimed: drop all data of this image */
typedef void (*image_map_forget_fn)(void *context, uint32_t image);

/**
 * image_map_limit_users() - give each user except root a quota (quota.h), and reclaim the numbers
 * of images without samples (image_table_limit())
 * @owner:   see there
 * @forget:  NULL: there are no data of images
 * @context: of @forget
 */
void image_map_limit_users(struct image_map *map, image_map_owner_fn owner,
			   image_map_forget_fn forget, void *context);

/** image_map_quota() - return the accounts of the users; owned by the map. */
struct quota *image_map_quota(struct image_map *map);

/** image_map_user() - return the account of a process. Return: NULL: there are no limits. */
struct quota_user *image_map_user(struct image_map *map, uint32_t pid);

/**
 * image_map_refuse() - record that a process was not scanned because of the limit of its user
 *
 * Its samples are unknown until its next exec or scan; image_map_limited() returns it later.
 */
void image_map_refuse(struct image_map *map, uint32_t pid, uint64_t time_ns);

/**
 * image_map_limited() - find a live process to scan after a refusal
 *
 * Events of the process were refused, and the account of its user can be charged again. A scan
 * makes its mappings known.
 *
 * Return: its id; 0: there is none.
 */
uint32_t image_map_limited(struct image_map *map, uint64_t now_ns);

/** image_map_crowded() - return true if a process is close to the limit of versions. */
bool image_map_crowded(const struct image_map *map);

/** image_map_expire() - drop versions that ended before @time_ns. */
void image_map_expire(struct image_map *map, uint64_t time_ns);

/**
 * image_map_dropped() - return the number of versions dropped or emptied because of the memory
 * limit.
 */
uint64_t image_map_dropped(const struct image_map *map);

/** image_map_processes() - return the number of known processes; @bytes: out: memory of the map */
size_t image_map_processes(const struct image_map *map, size_t *bytes);

#endif
