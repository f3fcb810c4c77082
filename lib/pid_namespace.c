// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pid_namespace.h"

#include <sys/stat.h>

/* The inode of the initial PID namespace is fixed (include/linux/proc_ns.h). */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCU

bool pid_namespace_is_initial(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/pid", &namespace) == 0 &&
	       namespace.st_ino == INITIAL_PID_NAMESPACE;
}
