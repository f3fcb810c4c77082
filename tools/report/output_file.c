// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/output_file.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "tools/report/cli.h"

int output_file_write(const char *path, int (*write)(void *context, FILE *file, struct error *err),
		      void *context, struct error *err)
{
	struct stat status;
	bool regular;
	FILE *file;
	int r;

	if (path == NULL) {
		r = write(context, stdout, err);
		return r == 0 ? cli_finish_output(err) : r;
	}
	file = fopen(path, "we");
	if (file == NULL)
		return error_set_errno(err, "cannot write %s", path);
	regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
	r = write(context, file, err);
	if (r == 0 && (fflush(file) != 0 || ferror(file)))
		r = error_set_errno(err, "cannot write %s", path);
	if (fclose(file) != 0 && r == 0)
		r = error_set_errno(err, "cannot write %s", path);
	if (r < 0 && regular)
		unlink(path);
	return r;
}
