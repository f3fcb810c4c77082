/* SPDX-License-Identifier: GPL-2.0-only */
/* What reports of calls and of contexts say first. */
#ifndef DCPI_CALL_REPORT_H
#define DCPI_CALL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "instrument/calls/call_layout.h"

struct call_map;
struct json_object;

/**
 * struct call_report - about what was recorded
 * @losses: by enum call_loss
 * @shared: threads that are not in it
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

/** call_report_heading() - in lines. */
void call_report_heading(FILE *stream, const struct call_report *report);

/** call_report_json() - as members of an object. Return: NULL: no memory. */
struct json_object *call_report_json(const struct call_report *report);

/** call_report_member() - add a member, which is taken over. Return: false: no memory. */
bool call_report_member(struct json_object *object, const char *key, struct json_object *member);

/** call_report_print_json() - print an object, and free it. Return: 0; -ENOMEM it is NULL. */
int call_report_print_json(struct json_object *object);

#endif
