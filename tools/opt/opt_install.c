// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/opt_install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/opt/opt_folder.h"
#include "tools/report/cli.h"

/* struct places - paths of the files; @copy is in the folder, @installed and @kept at the original
 */
struct places {
	struct opt_state state;
	char copy[PATH_MAX];
	char installed[PATH_MAX + sizeof(OPT_INSTALL_COPY)];
	char kept[PATH_MAX + sizeof(OPT_INSTALL_ORIGINAL)];
};

static int places_load(struct places *places, const char *folder, struct error *err)
{
	int r = opt_folder_load(&places->state, folder, err);

	if (r < 0)
		return r;
	snprintf(places->installed, sizeof(places->installed), "%s" OPT_INSTALL_COPY,
		 places->state.original);
	snprintf(places->kept, sizeof(places->kept), "%s" OPT_INSTALL_ORIGINAL,
		 places->state.original);
	return 0;
}

/* A program that gives rights to its users is not replaced by a file that a user has prepared. */
static int refuse_privileged(const char *path, const struct stat *status, struct error *err)
{
	if (status->st_mode & (S_ISUID | S_ISGID))
		return error_set(err, EPERM, "'%s' is set-user-ID or set-group-ID", path);
	if (getxattr(path, "security.capability", NULL, 0) >= 0)
		return error_set(err, EPERM, "'%s' has file capabilities", path);
	return 0;
}

static int copy_contents(int from, int to, off_t bytes)
{
	while (bytes > 0) {
		ssize_t sent = sendfile(to, from, NULL, (size_t)bytes);

		if (sent <= 0)
			return sent < 0 ? -errno : -EIO;
		bytes -= sent;
	}
	return fsync(to) < 0 ? -errno : 0;
}

/* Copy @from to the new file @to, with owner and mode of the original. */
static int copy_file(const char *from, const char *to, const struct stat *original,
		     struct error *err)
{
	_cleanup_close_ int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), out = -1;
	struct stat status;
	int r;

	if (in < 0 || fstat(in, &status) < 0)
		return error_set_errno(err, ERROR_OPEN, from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out < 0)
		return error_set_errno(err, ERROR_CREATE, to);
	r = copy_contents(in, out, status.st_size);
	if (r == 0 && (original->st_uid != geteuid() || original->st_gid != getegid()) &&
	    fchown(out, original->st_uid, original->st_gid) < 0)
		r = -errno;
	if (r == 0 && fchmod(out, original->st_mode & 0777) < 0)
		r = -errno;
	if (r < 0)
		unlink(to);
	return r < 0 ? error_set(err, -r, ERROR_WRITE ": %s", to, strerror(-r)) : 0;
}

/* Return: 0; -ESTALE: the file at @path is not the one with the digest; or an error of reading it.
 */
static int has_digest(const char *path, const uint8_t want[CONTENT_DIGEST_BYTES], struct error *err)
{
	uint8_t digest[CONTENT_DIGEST_BYTES];
	int r = opt_file_digest(digest, path, err);

	if (r == 0 && memcmp(digest, want, sizeof(digest)) != 0)
		r = error_set(err, ESTALE, "'%s' is another file", path);
	return r;
}

/* Keep the original under another name, and give its name to the copy. */
static int replace_original(const struct places *places, struct error *err)
{
	const char *original = places->state.original;
	int r;

	if (link(original, places->kept) < 0)
		return error_set_errno(err, ERROR_CREATE, places->kept);
	/* The link is the file that was there; its name may have got a new file before. */
	r = has_digest(places->kept, places->state.original_digest, err);
	if (r == 0 && rename(places->installed, original) < 0)
		r = error_set_errno(err, ERROR_WRITE, original);
	if (r < 0)
		unlink(places->kept);
	return r;
}

static int may_install(const struct places *places, bool force, struct error *err)
{
	const struct opt_state *state = &places->state;

	if (!state->checked)
		return error_set(err, EPERM, "the copy has passed no check: run 'dcpiopt check'");
	if (!force && state->pairs == 0)
		return error_set(err, EPERM, "no gain is measured: run 'dcpiopt measure'");
	if (!force && state->gain_low <= 0)
		return error_set(err, EPERM, "the copy is not faster: %.1f%% to %.1f%%",
				 state->gain_low, state->gain_high);
	return 0;
}

static int install(struct places *places, const char *folder, bool replace, struct error *err)
{
	struct stat status;
	int r = opt_folder_verify(places->copy, &places->state, folder, err);

	if (r == 0 && stat(places->state.original, &status) < 0)
		r = error_set_errno(err, ERROR_OPEN, places->state.original);
	if (r == 0)
		r = refuse_privileged(places->state.original, &status, err);
	if (r == 0)
		r = copy_file(places->copy, places->installed, &status, err);
	if (r < 0)
		return r;
	/* The file in the folder may have changed since it was verified. */
	r = has_digest(places->installed, places->state.copy_digest, err);
	if (r == 0 && replace)
		r = replace_original(places, err);
	if (r < 0)
		unlink(places->installed);
	return r;
}

int opt_install(struct cli *cli, const char *folder, bool replace, bool force)
{
	struct places places;
	struct error err;
	int r = places_load(&places, folder, &err);

	if (r == 0)
		r = may_install(&places, force, &err);
	if (r == 0)
		r = install(&places, folder, replace, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	if (replace)
		printf("%s: replaced; the original is '%s'\n", places.state.original, places.kept);
	else
		printf("%s: installed\n", places.installed);
	printf("undo: dcpiopt rollback %s\n", folder);
	return CLI_OK;
}

/* Return: 0; 1: the original is not kept; -errno. */
static int restore(const struct places *places, struct error *err)
{
	const char *original = places->state.original;

	if (access(places->kept, F_OK) < 0 && errno == ENOENT)
		return 1;
	if (has_digest(places->kept, places->state.original_digest, err) < 0)
		return -err->errnum;
	if (has_digest(original, places->state.copy_digest, NULL) < 0) {
		if (unlink(places->kept) < 0)
			return error_set_errno(err, "cannot remove '%s'", places->kept);
		printf("%s: left as it is: it was updated after the installation\n", original);
		return 0;
	}
	if (rename(places->kept, original) < 0)
		return error_set_errno(err, ERROR_WRITE, original);
	printf("%s: restored\n", original);
	return 0;
}

/* Return: 0; 1: there is no copy next to the original; -errno. */
static int remove_installed(const struct places *places, struct error *err)
{
	if (access(places->installed, F_OK) < 0 && errno == ENOENT)
		return 1;
	if (has_digest(places->installed, places->state.copy_digest, err) < 0)
		return -err->errnum;
	if (unlink(places->installed) < 0)
		return error_set_errno(err, "cannot remove '%s'", places->installed);
	printf("%s: removed\n", places->installed);
	return 0;
}

int opt_rollback(struct cli *cli, const char *folder)
{
	struct places places;
	struct error err;
	int restored, removed, r = places_load(&places, folder, &err);

	if (r < 0)
		return cli_fail(cli, &err);
	restored = restore(&places, &err);
	if (restored < 0)
		return cli_fail(cli, &err);
	removed = remove_installed(&places, &err);
	if (removed < 0)
		return cli_fail(cli, &err);
	if (restored == 1 && removed == 1)
		return cli_nothing(cli, "no copy of '%s' is installed", places.state.original);
	return CLI_OK;
}
