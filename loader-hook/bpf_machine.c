// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/bpf_machine.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

/* The inode of the initial PID namespace is fixed (include/linux/proc_ns.h). */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCU

int bpf_machine_check(struct error *err)
{
	struct stat namespace;

	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return error_set(err, EOPNOTSUPP,
				 "this kernel has no BTF (/sys/kernel/btf/vmlinux)");
	if (stat("/proc/self/ns/pid", &namespace) < 0 || namespace.st_ino != INITIAL_PID_NAMESPACE)
		return error_set(err, EOPNOTSUPP,
				 "BPF needs the initial PID namespace, this is another one");
	return 0;
}

int bpf_machine_load_error(int errnum, struct error *err)
{
	errno = errnum;
	if (errnum == EPERM || errnum == EACCES)
		return error_set(err, EPERM,
				 "loading BPF programs is not permitted: run as root, or grant "
				 "CAP_BPF and CAP_PERFMON");
	return error_set_errno(err, "the kernel does not take the BPF program");
}
