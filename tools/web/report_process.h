/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that makes a report. It is a program of this project, which parses files of others in a
 * sandbox of its own (tools/report/sandboxed.h). This side only collects its output, with limits of
 * time and size. Nothing here blocks.
 */
#ifndef DCPI_REPORT_PROCESS_H
#define DCPI_REPORT_PROCESS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

#define REPORT_PROCESS_FILES 3
#define REPORT_MESSAGE_BYTES 1024

/** enum report_end - how a report ended */
enum report_end {
	REPORT_OK,
	REPORT_NOTHING, /* it found nothing */
	REPORT_REFUSED, /* it printed an error */
	REPORT_CRASHED,
	REPORT_LATE,  /* it was ended after its deadline */
	REPORT_LARGE, /* it was ended after printing too much */
	REPORT_ENDS,
};

/**
 * struct report_process - a report while it runs
 * @output:    its standard output, malloc'd; owned by the caller after report_process_advance()
 * @message:   its standard error
 * @bytes_max: of @output
 */
struct report_process {
	pid_t pid;
	int files[REPORT_PROCESS_FILES]; /* its end, stdout, stderr */
	char *output;
	size_t bytes;
	size_t capacity;
	size_t bytes_max;
	char message[REPORT_MESSAGE_BYTES];
	size_t message_bytes;
	uint64_t deadline_ns;
	bool late;
	bool large;
};

/**
 * report_process_start() - start a program
 * @process:     out
 * @command:     absolute path and arguments, ends with NULL
 * @deadline_ns: on the monotonic clock
 *
 * The process gets no descriptors but /dev/null and pipes, and a process group of its own.
 *
 * Return: 0 or -errno.
 */
int report_process_start(struct report_process *process, char *const command[], size_t bytes_max,
			 uint64_t deadline_ns, struct error *err);

/** report_process_poll() - fill in the descriptors to wait for: REPORT_PROCESS_FILES of them */
void report_process_poll(const struct report_process *process, struct pollfd *polls);

/**
 * report_process_advance() - read its output, and end it if it exceeds a limit
 * @end: out, if it has ended
 *
 * Return: true if it has ended; then nothing of the process is left.
 */
bool report_process_advance(struct report_process *process, uint64_t now_ns, enum report_end *end);

/** report_process_kill() - end it, and free its output */
void report_process_kill(struct report_process *process);

#endif
