/* SPDX-License-Identifier: GPL-2.0-only */
/* Text output of the daemon's reply to "status". */
#ifndef DCPI_STATUS_TEXT_H
#define DCPI_STATUS_TEXT_H

#include <stdio.h>

struct metrics;

/**
 * status_text_print() - print the status for users
 * @reply: reply of the daemon; missing values are omitted
 *
 * Problems come last, one per line, each beginning with "!".
 */
void status_text_print(FILE *stream, const struct metrics *reply);

#endif
