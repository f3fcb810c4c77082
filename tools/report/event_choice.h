/* SPDX-License-Identifier: GPL-2.0-only */
/* The events that a report covers. */
#ifndef DCPI_EVENT_CHOICE_H
#define DCPI_EVENT_CHOICE_H

#include <stddef.h>

struct cli;
struct error;
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

/**
 * event_choice_unknown() - report an event that is not among the @count existing ones
 *
 * Return: -EINVAL. The message lists the existing ones.
 */
int event_choice_unknown(const char *const *names, size_t count, const char *name,
			 struct error *err);

void event_choice_deinit(struct event_choice *choice);

#endif
