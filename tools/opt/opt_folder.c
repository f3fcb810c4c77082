// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/opt_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define STATE_NAME "state"
#define STATE_HEADER "dcpiopt 1\n"
#define HEX_BYTES (2 * CONTENT_DIGEST_BYTES + 1)
#define STATE_FORMAT                                                                               \
	STATE_HEADER "original %s\noriginal_digest %s\ncopy_digest %s\nchecked %d\npairs %u\n"     \
		     "gain_low %.17g\ngain_high %.17g\n"
#define STATE_SCAN                                                                                 \
	STATE_HEADER "original %4095[^\n]\noriginal_digest %64s\ncopy_digest %64s\nchecked %1u\n"  \
		     "pairs %9u\ngain_low %lf\ngain_high %lf\n"
#define STATE_FIELDS 7
#define STATE_BYTES (PATH_MAX + 1024)

int opt_folder_path(char path[PATH_MAX], const char *folder, const char *name, struct error *err)
{
	int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);

	return length < PATH_MAX
		       ? 0
		       : error_set(err, ENAMETOOLONG, ERROR_OPEN ": path is too long", folder);
}

static void put_hex(char text[HEX_BYTES], const uint8_t digest[CONTENT_DIGEST_BYTES])
{
	for (size_t i = 0; i < CONTENT_DIGEST_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

static bool get_hex(uint8_t digest[CONTENT_DIGEST_BYTES], const char *text)
{
	if (strlen(text) != HEX_BYTES - 1 || strspn(text, "0123456789abcdef") != HEX_BYTES - 1)
		return false;
	for (size_t i = 0; i < CONTENT_DIGEST_BYTES; i++) {
		unsigned int byte;

		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		digest[i] = (uint8_t)byte;
	}
	return true;
}

static bool state_parse(struct opt_state *ret, const char *text)
{
	char original[HEX_BYTES], copy[HEX_BYTES];
	unsigned int checked;

	if (strncmp(text, STATE_HEADER, strlen(STATE_HEADER)) != 0 ||
	    sscanf(text, STATE_SCAN, ret->original, original, copy, &checked, &ret->pairs,
		   &ret->gain_low, &ret->gain_high) != STATE_FIELDS)
		return false;
	ret->checked = checked == 1;
	return checked <= 1 && ret->original[0] == '/' && isfinite(ret->gain_low) &&
	       isfinite(ret->gain_high) && ret->gain_low <= ret->gain_high &&
	       get_hex(ret->original_digest, original) && get_hex(ret->copy_digest, copy);
}

int opt_folder_load(struct opt_state *ret, const char *folder, struct error *err)
{
	_cleanup_file_ FILE *file = NULL;
	char path[PATH_MAX], text[STATE_BYTES];
	size_t bytes;
	int r = opt_folder_path(path, folder, STATE_NAME, err);

	if (r < 0)
		return r;
	file = fopen(path, "re");
	if (file == NULL && errno == ENOENT)
		return error_set(err, ENOENT, "'%s' is not a folder of 'dcpiopt prepare'", folder);
	if (file == NULL)
		return error_set_errno(err, ERROR_OPEN, path);
	bytes = fread(text, 1, sizeof(text) - 1, file);
	if (ferror(file))
		return error_set_errno(err, ERROR_READ, path);
	text[bytes] = '\0';
	if (strlen(text) != bytes || !state_parse(ret, text))
		return error_set(err, EBADMSG, ERROR_DAMAGED, path);
	return 0;
}

int opt_folder_store(const struct opt_state *state, const char *folder, struct error *err)
{
	char path[PATH_MAX], part[PATH_MAX], original[HEX_BYTES], copy[HEX_BYTES];
	FILE *file;
	int r = opt_folder_path(path, folder, STATE_NAME, err);

	if (r == 0)
		r = opt_folder_path(part, folder, STATE_NAME ".new", err);
	if (r < 0)
		return r;
	put_hex(original, state->original_digest);
	put_hex(copy, state->copy_digest);
	file = fopen(part, "we");
	if (file == NULL)
		return error_set_errno(err, ERROR_CREATE, part);
	fprintf(file, STATE_FORMAT, state->original, original, copy, state->checked, state->pairs,
		state->gain_low, state->gain_high);
	r = fflush(file) != 0 || ferror(file) ? error_set_errno(err, ERROR_WRITE, part) : 0;
	fclose(file);
	if (r == 0 && rename(part, path) < 0)
		r = error_set_errno(err, ERROR_WRITE, path);
	return r;
}

int opt_file_digest(uint8_t digest[CONTENT_DIGEST_BYTES], const char *path, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat status;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(err, ERROR_OPEN, path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ENOEXEC, "'%s' is not a regular file", path);
	r = content_digest(digest, fd, (uint64_t)status.st_size, NULL, NULL);
	return r < 0 ? error_set(err, -r, ERROR_READ ": %s", path, strerror(-r)) : 0;
}

static int verify_file(const char *path, const uint8_t want[CONTENT_DIGEST_BYTES],
		       struct error *err)
{
	uint8_t digest[CONTENT_DIGEST_BYTES];
	int r = opt_file_digest(digest, path, err);

	if (r < 0)
		return r;
	return memcmp(digest, want, sizeof(digest)) == 0
		       ? 0
		       : error_set(err, ESTALE, "'%s' has changed: run 'dcpiopt prepare' again",
				   path);
}

int opt_folder_verify(char copy[PATH_MAX], const struct opt_state *state, const char *folder,
		      struct error *err)
{
	int r = opt_folder_path(copy, folder, OPT_FOLDER_COPY, err);

	if (r == 0)
		r = verify_file(state->original, state->original_digest, err);
	return r == 0 ? verify_file(copy, state->copy_digest, err) : r;
}
