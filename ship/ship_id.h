/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Identifiers that are the same whenever they are computed: UUIDs of version 8 (RFC 9562) from
 * BLAKE2b digests. They do not reveal the machine's id.
 */
#ifndef DCPI_SHIP_ID_H
#define DCPI_SHIP_ID_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

#define SHIP_ID_TEXT_BYTES 37

/** ship_id_host() - of the host of an epoch: machine id and host name */
void ship_id_host(uint8_t uuid[16], const struct profile_epoch *epoch);

/** ship_id_epoch() - of an epoch: host and start */
void ship_id_epoch(uint8_t uuid[16], const struct profile_epoch *epoch);

/** ship_id_image() - of an image: kind and identity; without identity, path and @host */
void ship_id_image(uint8_t uuid[16], const struct profile_image *image, const uint8_t host[16]);

/** ship_id_digest() - a digest of bytes that is no identifier of the others */
void ship_id_digest(uint8_t digest[16], const void *data, uint64_t bytes);

/** ship_id_text() - format as 8-4-4-4-12 hexadecimal digits */
const char *ship_id_text(char text[SHIP_ID_TEXT_BYTES], const uint8_t uuid[16]);

/**
 * ship_id_hex() - format as hexadecimal digits
 * @text: out: room for 2 * PROFILE_IDENTITY_BYTES_MAX + 1 characters; more bytes are ignored
 */
const char *ship_id_hex(char *text, const uint8_t *data, size_t bytes);

/** ship_id_kind() - return the name of a kind of images: "file", "kernel", ... */
const char *ship_id_kind(enum profile_image_kind kind);

#endif
