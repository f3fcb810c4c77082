/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls inside a rewritten program. */
#ifndef DCPI_INSTRUMENT_RUNTIME_SYSTEM_H
#define DCPI_INSTRUMENT_RUNTIME_SYSTEM_H

#include "lib/system_call.h"

#define CALL1(n, a) system_call6(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) system_call6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) system_call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)

#define PROT_READ_WRITE 3
#define PROT_READ_EXECUTE 5

static inline int runtime_is_error(long result)
{
	return result < 0 && result > -4096;
}

/** runtime_fail() - print the reason why the program cannot continue, and end it. */
_Noreturn void runtime_fail(const char *why, unsigned int bytes);
#define RUNTIME_FAIL(why) runtime_fail("dcpix: " why "\n", sizeof("dcpix: " why "\n") - 1)

#endif
