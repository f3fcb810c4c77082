// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *program_name;
static int quiet;
static int to_journal;

/* systemd.exec(5): the variable may be inherited; only a match counts. */
static int stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void log_init(const char *program)
{
	program_name = program;
	to_journal = stderr_is_journal();
}

void log_verbose(int verbose)
{
	quiet = !verbose;
}

/* One write for each line: daemons and their children share stderr. */
static void line(int priority, const char *format, va_list arguments)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, arguments);
	if (to_journal)
		fprintf(stderr, "<%d>%s\n", priority, text);
	else
		fprintf(stderr, "%s%s%s\n", program_name != NULL ? program_name : "",
			program_name != NULL ? ": " : "", text);
}

void log_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	line(3, format, arguments);
	va_end(arguments);
}

void log_info(const char *format, ...)
{
	va_list arguments;

	if (quiet)
		return;
	va_start(arguments, format);
	line(6, format, arguments);
	va_end(arguments);
}
