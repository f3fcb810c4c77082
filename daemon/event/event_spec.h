/* SPDX-License-Identifier: GPL-2.0-only */
/* One event as a user writes it; the grammar is in daemon/event/event.h. */
#ifndef DCPI_EVENT_SPEC_H
#define DCPI_EVENT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/event/event_machine.h"
#include "daemon/source/source.h"

struct error;

/**
 * struct event_spec - a parsed event
 * @name:       without the period; the name of the event from here on
 * @code:       modifiers included
 * @has_period: true if a period was given
 * @period_min: the period, if given; in the event's unit, in range
 * @period_max: like @period_min
 */
struct event_spec {
	char name[SOURCE_EVENT_NAME_BYTES];
	struct event_code code;
	bool has_period;
	uint64_t period_min;
	uint64_t period_max;
};

/**
 * event_spec_parse() - parse one event
 * @text:   need not be terminated
 * @length: of @text
 *
 * Return: 0; -EINVAL, with a message that contains the bad word.
 */
int event_spec_parse(struct event_spec *ret, const struct event_machine *machine, const char *text,
		     size_t length, struct error *err);

/**
 * event_spec_end() - return the end of the first item of a list: its "," or the end of the list.
 */
const char *event_spec_end(const char *list);

#endif
