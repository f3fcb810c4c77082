/* SPDX-License-Identifier: GPL-2.0-only */
/* The events that a report covers. */
#ifndef DCPI_EVENT_CHOICE_H
#define DCPI_EVENT_CHOICE_H

#include <stddef.h>

struct cli;
struct error;
struct profile_event;
struct report_header;

/** struct event_choice - names owned by the header or the command line; zero-initialised: empty */
struct event_choice {
	const char **names;
	size_t count;
};

/**
 * event_choice_make() - choose the requested events in their order, each once; or all events
 * @ret: freed by event_choice_deinit(), also after a failure
 *
 * Return: 0; -EINVAL: a requested event does not exist, and the message lists the existing ones;
 * -ENOMEM.
 */
int event_choice_make(struct event_choice *ret, const struct report_header *header,
		      const struct cli *cli, struct error *err);

void event_choice_deinit(struct event_choice *choice);

/** struct event_names - names of events, each once; zero-initialised: none; strings are malloc'd */
struct event_names {
	const char **list;
	size_t count;
	size_t capacity;
};

/** event_names_add() - profile_event_fn that adds the name of an event. Return: 0 or -ENOMEM */
int event_names_add(void *names, const struct profile_event *event);

void event_names_deinit(struct event_names *names);

#endif
