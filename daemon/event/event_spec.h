/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event as a user writes it; the grammar is in daemon/event/event.h.
 */
#ifndef DCPI_EVENT_SPEC_H
#define DCPI_EVENT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/event/event_machine.h"
#include "daemon/source/source.h"

struct error;

/**
 * struct event_spec - what it says
 * @name:       without the period: what the event is called from here on
 * @code:       modifiers included
 * @has_period: whether there is one
 * @period_min: if so; in the event's unit, in range
 * @period_max: likewise
 */
struct event_spec {
	char name[SOURCE_EVENT_NAME_BYTES];
	struct event_code code;
	bool has_period;
	uint64_t period_min;
	uint64_t period_max;
};

/**
 * event_spec_parse() - read one
 * @text:   need not end with a zero
 * @length: of @text
 *
 * Return: 0; -EINVAL, and the message names the bad word.
 */
int event_spec_parse(struct event_spec *ret, const struct event_machine *machine, const char *text,
		     size_t length, struct error *err);

/** event_spec_end() - where in a list of specifications the first ends: "," or the end. */
const char *event_spec_end(const char *list);

#endif
