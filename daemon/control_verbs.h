/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the daemon answers on its control socket.
 *
 *	status		what is being collected
 *	stats		every counter of the epoch
 *	flush		take and store everything collected so far
 *	epoch [LABEL]	the same, end the epoch and begin another
 *	per_process [LIST], per_unit [LIST]
 *			images to profile so from now on, as the configuration's keys;
 *			without a list: what is
 *
 * ("stop" is the main program's.)
 */
#ifndef DCPI_CONTROL_VERBS_H
#define DCPI_CONTROL_VERBS_H

struct collector;
struct config;
struct control_reply;

/** control_verbs_handle() - @config: what is in force, as the collector was given it; changed. */
void control_verbs_handle(struct collector *collector, struct config *config, const char *verb,
			  const char *argument, struct control_reply *reply);

#endif
