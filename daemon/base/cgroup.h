/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the systemd unit and the container of a process by its control group. Both versions of
 * /proc/PID/cgroup are supported.
 *
 * The unit is the innermost path component that is a unit name: a service, scope, socket, mount or
 * swap. (Slices only group units.) A unit of a user's manager is prefixed with the manager's unit:
 * "user@1000.service/app.service". A process below a container gets the container's own unit, if
 * the container runs any: the path is seen from outside the container.
 *
 * A container's id has the form that its manager uses:
 *
 *	Docker, containerd, CRI-O, Podman	64 hexadecimal digits, alone or after
 *						"docker-", "libpod-", "...:cri-containerd:"
 *	LXC, Incus				lxc/NAME, lxc.payload.NAME
 *	systemd-nspawn, machined		systemd-nspawn@NAME.service, machine-NAME.scope
 *
 * In nested containers the innermost one counts. Containers of Kubernetes have the ids of its
 * runtime.
 */
#ifndef DCPI_CGROUP_H
#define DCPI_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* Longer names are truncated. */
#define CGROUP_NAME_BYTES 256

/** struct cgroup - unit and container of a process; "" if there is none. */
struct cgroup {
	char unit[CGROUP_NAME_BYTES];
	char container[CGROUP_NAME_BYTES];
};

/**
 * cgroup_parse() - parse the contents of /proc/PID/cgroup
 * @text: untrusted, @bytes long, need not be terminated
 *
 * O(@bytes). Control characters become "?".
 */
void cgroup_parse(struct cgroup *ret, const char *text, size_t bytes);

/**
 * cgroup_read() - read and parse the control group of a running process
 *
 * Does one open() and read() of /proc, which only wait for the kernel's lock of the hierarchy.
 * Anything beyond 16 KiB is ignored.
 *
 * Return: 0; -ENOENT or -ESRCH if the process has exited; other errors of open(2) and read(2).
 */
int cgroup_read(struct cgroup *ret, uint32_t pid);

#endif
