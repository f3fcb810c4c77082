// SPDX-License-Identifier: GPL-2.0-only
/*
 * event_attr NAME...: print the attributes of each event on this machine, one event per line: type,
 * config, config1, config2 in hexadecimal, exclude_user, exclude_kernel.
 */
#include <stdio.h>

#include "daemon/event/event.h"
#include "lib/error.h"

int main(int argc, char **argv)
{
	struct event_list list;
	struct error err;
	int i;

	for (i = 1; i < argc; i++) {
		const struct source_event *event = &list.event[0];

		if (event_list_parse(&list, argv[i], 1000000000, &err) < 0) {
			fprintf(stderr, "event_attr: %s\n", err.message);
			return 2;
		}
		printf("%x %llx %llx %llx %d %d\n", event->type, (unsigned long long)event->config,
		       (unsigned long long)event->config1, (unsigned long long)event->config2,
		       (event->flags & DCPI_EVENT_EXCLUDE_USER) != 0,
		       (event->flags & DCPI_EVENT_EXCLUDE_KERNEL) != 0);
	}
	return 0;
}
