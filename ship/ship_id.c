// SPDX-License-Identifier: GPL-2.0-only
#include "ship/ship_id.h"

#include <stdio.h>
#include <string.h>

#include "lib/blake2b.h"

static void begin(struct blake2b *hash, const char *purpose)
{
	blake2b_init(hash, 16);
	blake2b_update(hash, purpose, strlen(purpose) + 1);
}

static void id_add_text(struct blake2b *hash, const char *text)
{
	blake2b_update(hash, text, strlen(text) + 1);
}

static void id_add_number(struct blake2b *hash, uint64_t number)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	blake2b_update(hash, bytes, sizeof(bytes));
}

static void end(struct blake2b *hash, uint8_t uuid[16])
{
	blake2b_final(hash, uuid);
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

void ship_id_host(uint8_t uuid[16], const struct profile_epoch *epoch)
{
	struct blake2b hash;

	begin(&hash, "dcpi host");
	id_add_text(&hash, epoch->machine_id);
	id_add_text(&hash, epoch->host);
	end(&hash, uuid);
}

void ship_id_epoch(uint8_t uuid[16], const struct profile_epoch *epoch)
{
	struct blake2b hash;

	begin(&hash, "dcpi epoch");
	id_add_text(&hash, epoch->machine_id);
	id_add_text(&hash, epoch->host);
	id_add_number(&hash, (uint64_t)epoch->start_ns);
	end(&hash, uuid);
}

void ship_id_image(uint8_t uuid[16], const struct profile_image *image, const uint8_t host[16])
{
	struct blake2b hash;

	begin(&hash, "dcpi image");
	id_add_number(&hash, (uint64_t)image->kind);
	id_add_number(&hash, (uint64_t)image->identity_kind);
	id_add_number(&hash, image->identity_bytes);
	blake2b_update(&hash, image->identity, image->identity_bytes);
	if (image->identity_kind == PROFILE_IDENTITY_NONE) {
		blake2b_update(&hash, host, 16);
		id_add_text(&hash, image->path);
	}
	end(&hash, uuid);
}

void ship_id_digest(uint8_t digest[16], const void *data, uint64_t bytes)
{
	struct blake2b hash;

	begin(&hash, "dcpi digest");
	blake2b_update(&hash, data, bytes);
	blake2b_final(&hash, digest);
}

const char *ship_id_text(char text[SHIP_ID_TEXT_BYTES], const uint8_t uuid[16])
{
	char *p = text;

	for (int i = 0; i < 16; i++)
		p += sprintf(p, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			     uuid[i]);
	return text;
}

const char *ship_id_hex(char *text, const uint8_t *data, size_t bytes)
{
	text[0] = '\0';
	for (size_t i = 0; i < bytes && i < PROFILE_IDENTITY_BYTES_MAX; i++)
		sprintf(text + 2 * i, "%02x", data[i]);
	return text;
}

const char *ship_id_kind(enum profile_image_kind kind)
{
	static const char *const names[] = {"file", "kernel", "module", "vdso", "jit", "unknown"};

	return (size_t)kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}
