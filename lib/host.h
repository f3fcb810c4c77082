/* SPDX-License-Identifier: GPL-2.0-only */
/* What machine this is. */
#ifndef DCPI_HOST_H
#define DCPI_HOST_H

#include <stdint.h>

/**
 * struct host - the machine
 * @name:       host name
 * @machine_id: of /etc/machine-id; "" if there is none
 * @cpu_model:  as in /proc/cpuinfo; implementer and part where that is all
 * @kernel:     release
 * @cpus:       CPUs online
 */
struct host {
	char name[65];
	char machine_id[65];
	char cpu_model[128];
	char kernel[65];
	uint32_t cpus;
};

/** host_describe() - fill it in; what cannot be found out is "". */
void host_describe(struct host *host);

#endif
