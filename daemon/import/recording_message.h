/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages from the process that reads a recording (recording_reader.h) to its parent
 * (recording.h).
 *
 * The process is not trusted. Messages have neither pointers nor booleans, and the parent checks
 * all numbers that it uses as an index or a size.
 *
 *	summary, events, images, marks, RECORDING_READY
 *	samples, changes and expiries in chronological order, RECORDING_END
 *
 * RECORDING_FAILED may replace any of them, and is the last.
 */
#ifndef DCPI_RECORDING_MESSAGE_H
#define DCPI_RECORDING_MESSAGE_H

#include <stdint.h>

#include "daemon/import/perfdata_event.h"
#include "lib/error.h"
#include "loader-hook/image_event.h"

/* Maximum size of a body: a record has at most 64 KiB. */
#define RECORDING_BODY_MAX ((size_t)68 << 10)
#define RECORDING_PATHS_BYTES_MAX ((size_t)256 << 20)

enum recording_message_kind {
	RECORDING_SUMMARY, /* struct recording_summary */
	RECORDING_EVENT,   /* struct recording_event */
	RECORDING_IMAGE,   /* struct recording_image and a path */
	RECORDING_MARKS,   /* some of struct import_mark */
	RECORDING_READY,
	RECORDING_SAMPLE, /* struct recording_sample and its stack */
	RECORDING_CHANGE, /* struct recording_change and a path */
	RECORDING_EXPIRE, /* struct recording_expiry */
	RECORDING_END,	  /* struct recording_end */
	RECORDING_FAILED, /* struct recording_failure */
};

/** struct recording_head - precedes a body of @bytes, which is padded to eight bytes */
struct recording_head {
	uint32_t kind;
	uint32_t bytes;
};

/** struct recording_summary - strings as in struct perfdata_header, counts of import_survey */
struct recording_summary {
	char host[65];
	char release[65];
	char arch[65];
	char cpu[128];
	char cpu_id[64];
	char command[512];
	uint32_t cpus;
	uint32_t lives_incomplete;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t samples;
	uint64_t guest;
	uint64_t unknown_event;
	uint64_t lost_samples;
	uint64_t lost_images;
	uint64_t lost_records;
	uint64_t throttled;
};

#define RECORDING_FREQUENCY (1U << 0)
#define RECORDING_CHAIN_NO_USER (1U << 1)
#define RECORDING_COUNTS_LOST (1U << 2)
#define RECORDING_HAS_TRAILER (1U << 3)

/** struct recording_event - as struct perfdata_event and struct import_event; @flags: these bits */
struct recording_event {
	char name[PERFDATA_NAME_BYTES];
	char plain_name[PERFDATA_NAME_BYTES];
	int32_t number;
	uint32_t flags;
	uint32_t type;
	uint32_t chain_max;
	uint64_t config;
	uint64_t period;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t user_registers;
	uint64_t samples;
	double periods;
};

struct recording_image {
	uint32_t build_id_bytes;
	uint8_t build_id[IMAGE_BUILD_ID_BYTES_MAX];
};

enum recording_stack_state {
	RECORDING_STACK_NONE,
	RECORDING_STACK_DAMAGED,
	RECORDING_STACK_COMPLETE,
};

/**
 * struct recording_sample - as struct perfdata_sample and struct perfdata_stack
 * @chain, @branches, @registers: numbers of words that follow
 * @stack_bytes: size of the copy of the stack that follows them
 */
struct recording_sample {
	uint64_t ip;
	uint64_t time_ns;
	uint64_t period;
	uint64_t abi;
	uint64_t stack_room;
	uint32_t event;
	uint32_t pid;
	uint32_t stack_state;
	uint32_t chain;
	uint32_t branches;
	uint32_t registers;
	uint32_t stack_bytes;
	uint32_t unused;
};

/** struct recording_change - as struct side_band_record; @misc: of the record */
struct recording_change {
	uint64_t time_ns;
	uint64_t start;
	uint64_t bytes;
	uint64_t file_offset;
	uint64_t device;
	uint64_t inode;
	uint64_t version;
	uint32_t kind;
	uint32_t type;
	uint32_t misc;
	uint32_t pid;
	uint32_t parent;
	uint32_t tid;
	uint32_t has_path;
	uint32_t build_id_bytes;
	uint8_t build_id[IMAGE_BUILD_ID_BYTES_MAX];
	uint32_t unused;
};

/** struct recording_expiry - no older samples follow */
struct recording_expiry {
	uint64_t time_ns;
};

/** struct recording_end - @late: as of record_queue_late() */
struct recording_end {
	uint64_t late;
	uint64_t cut_off;
};

struct recording_failure {
	int32_t errnum;
	char message[ERROR_MESSAGE_BYTES];
};

#endif
