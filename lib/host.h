/* SPDX-License-Identifier: GPL-2.0-only */
/* Description of this machine. */
#ifndef DCPI_HOST_H
#define DCPI_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct host - the machine
 * @name:       host name
 * @machine_id: of /etc/machine-id; "" if there is none
 * @cpu_model:  as in /proc/cpuinfo, and the family and model on x86, because virtual machines
 *              report no precise name ("AMD EPYC, family 25 model 1"); implementer and part if
 *              there is no name
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

/** host_cpu_name() - format @cpu_model of an x86 processor. It is truncated if it is too long. */
void host_cpu_name(char *ret, size_t bytes, const char *name, unsigned int family,
		   unsigned int model);

/** host_cpu_numbers() - find x86's family and model in a @cpu_model. Return: true if found. */
bool host_cpu_numbers(const char *cpu_model, unsigned int *family, unsigned int *model);

/** host_describe() - fill in @host; values that cannot be determined are "" */
void host_describe(struct host *host);

#endif
