// SPDX-License-Identifier: GPL-2.0-only
#include "lib/host.h"

#include <ctype.h>
#include <stdio.h>
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

/* The value of a "key<tab>: value" line, or NULL. */
static const char *value_of(const char *line, const char *key)
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

static void cpu_model_read(struct host *host)
{
	_cleanup_file_ FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512], implementer[16] = "", part[16] = "";

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		const char *value;

		line[strcspn(line, "\n")] = '\0';
		value = value_of(line, "model name");
		if (value != NULL) {
			snprintf(host->cpu_model, sizeof(host->cpu_model), "%.*s",
				 (int)sizeof(host->cpu_model) - 1, value);
			return;
		}
		value = value_of(line, "CPU implementer");
		if (value != NULL)
			snprintf(implementer, sizeof(implementer), "%.15s", value);
		value = value_of(line, "CPU part");
		if (value != NULL)
			snprintf(part, sizeof(part), "%.15s", value);
	}
	if (part[0] != '\0')
		snprintf(host->cpu_model, sizeof(host->cpu_model), "implementer %s part %s",
			 implementer, part);
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
