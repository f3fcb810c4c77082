/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which systemd unit and which container a process runs in, by its control
 * group: /proc/PID/cgroup of either version.
 *
 * The unit is the innermost part of the path that is a unit's name (a service,
 * scope, socket, mount or swap; slices only group them), a unit of a user's
 * manager with that in front: "user@1000.service/app.service". Below a container
 * it is the container's own, if it has any: the path is looked at from the
 * outside.
 *
 * A container's id is what its manager calls it:
 *
 *	Docker, containerd, CRI-O, Podman	64 hexadecimal digits, alone or behind
 *						"docker-", "libpod-", "...:cri-containerd:"
 *	LXC, Incus				lxc/NAME, lxc.payload.NAME
 *	systemd-nspawn, machined		systemd-nspawn@NAME.service, machine-NAME.scope
 *
 * Of nested ones the innermost counts. Kubernetes' containers are those of its
 * runtime.
 */
#ifndef DCPI_CGROUP_H
#define DCPI_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* Longer names are cut. */
#define CGROUP_NAME_BYTES 256

/** struct cgroup - where a process runs; "" where it runs in none. */
struct cgroup {
	char unit[CGROUP_NAME_BYTES];
	char container[CGROUP_NAME_BYTES];
};

/**
 * cgroup_parse() - what the contents of a /proc/PID/cgroup say
 * @text: not trusted, @bytes long, need not end with anything
 *
 * O(@bytes). Control characters become "?".
 */
void cgroup_parse(struct cgroup *ret, const char *text, size_t bytes);

/**
 * cgroup_read() - of a process, now
 *
 * One open() and read() of /proc, which waits for nothing but the kernel's own
 * lock of the hierarchy; what is beyond 16 KiB is not looked at.
 *
 * Return: 0; -ENOENT or -ESRCH it has ended; other errors of open(2) and read(2).
 */
int cgroup_read(struct cgroup *ret, uint32_t pid);

#endif
