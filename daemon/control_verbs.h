/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests that the daemon handles on its control socket.
 *
 *	status		status and health of the collection.
 *	stats		every counter of the epoch.
 *	flush		drain and store everything collected so far.
 *	epoch [LABEL]	flush, end the epoch and begin another one.
 *	per_process [LIST], per_unit [LIST]
 *			set the images to profile by process or unit, as the
 *			configuration's keys; without a list: show the current ones.
 *
 * (The main program handles "stop".)
 */
#ifndef DCPI_CONTROL_VERBS_H
#define DCPI_CONTROL_VERBS_H

struct collector;
struct config;
struct control_reply;

/**
 * control_verbs_handle() - handle a request. @config: the collector's configuration; may be
 * changed.
 */
void control_verbs_handle(struct collector *collector, struct config *config, const char *verb,
			  const char *argument, struct control_reply *reply);

#endif
