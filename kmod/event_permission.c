// SPDX-License-Identifier: GPL-2.0-only
#include "event_permission.h"

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "uapi/dcpi_uapi.h"

/* The file operations of perf events are not exported; no other file has this name and type. */
static bool is_perf_event(const struct file *file)
{
	const struct dentry *dentry = file->f_path.dentry;

	return !strcmp(dentry->d_sb->s_type->name, "anon_inodefs") &&
	       !strcmp(dentry->d_name.name, "[perf_event]");
}

static bool covers(const struct perf_event *permitted, const struct dcpi_event *event)
{
	if (permitted->attr.exclude_kernel && !(event->flags & DCPI_EVENT_EXCLUDE_KERNEL))
		return false;
	return event->type != PERF_TYPE_TRACEPOINT || permitted->attr.type == PERF_TYPE_TRACEPOINT;
}

static int permitted_check(const struct perf_event *permitted, const struct dcpi_config *config)
{
	u32 i;

	if (permitted->attach_state & PERF_ATTACH_TASK)
		return -EACCES;
	for (i = 0; i < config->events; i++) {
		if (!covers(permitted, &config->event[i]))
			return -EACCES;
	}
	return 0;
}

int event_permission_check(const struct dcpi_config *config)
{
	struct file *file = config->perf_fd < 0 ? NULL : fget((unsigned int)config->perf_fd);
	int err = -EBADF;

	if (!file)
		return -EBADF;
	if (is_perf_event(file))
		err = permitted_check(file->private_data, config);
	fput(file);
	return err;
}
