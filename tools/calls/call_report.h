/* SPDX-License-Identifier: GPL-2.0-only */
/* The heading of reports of calls and contexts. */
#ifndef DCPI_CALL_REPORT_H
#define DCPI_CALL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "instrument/calls/call_layout.h"

struct call_map;
struct json_object;

/**
 * struct call_report - properties of a recording
 * @losses: by enum call_loss
 * @shared: number of threads that are not recorded
 */
struct call_report {
	const struct call_map *map;
	enum call_metric metric;
	uint64_t total;
	uint64_t contexts;
	uint64_t threads;
	const uint64_t *losses;
	uint64_t shared;
};

/** call_report_heading() - print as lines of text */
void call_report_heading(FILE *stream, const struct call_report *report);

/** call_report_json() - make an object. Return: NULL if out of memory */
struct json_object *call_report_json(const struct call_report *report);

/** call_report_member() - add a member; takes ownership of it. Return: false if out of memory */
bool call_report_member(struct json_object *object, const char *key, struct json_object *member);

/** call_report_print_json() - print an object, and free it. Return: 0; -ENOMEM if it is NULL */
int call_report_print_json(struct json_object *object);

#endif
