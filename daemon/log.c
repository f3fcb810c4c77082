// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/clock.h"

static const char *program_name;
static int quiet;
static int to_journal;
static int holding;
static char held[LOG_HELD_BYTES];
static size_t held_bytes;
static char last_error[512];
static uint64_t last_error_ns;

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

void log_hold(void)
{
	holding = 1;
}

void log_release(void)
{
	holding = 0;
	fwrite(held, 1, held_bytes, stderr);
	held_bytes = 0;
}

/* Return: the length of the line, which is whole and ends with a newline. */
static size_t format_line(char *text, size_t bytes, int priority, const char *format,
			  va_list arguments)
{
	char message[1024];
	int n;

	vsnprintf(message, sizeof(message), format, arguments);
	if (to_journal)
		n = snprintf(text, bytes, "<%d>%s\n", priority, message);
	else
		n = snprintf(text, bytes, "%s%s%s\n", program_name != NULL ? program_name : "",
			     program_name != NULL ? ": " : "", message);
	return (size_t)n;
}

/* One write for each line: daemons and their children share stderr. */
static void line(int priority, const char *format, va_list arguments)
{
	char text[1280];
	size_t n = format_line(text, sizeof(text), priority, format, arguments);

	if (holding && priority > 3) {
		if (n <= sizeof(held) - held_bytes) {
			memcpy(held + held_bytes, text, n);
			held_bytes += n;
		}
		return;
	}
	fwrite(text, 1, n, stderr);
}

const char *log_last_error(uint64_t *time_ns)
{
	*time_ns = last_error_ns;
	return last_error;
}

void log_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(last_error, sizeof(last_error), format, arguments);
	va_end(arguments);
	last_error_ns = clock_monotonic_ns();
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
