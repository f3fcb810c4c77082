/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For test programs inside the test machine: every test is a separate process in a separate
 * session. It is killed with all its children at its end, so that no test can affect another one.
 */
#ifndef DCPI_TESTS_TAP_H
#define DCPI_TESTS_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tap_test {
	const char *name;
	bool (*run)(void);
};

#define TAP_TEST(function)                                                                         \
	{                                                                                          \
#function, function                                                                \
	}

/* Leave a test (a function returning bool) unless the condition holds. */
#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                     \
			printf(" " __VA_ARGS__);                                                   \
			printf("\n");                                                              \
			return false;                                                              \
		}                                                                                  \
	} while (0)

/**
 * tap_main() - run the tests and print TAP
 *
 * Return: the program's exit status.
 */
int tap_main(const struct tap_test *tests, size_t count);

#endif
