/* SPDX-License-Identifier: GPL-2.0-only */
/* Images that a report cannot use: the reasons, and the share of the samples that each hides. */
#ifndef DCPI_PASSED_OVER_H
#define DCPI_PASSED_OVER_H

#include <stddef.h>

#include "lib/error.h"
#include "tools/report/cli.h"

/** struct passed_over - reasons, each once; zero-initialised: empty. Fields are private */
struct passed_over {
	struct passed_over_reason *list;
	size_t count;
	size_t capacity;
};

/**
 * passed_over_message() - make a message with a reason and the share that it hides
 * @lead: "passed over", "hotter, but passed over", ...
 * @all:  samples of the report; 0: the share is unknown
 *
 * "LEAD: REASON (39.8% of the samples)".
 */
void passed_over_message(struct error *ret, const char *lead, const struct error *reason,
			 double samples, double all);

/**
 * passed_over_add() - record that samples are left out
 * @reason: names the image
 *
 * Return: 0 or -ENOMEM.
 */
int passed_over_add(struct passed_over *passed, const struct error *reason, double samples);

/** passed_over_drop() - remove reasons that hide @samples or fewer */
void passed_over_drop(struct passed_over *passed, double samples);

/**
 * passed_over_print() - print passed_over_message() on stderr for the ten reasons with the largest
 * shares, and the share of the others together
 */
void passed_over_print(struct passed_over *passed, const struct cli *cli, const char *lead,
		       double all);

/**
 * passed_over_explain() - explain an empty report by the reason and the share it hides
 * @err: becomes "passed over: REASON (39.8% of the samples)" if there is exactly one reason;
 *       otherwise it is unchanged
 */
void passed_over_explain(const struct passed_over *passed, double all, struct error *err);

void passed_over_deinit(struct passed_over *passed);

#endif
