/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors of libraries: a negative errno as return value, and a message of one line for the user.
 * Libraries never print and never exit.
 *
 * Functions that can fail take a struct error as last parameter; NULL means
 * that the caller does not need a message. The message names the failed action and its object
 * ("cannot open /x/y: Permission denied"), without a trailing newline.
 */
#ifndef DCPI_ERROR_H
#define DCPI_ERROR_H

#define ERROR_MESSAGE_BYTES 512

/** struct error - description of a failure; valid after a function has failed */
struct error {
	int errnum; /* positive errno */
	char message[ERROR_MESSAGE_BYTES];
};

/**
 * error_set() - describe a failure
 * @err:    may be NULL
 * @errnum: positive errno
 * @format: printf format; longer messages are truncated
 *
 * Return: -@errnum, so that "return error_set(...)" ends a function.
 */
int error_set(struct error *err, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * error_set_errno() - describe a failed system call: takes errno and
 * appends ": " and its text
 *
 * Return: -errno as it was on entry.
 */
int error_set_errno(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
