/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics of dcpiship in the text format of Prometheus, for the textfile collector of its agent. */
#ifndef DCPI_SHIP_METRICS_H
#define DCPI_SHIP_METRICS_H

#include <stdint.h>

struct delivery;
struct error;

/**
 * ship_metrics_write() - replace the metrics file of the configuration, if it names one
 * @end_ns: end of the last slice that is in a batch; 0: none
 */
int ship_metrics_write(const struct delivery *delivery, int64_t end_ns, struct error *err);

#endif
