/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads and parses perf maps and jitdumps in a process in a sandbox
 * (daemon/base/sandbox_process.h), "dcpid-jit".
 *
 * The process is started for the first file, and again after it has crashed, sent an invalid
 * message or not answered. A request has a descriptor of the file. Lines and records come back in
 * messages, and are checked before they are passed on.
 */
#ifndef DCPI_JIT_PARSER_H
#define DCPI_JIT_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/sandbox_process.h"
#include "loader-hook/jit/jit_dump.h"
#include "loader-hook/jit/jit_map.h"

/* Maximum elapsed time of waiting for the process, for a request. */
#define JIT_PARSER_MS 1000
/* Maximum number of records of a request. */
#define JIT_PARSER_RECORDS_MAX 4096

/** enum jit_parser_flags - the flags of a message of the process; JIT_PARSER_RESULT is the last */
enum jit_parser_flags {
	JIT_PARSER_ITEMS,
	JIT_PARSER_RESULT,
};

/**
 * struct jit_parser_item - a line or a record in a message, followed by its name
 * @at:   of a line: position of the name in the file; of a record: of the code
 * @kind: of a record: enum jit_dump_kind
 */
struct jit_parser_item {
	uint64_t start;
	uint64_t bytes;
	uint64_t at;
	uint64_t from;
	uint64_t time_ns;
	uint32_t kind;
	uint32_t name_bytes;
};

/**
 * struct jit_parser - zero-initialised: the process is not running
 * @process: private
 * @cpu_ns:  CPU time of the process for all requests
 * @failed:  number of requests without a valid answer
 * @open:    the kernel provides no seccomp filter
 */
struct jit_parser {
	struct sandbox_process process;
	uint64_t cpu_ns;
	uint64_t failed;
	bool open;
};

/**
 * jit_parser_map() - read a part of a perf map
 *
 * As jit_map_scan(), for struct jit_map_reader; a failure may follow some lines.
 *
 * Return: also -EIO: the process did not give a valid answer; -errno: it could not be started.
 */
int jit_parser_map(void *parser, const struct jit_map_request *request, int fd, jit_map_fn visit,
		   void *context, struct jit_map_reply *reply);

/**
 * jit_parser_dump() - read records of a jitdump
 *
 * As jit_dump_scan(), for at most JIT_PARSER_RECORDS_MAX records, with the failures of
 * jit_parser_map(). Positions of names are not set.
 */
int jit_parser_dump(struct jit_parser *parser, struct jit_dump *dump, int fd, uint64_t until,
		    size_t *records, jit_dump_fn visit, void *context);

/** jit_parser_end() - end the process, if there is one */
void jit_parser_end(struct jit_parser *parser);

#endif
