// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/clock.h"

static const char *program_name;
static enum log_level level_max = LOG_LEVEL_INFO;
static int to_journal;
static int holding;
static char held[LOG_HELD_BYTES];
static size_t held_bytes;
static char last_error[512];
static uint64_t last_error_ns;

/*
 * systemd.exec(5): JOURNAL_STREAM may be inherited, so stderr is the journal only if its device and
 * inode match.
 */
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

/* Priorities of the journal (syslog(3)). */
static const struct {
	const char *name;
	int priority;
} levels[] = {
	[LOG_LEVEL_ERROR] = {"error", 3},
	[LOG_LEVEL_WARNING] = {"warning", 4},
	[LOG_LEVEL_INFO] = {"info", 6},
};

bool log_level_parse(const char *name, enum log_level *ret)
{
	enum log_level level;

	for (level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_INFO; level++) {
		if (strcmp(levels[level].name, name) == 0) {
			*ret = level;
			return true;
		}
	}
	return false;
}

void log_set_level(enum log_level level)
{
	level_max = level;
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

/*
 * Return: the length of the line, which always ends with a newline, even if the message was
 * truncated.
 */
static size_t format_line(char *text, size_t bytes, enum log_level level, const char *format,
			  va_list arguments)
{
	char message[1024];
	int n;

	vsnprintf(message, sizeof(message), format, arguments);
	if (to_journal)
		n = snprintf(text, bytes, "<%d>%s\n", levels[level].priority, message);
	else
		n = snprintf(text, bytes, "%s%s%s\n", program_name != NULL ? program_name : "",
			     program_name != NULL ? ": " : "", message);
	return (size_t)n;
}

/* Each line is one write: daemons and their children share stderr. */
static void line(enum log_level level, const char *format, va_list arguments)
{
	char text[1280];
	size_t n;

	if (level > level_max)
		return;
	n = format_line(text, sizeof(text), level, format, arguments);
	if (holding && level > LOG_LEVEL_ERROR) {
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
	line(LOG_LEVEL_ERROR, format, arguments);
	va_end(arguments);
}

void log_warning(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	line(LOG_LEVEL_WARNING, format, arguments);
	va_end(arguments);
}

void log_info(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	line(LOG_LEVEL_INFO, format, arguments);
	va_end(arguments);
}
