// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/source_select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/near_names.h"

/* In order of increasing cost. A trace is replayed only on request. */
static const struct source_ops *const sources[] = {
	&source_kmod_ops,
	&source_bpf_ops,
	&source_perf_ops,
	&source_replay_ops,
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))
#define SOURCES_AUTO (SOURCES - 1)

const struct source_ops *source_select_find(const char *name)
{
	size_t i;

	for (i = 0; i < SOURCES; i++) {
		if (strcmp(sources[i]->name, name) == 0)
			return sources[i];
	}
	return NULL;
}

int source_select_unknown(const char *name, struct error *err)
{
	const char *names[SOURCES + 1] = {"auto"};

	for (size_t i = 0; i < SOURCES; i++)
		names[i + 1] = sources[i]->name;
	return near_names_unknown(err, "source", name, names, SOURCES + 1);
}

static int first_open(struct source **ret, const struct source_config *config, char *reason,
		      struct error *err)
{
	struct error failure = {.message = ""};
	size_t i;
	int rc = -ENOENT;

	snprintf(reason, SOURCE_REASON_BYTES, "first choice");
	for (i = 0; i < SOURCES_AUTO; i++) {
		rc = sources[i]->open(ret, config, &failure);
		if (rc == 0)
			return 0;
		/* Another reader has the device: this machine is already being profiled. */
		if (rc == -EBUSY)
			break;
		snprintf(reason, SOURCE_REASON_BYTES, "not %s: %s", sources[i]->name,
			 failure.message);
	}
	return error_set(err, -rc, "%s", failure.message);
}

int source_select_open(struct source **ret, const char *name, const struct source_config *config,
		       char reason[SOURCE_REASON_BYTES], struct error *err)
{
	struct source_config complete = *config;
	const struct source_ops *ops;

	/* Only this source sees individual samples in order. */
	if (config->record != NULL && strcmp(name, "auto") == 0)
		name = source_perf_ops.name;
	if (config->record != NULL && strcmp(name, source_perf_ops.name) != 0)
		return error_set(err, EINVAL, "only the source perf can record a trace");
	if (config->replay != NULL && strcmp(name, source_replay_ops.name) != 0)
		return error_set(err, EINVAL, "only the source replay takes a trace");
	if (complete.table_entries == 0)
		complete.table_entries = DCPI_TABLE_ENTRIES_DEFAULT;
	if (complete.buffer_entries == 0)
		complete.buffer_entries = DCPI_BUFFER_ENTRIES_DEFAULT;
	if (strcmp(name, "auto") == 0)
		return first_open(ret, &complete, reason, err);
	ops = source_select_find(name);
	if (ops == NULL)
		return source_select_unknown(name, err);
	snprintf(reason, SOURCE_REASON_BYTES, "selected by the user");
	return ops->open(ret, &complete, err);
}
