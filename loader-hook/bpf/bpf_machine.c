// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/bpf/bpf_machine.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/pid_namespace.h"

int bpf_machine_check(struct error *err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return error_set(err, EOPNOTSUPP,
				 "this kernel has no BTF (/sys/kernel/btf/vmlinux)");
	if (!pid_namespace_is_initial())
		return error_set(
			err, EOPNOTSUPP,
			"BPF needs the initial PID namespace, and this process is in another one");
	return 0;
}

static bool is_among(uint64_t capabilities, unsigned int capability)
{
	return (capabilities >> capability & 1) != 0;
}

/*
 * Return true if this process has the required capabilities, so that a refusal has another reason.
 */
static bool is_privileged(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
	uint64_t ours;

	if (syscall(SYS_capget, &header, data) < 0)
		return geteuid() == 0;
	ours = (uint64_t)data[1].effective << 32 | data[0].effective;
	return is_among(ours, CAP_SYS_ADMIN) ||
	       (is_among(ours, CAP_BPF) && is_among(ours, CAP_PERFMON));
}

/* Lockdown mode "confidentiality": no BPF program may read kernel memory. */
static bool is_locked_down(void)
{
	_cleanup_file_ FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char line[64];

	return file != NULL && fgets(line, sizeof(line), file) != NULL &&
	       strstr(line, "[confidentiality]") != NULL;
}

int bpf_machine_load_error(int errnum, struct error *err)
{
	bool refused = errnum == EPERM || errnum == EACCES;

	if (refused && !is_privileged())
		return error_set(err, EPERM,
				 "loading BPF programs is not permitted: %sgrant CAP_BPF and "
				 "CAP_PERFMON",
				 geteuid() == 0 ? "" : "run as root, or ");
	if (refused && is_locked_down())
		return error_set(err, EPERM, "the kernel is locked down");
	errno = errnum;
	return error_set_errno(err, "the kernel rejects the BPF program");
}
