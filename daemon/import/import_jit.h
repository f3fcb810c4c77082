/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of JIT code in a recording, from perf maps that still exist.
 *
 * A recording contains no perf map: perf report also reads /tmp/perf-PID.map when it runs. A map is
 * used if it belongs to a recorded program:
 *
 * - The recording was made on this machine, after its last boot.
 * - The map was last written after the program began, and before the program ended or another
 *   program got its process ID.
 * - The owner of the map is root, the importing user, or the user of the process, if the process
 *   still runs.
 *
 * A perf map has no times. Samples at addresses where it lists several names are
 * IMAGE_UNKNOWN_JIT_AMBIGUOUS.
 */
#ifndef DCPI_IMPORT_JIT_H
#define DCPI_IMPORT_JIT_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct image_place;
struct image_table;
struct import_jit;
struct import_lives;
struct jit_images;

/**
 * import_jit_create() - prepare reading of perf maps
 * @images, @procedures, @lives: must outlive @ret
 * @last_ns:    end of the recording, by its own clock
 * @written_ns: when the recording was written, CLOCK_REALTIME
 *
 * Return: 0; -ESTALE if the recording is from an earlier boot, or was made with another clock than
 * perf's default; -ENOMEM.
 */
int import_jit_create(struct import_jit **ret, struct image_table *images,
		      struct jit_images *procedures, const struct import_lives *lives,
		      uint64_t last_ns, int64_t written_ns);
void import_jit_destroy(struct import_jit *jit);

/**
 * import_jit_place() - find the image and offset of a PC in anonymous memory
 * @executable: image of the program that the process ran, or IMAGE_UNKNOWN
 * @time_ns:    of the sample
 * @place:      set if the code's name is known; otherwise the reason may be set, as by
 *              jit_table_place()
 */
void import_jit_place(struct import_jit *jit, uint32_t pid, uint32_t executable, uint64_t pc,
		      uint64_t time_ns, struct image_place *place);

#endif
