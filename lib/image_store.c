// SPDX-License-Identifier: GPL-2.0-only
#include "lib/image_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/broker.h"
#include "lib/cleanup.h"

static const char *const suffixes[][2] = {
	[IMAGE_STORE_BUILD_ID] = {[IMAGE_STORE_ROOT] = ".elf", [IMAGE_STORE_USER] = ".user.elf"},
	[IMAGE_STORE_DIGEST] = {[IMAGE_STORE_ROOT] = ".file", [IMAGE_STORE_USER] = ".user.file"},
	[IMAGE_STORE_CONTENT] =
		{[IMAGE_STORE_ROOT] = ".content", [IMAGE_STORE_USER] = ".user.content"},
	[IMAGE_STORE_JIT] = {[IMAGE_STORE_ROOT] = ".jit", [IMAGE_STORE_USER] = ".user.jit"},
};

int image_store_name(char ret[IMAGE_STORE_NAME_BYTES], enum image_store_kind kind,
		     enum image_store_owner owner, const uint8_t *identity, size_t identity_bytes)
{
	size_t i, length = 0;

	if (identity_bytes < 2 || identity_bytes > IMAGE_STORE_IDENTITY_BYTES)
		return -EINVAL;
	for (i = 0; i < identity_bytes; i++) {
		length += (size_t)sprintf(ret + length, "%02x", identity[i]);
		if (i == 0)
			ret[length++] = '/';
	}
	snprintf(ret + length, IMAGE_STORE_NAME_BYTES - length, "%s", suffixes[kind][owner]);
	return 0;
}

bool image_store_is_users(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *suffix = suffixes[i][IMAGE_STORE_USER];

		if (length > strlen(suffix) && strcmp(path + length - strlen(suffix), suffix) == 0)
			return true;
	}
	return false;
}

char *image_store_directory(const char *database)
{
	_cleanup_free_ char *path = broker_realpath(database);
	char *directory;

	if (path == NULL || asprintf(&directory, "%s-images", path) < 0)
		return NULL;
	return directory;
}
