/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The broker of a report that runs in a sandbox: decides which files the report gets.
 *
 * A file of another user may have compromised the report, so its requests are hostile input. For
 * writing it gets only the output that the command line names, and the file with which SQLite
 * shares a database. For reading it gets ELF files, the databases, the user's own indexes of
 * symbols, and files that the command line names. A report that prints source gets source files.
 */
#ifndef DCPI_FILE_BROKER_H
#define DCPI_FILE_BROKER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/broker.h"
#include "tools/report/cli.h"

/**
 * struct file_broker_access - additional access of a report; NULL: none
 * @inputs: @input_count files that options name
 * @output: a file that it may write
 * @socket: the daemon's
 */
struct file_broker_access {
	const char *const *inputs;
	size_t input_count;
	const char *output;
	const char *socket;
};

struct file_broker;

/** file_broker_create() - @cli must outlive the broker. Return: NULL if out of memory */
struct file_broker *file_broker_create(const struct cli *cli,
				       const struct file_broker_access *access);

void file_broker_destroy(struct file_broker *broker);

/**
 * file_broker_serve() - execute a request and make its reply
 * @packet: in: the request; out: the reply. The caller closes the descriptors of both
 */
void file_broker_serve(struct file_broker *broker, struct broker_packet *packet);

/** file_broker_refuse() - refuse a file from now on, with this reason. Return: 0 or -ENOMEM */
int file_broker_refuse(struct file_broker *broker, const char *path, const char *reason);

/**
 * file_broker_forget_owners() - forget the owners of files: a restarted report has not read any
 * file
 */
void file_broker_forget_owners(struct file_broker *broker);

#endif
