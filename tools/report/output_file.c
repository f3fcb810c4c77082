// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/broker.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/cli.h"

int output_file_write(const char *path, int (*write)(void *context, FILE *file, struct error *err),
		      void *context, struct error *err)
{
	struct stat status;
	bool regular;
	FILE *file;
	int fd, r;

	if (path == NULL) {
		r = write(context, stdout, err);
		return r == 0 ? cli_finish_output(err) : r;
	}
	fd = broker_open(BROKER_OUTPUT, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (file == NULL)
		return error_set(err, fd < 0 ? -fd : errno, ERROR_WRITE ": %s", path,
				 strerror(fd < 0 ? -fd : errno));
	regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
	r = write(context, file, err);
	if (r == 0 && (fflush(file) != 0 || ferror(file)))
		r = error_set_errno(err, ERROR_WRITE, path);
	if (fclose(file) != 0 && r == 0)
		r = error_set_errno(err, ERROR_WRITE, path);
	if (r < 0 && regular)
		broker_unlink(BROKER_OUTPUT, path);
	return r;
}
