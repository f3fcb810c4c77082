/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects data to deliver: the slices of the profile database that are complete and in no batch
 * yet, and the rest of epochs that have ended.
 *
 * A slice is complete if the daemon no longer changes it: a later slice exists and none of
 * its samples is pending, or its epoch has ended. The database merges older slices into longer
 * ones. A merged slice is in earlier batches if the interrupts of its parts add up to its own. If
 * only some of the parts are, the merged slice replaces them.
 *
 * Samples that were deleted from the database before they were in a batch are delivered as a loss,
 * "expired", of a slice from the end of the last one to the end of the epoch.
 */
#ifndef DCPI_SHIPMENT_H
#define DCPI_SHIPMENT_H

#include <stdint.h>

#include "ship/http_client.h"

struct error;
struct protocol;
struct ship_config;
struct ship_state;
struct shipment;

/** shipment_create() - the arguments must outlive the shipment */
int shipment_create(struct shipment **ret, const struct ship_config *config,
		    const struct protocol *protocol, struct ship_state *state,
		    struct http_client *client, struct error *err);

/** shipment_destroy() - free. NULL is fine. */
void shipment_destroy(struct shipment *shipment);

/**
 * shipment_prepare() - make the next batch
 * @response: of the destination, with -EAGAIN
 *
 * Opens the database and closes it again: another file may be at its path the next time.
 *
 * Return: 1: there is a new batch; 0: everything is in batches; or a negative errno:
 * - -EAGAIN: the destination did not answer which slices of a new epoch it has
 * - others: of the database or the state file
 */
int shipment_prepare(struct shipment *shipment, struct http_response *response, struct error *err);

/** shipment_end_ns() - return the end of the last slice that is in a batch; 0: none */
int64_t shipment_end_ns(const struct shipment *shipment);

#endif
