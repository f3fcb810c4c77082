// SPDX-License-Identifier: GPL-2.0-only
#include "lib/host.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/cleanup.h"

static void word_read(const char *path, char *ret, size_t bytes)
{
	_cleanup_file_ FILE *file = fopen(path, "re");

	if (file == NULL || fgets(ret, (int)bytes, file) == NULL)
		ret[0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* Return the value of a "key<tab>: value" line, or NULL. */
static const char *host_value_of(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) != 0)
		return NULL;
	line += length;
	while (isspace((unsigned char)*line))
		line++;
	if (*line++ != ':')
		return NULL;
	while (isspace((unsigned char)*line))
		line++;
	return line;
}

void host_cpu_name(char *ret, size_t bytes, const char *name, unsigned int family,
		   unsigned int model)
{
	snprintf(ret, bytes, "%s, family %u model %u", name, family, model);
}

bool host_cpu_numbers(const char *cpu_model, unsigned int *family, unsigned int *model)
{
	const char *numbers = NULL;

	while ((cpu_model = strstr(cpu_model, ", family ")) != NULL)
		numbers = cpu_model++;
	return numbers != NULL && sscanf(numbers, ", family %9u model %9u", family, model) == 2;
}

/* Values of a processor in /proc/cpuinfo; "" if a line is missing. */
struct cpu_lines {
	char name[96];
	char family[16];
	char model[16];
	char implementer[16];
	char part[16];
};

static void cpu_lines_read(struct cpu_lines *lines)
{
	const struct {
		const char *key;
		char *value;
		size_t bytes;
	} wanted[] = {
		{"model name", lines->name, sizeof(lines->name)},
		{"cpu family", lines->family, sizeof(lines->family)},
		{"model", lines->model, sizeof(lines->model)},
		{"CPU implementer", lines->implementer, sizeof(lines->implementer)},
		{"CPU part", lines->part, sizeof(lines->part)},
	};
	_cleanup_file_ FILE *file = fopen("/proc/cpuinfo", "re");
	char line[4096];

	/* Read the lines of the first processor, which end with an empty line. */
	while (file != NULL && fgets(line, sizeof(line), file) != NULL && line[0] != '\n') {
		line[strcspn(line, "\n")] = '\0';
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
			const char *value = host_value_of(line, wanted[i].key);

			if (value != NULL)
				snprintf(wanted[i].value, wanted[i].bytes, "%.*s",
					 (int)wanted[i].bytes - 1, value);
		}
	}
}

static void cpu_model_read(struct host *host)
{
	struct cpu_lines lines = {0};

	cpu_lines_read(&lines);
	if (lines.name[0] != '\0' && lines.family[0] != '\0')
		host_cpu_name(host->cpu_model, sizeof(host->cpu_model), lines.name,
			      (unsigned int)strtoul(lines.family, NULL, 10),
			      (unsigned int)strtoul(lines.model, NULL, 10));
	else if (lines.name[0] != '\0')
		snprintf(host->cpu_model, sizeof(host->cpu_model), "%s", lines.name);
	else if (lines.part[0] != '\0')
		snprintf(host->cpu_model, sizeof(host->cpu_model), "implementer %s part %s",
			 lines.implementer, lines.part);
}

void host_describe(struct host *host)
{
	struct utsname names;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	memset(host, 0, sizeof(*host));
	if (uname(&names) == 0) {
		snprintf(host->name, sizeof(host->name), "%s", names.nodename);
		snprintf(host->kernel, sizeof(host->kernel), "%s", names.release);
	}
	word_read("/etc/machine-id", host->machine_id, sizeof(host->machine_id));
	cpu_model_read(host);
	host->cpus = cpus > 0 ? (uint32_t)cpus : 1;
}
