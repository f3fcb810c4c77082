/* SPDX-License-Identifier: GPL-2.0-only */
/* The daemon's answer to "status" in words. */
#ifndef DCPI_STATUS_TEXT_H
#define DCPI_STATUS_TEXT_H

#include <stdio.h>

struct metrics;

/**
 * status_text_print() - print for people
 * @reply: what the daemon answered; what is missing in it is not spoken of
 *
 * What is wrong comes last, a line each that begins with "!".
 */
void status_text_print(FILE *stream, const struct metrics *reply);

#endif
