/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorded time of ranges (branch_records.h), as evidence for the fit of the flow: executions
 * are samples of time in these ranges, divided by their recorded cycles.
 */
#ifndef DCPI_FLOW_RECORDS_H
#define DCPI_FLOW_RECORDS_H

#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/frequency.h"

/**
 * flow_records_take() - replace the evidence of blocks by that of ranges that begin in them
 * @evidence: changed only if the return value is not 0
 *
 * Return: number of blocks with such ranges.
 */
int flow_records_take(struct flow_evidence *evidence, const struct frequency_input *input);

#endif
