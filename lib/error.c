// SPDX-License-Identifier: GPL-2.0-only
#include "lib/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/printable.h"

/* Keep the message on one line, even if a hostile file name has control characters. */
static void format_message(struct error *err, int errnum, const char *format, va_list args)
{
	err->errnum = errnum;
	vsnprintf(err->message, sizeof(err->message), format, args);
	printable_make(err->message);
}

int error_set(struct error *err, int errnum, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return -errnum;
	va_start(args, format);
	format_message(err, errnum, format, args);
	va_end(args);
	return -errnum;
}

int error_set_errno(struct error *err, const char *format, ...)
{
	int errnum = errno;
	va_list args;
	size_t used;

	if (err == NULL)
		return -errnum;
	va_start(args, format);
	format_message(err, errnum, format, args);
	va_end(args);
	used = strlen(err->message);
	snprintf(err->message + used, sizeof(err->message) - used, ": %s", strerror(errnum));
	return -errnum;
}
