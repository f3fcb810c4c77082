/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lines of a listing stand out, and how. */
#ifndef DCPI_HEAT_H
#define DCPI_HEAT_H

/* Shares of a listing's samples from which on a line is hot, or warm. */
#define HEAT_HOT 0.10
#define HEAT_WARM 0.02

/* Escape sequences of terminals. */
#define HEAT_STYLE_HOT "\033[1;31m"
#define HEAT_STYLE_WARM "\033[33m"
#define HEAT_STYLE_SOURCE "\033[2m"
#define HEAT_STYLE_HEADING "\033[1m"
#define HEAT_STYLE_NONE "\033[0m"

/** heat_style() - the escape sequence of a line with this share. Return: NULL: none. */
static inline const char *heat_style(double share)
{
	if (share >= HEAT_HOT)
		return HEAT_STYLE_HOT;
	return share >= HEAT_WARM ? HEAT_STYLE_WARM : 0;
}

#endif
