/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which image was where in a recording: perf.data's side-band records, handed to the
 * image map that dcpid has (daemon/image/image_map.h). What dcpid asks of the running system,
 * build-ids and the kernel's layout, is in the recording.
 */
#ifndef DCPI_IMPORT_IMAGES_H
#define DCPI_IMPORT_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/image/image_map.h"

struct error;
struct image_table;
struct import_images;
struct import_lives;
struct jit_images;
struct kernel_images;
struct perf_event_header;
struct perfdata_header;
struct perfdata_sample;

/**
 * import_images_create() - nothing is mapped yet
 * @header:   complete; must outlive @ret
 * @here:     it is of this machine: files without build-id may be looked at
 * @until_ns: when the recording ended, CLOCK_REALTIME
 */
int import_images_create(struct import_images **ret, const struct perfdata_header *header,
			 bool here, int64_t until_ns, struct error *err);
void import_images_destroy(struct import_images *images);

/**
 * import_images_name_jit() - use perf maps that are still there; before the first record
 *
 * Does nothing for a recording of an earlier boot. Parameters as of import_jit_create().
 */
int import_images_name_jit(struct import_images *images, const struct import_lives *lives,
			   uint64_t last_ns, int64_t written_ns, struct error *err);

/**
 * import_images_record() - take note of a record, if it is of the side band
 * @trailer_bytes: what it ends in
 * @time_ns:       when; records come in that order
 */
void import_images_record(struct import_images *images, const struct perf_event_header *record,
			  size_t trailer_bytes, uint64_t time_ns);

/** import_images_place() - where a sample was; no older one follows. */
struct image_place import_images_place(struct import_images *images,
				       const struct perfdata_sample *sample);

/** import_images_command() - name of a process, "" if not known. */
const char *import_images_command(const struct import_images *images, uint32_t pid);

/** import_images_expire() - nothing older than that follows. */
void import_images_expire(struct import_images *images, uint64_t time_ns);

/**
 * import_images_table() - the images met; import_images_kernel(): of this machine's kernel,
 * whose symbols serve if a build-id says that it is the same; import_images_jit(): code
 * that the kernel made. Stay the images'.
 */
struct image_table *import_images_table(struct import_images *images);
struct kernel_images *import_images_kernel(struct import_images *images);
struct jit_images *import_images_jit(struct import_images *images);

#endif
