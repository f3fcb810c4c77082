/* SPDX-License-Identifier: GPL-2.0-only */
/* Highlighting of the hottest lines in a listing. */
#ifndef DCPI_HEAT_H
#define DCPI_HEAT_H

/* Minimum shares of a listing's samples for a hot and a warm line. */
#define HEAT_HOT 0.10
#define HEAT_WARM 0.02

/* Terminal escape sequences. */
#define HEAT_STYLE_HOT "\033[1;31m"
#define HEAT_STYLE_WARM "\033[33m"
#define HEAT_STYLE_SOURCE "\033[2m"
#define HEAT_STYLE_HEADING "\033[1m"
#define HEAT_STYLE_NONE "\033[0m"

/** heat_style() - return the escape sequence for a line with this share; NULL: none */
static inline const char *heat_style(double share)
{
	if (share >= HEAT_HOT)
		return HEAT_STYLE_HOT;
	return share >= HEAT_WARM ? HEAT_STYLE_WARM : 0;
}

#endif
