/* SPDX-License-Identifier: GPL-2.0-only */
/* What machine this is. */
#ifndef DCPI_HOST_H
#define DCPI_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct host - the machine
 * @name:       host name
 * @machine_id: of /etc/machine-id; "" if there is none
 * @cpu_model:  as in /proc/cpuinfo, and x86's family and model, since virtual machines tell
 *              nothing else ("AMD EPYC, family 25 model 1"); implementer and part where that is
 *              all
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

/** host_cpu_name() - @cpu_model of an x86 processor. It is cut off if there is not room. */
void host_cpu_name(char *ret, size_t bytes, const char *name, unsigned int family,
		   unsigned int model);

/** host_cpu_numbers() - x86's family and model in a @cpu_model. Return: whether they are there. */
bool host_cpu_numbers(const char *cpu_model, unsigned int *family, unsigned int *model);

/** host_describe() - fill it in; what cannot be found out is "". */
void host_describe(struct host *host);

#endif
