/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The metadata of a perf.data file: where and how it was recorded, its events, and the build-ids of
 * images. A file on disk stores them in sections, a file written to a pipe in records among the
 * others; the contents are the same.
 */
#ifndef DCPI_PERFDATA_HEADER_H
#define DCPI_PERFDATA_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/import/perfdata_event.h"
#include "loader-hook/build_id.h"

struct error;
struct perf_event_header;

#define PERFDATA_IMAGES_MAX (1U << 17)

/* Sections that are read, by their bit in the header. */
enum perfdata_feature {
	PERFDATA_BUILD_ID = 2,
	PERFDATA_HOSTNAME = 3,
	PERFDATA_RELEASE = 4,
	PERFDATA_ARCH = 6,
	PERFDATA_CPUS = 7,
	PERFDATA_CPU = 8,
	PERFDATA_CPU_ID = 9,
	PERFDATA_COMMAND = 11,
	PERFDATA_EVENTS = 12,
	PERFDATA_FEATURES = 256,
};

/** struct perfdata_image - the build-id of a file when it was recorded. */
struct perfdata_image {
	struct build_id build_id;
	char *path; /* as in mappings: "[vdso]", "[kernel.kallsyms]", a module's file */
};

/**
 * struct perfdata_header - zero-initialised is empty
 * @host, @release, @arch, @cpu, @cpu_id: of the machine; "" if missing
 * @cpus:    number of online CPUs
 * @command: perf's command line
 * @images:  sorted by path after perfdata_header_settle()
 */
struct perfdata_header {
	char host[65];
	char release[65];
	char arch[65];
	char cpu[128];
	char cpu_id[64];
	uint32_t cpus;
	char command[512];
	struct perfdata_events events;
	struct perfdata_image *images;
	size_t image_count;
	size_t image_capacity;
};

void perfdata_header_deinit(struct perfdata_header *header);

/**
 * perfdata_header_feature() - parse a section's contents; unknown sections are ignored
 *
 * Return: 0; -EBADMSG if it is malformed; -ENOMEM.
 */
int perfdata_header_feature(struct perfdata_header *header, unsigned int feature, const void *data,
			    size_t bytes, struct error *err);

/**
 * perfdata_header_record() - parse a record with metadata; other records are ignored
 *
 * Return: as above.
 */
int perfdata_header_record(struct perfdata_header *header, const struct perf_event_header *record,
			   struct error *err);

/** perfdata_header_settle() - finish, after the last section or record. */
void perfdata_header_settle(struct perfdata_header *header);

/** perfdata_header_build_id() - return the build-id of the file at a path; NULL: unknown. */
const struct build_id *perfdata_header_build_id(const struct perfdata_header *header,
						const char *path);

#endif
