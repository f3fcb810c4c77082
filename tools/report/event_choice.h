/* SPDX-License-Identifier: GPL-2.0-only */
/* Which events a report is of. */
#ifndef DCPI_EVENT_CHOICE_H
#define DCPI_EVENT_CHOICE_H

#include <stddef.h>

struct cli;
struct error;
struct report_header;

/** struct event_choice - names of the header's or the command line's; zero is empty. */
struct event_choice {
	const char **names;
	size_t count;
};

/**
 * event_choice_make() - those asked for, in that order, each once; or all there are
 * @ret: freed by event_choice_deinit(), also after a failure
 *
 * Return: 0; -EINVAL one that is asked for does not exist, and the message has those that
 * do; -ENOMEM.
 */
int event_choice_make(struct event_choice *ret, const struct report_header *header,
		      const struct cli *cli, struct error *err);

/**
 * event_choice_unknown() - report an event that is none of @count existing ones
 *
 * Return: -EINVAL. The message lists the existing ones.
 */
int event_choice_unknown(const char *const *names, size_t count, const char *name,
			 struct error *err);

void event_choice_deinit(struct event_choice *choice);

#endif
