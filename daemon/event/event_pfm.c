// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event_pfm.h"

#include <errno.h>
/*
 * libpfm4 defines its own struct perf_event_attr: <linux/perf_event.h> must not be included here.
 */
#include <perfmon/pfmlib_perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kmod/uapi/dcpi_uapi.h"
#include "lib/error.h"

#define NAME_BYTES 160

static bool library_ready(void)
{
	static int state = 1;

	if (state > 0)
		state = pfm_initialize();
	return state == PFM_SUCCESS;
}

static int encode(const char *text, struct perf_event_attr *attr, int *cpu)
{
	pfm_perf_encode_arg_t argument = {.attr = attr, .size = sizeof(argument)};
	int rc;

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	rc = pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
	*cpu = argument.cpu;
	return rc;
}

static void code_fill(struct event_code *code, const struct perf_event_attr *attr, const char *name)
{
	*code = (struct event_code){
		.type = attr->type,
		.config = {attr->config, attr->config1, attr->config2},
		.scale = event_code_scale(name),
	};
	if (attr->exclude_user)
		code->flags |= DCPI_EVENT_EXCLUDE_USER;
	if (attr->exclude_kernel)
		code->flags |= DCPI_EVENT_EXCLUDE_KERNEL;
}

/*
 * Return true if the part before "::" is a PMU that libpfm4 knows, but this machine does not have.
 */
static bool pmu_elsewhere(const char *text)
{
	const char *colons = strstr(text, "::");
	size_t length = colons != NULL ? (size_t)(colons - text) : 0;
	int pmu;

	for (pmu = 0; pmu < PFM_PMU_MAX && length > 0; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof(info)};

		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) == PFM_SUCCESS && !info.is_present &&
		    strlen(info.name) == length && strncasecmp(info.name, text, length) == 0)
			return true;
	}
	return false;
}

int event_pfm_parse(const char *text, struct event_code *ret, struct error *err)
{
	struct perf_event_attr attr;
	int cpu = -1, rc;

	if (!library_ready())
		return error_set(err, EIO, "libpfm4 cannot be used");
	rc = encode(text, &attr, &cpu);
	if (rc == PFM_ERR_NOTFOUND && pmu_elsewhere(text))
		return error_set(err, EINVAL, "event '%s' is of another processor", text);
	if (rc == PFM_ERR_NOTFOUND)
		return -ENOENT;
	if (rc != PFM_SUCCESS)
		return error_set(err, EINVAL, "event '%s': %s", text, pfm_strerror(rc));
	if (attr.sample_period != 0 || attr.precise_ip != 0 || attr.pinned || attr.exclusive ||
	    attr.exclude_host || cpu >= 0)
		return error_set(err, EINVAL,
				 "event '%s': only modifiers of the event itself are supported",
				 text);
	if (attr.exclude_user && attr.exclude_kernel)
		return error_set(err, EINVAL, "event '%s' excludes both user and kernel", text);
	code_fill(ret, &attr, text);
	return 0;
}

/* An event that libpfm4 lists but cannot encode is not an event of this machine. */
static void name_visit(const char *name, const char *description, event_visit_fn visit,
		       void *context)
{
	struct perf_event_attr attr;
	struct event_code code;
	int cpu;

	if (encode(name, &attr, &cpu) != PFM_SUCCESS)
		return;
	code_fill(&code, &attr, name);
	visit(context, name, &code, description);
}

static void event_visit(const char *pmu, const pfm_event_info_t *event, event_visit_fn visit,
			void *context)
{
	char name[NAME_BYTES];
	int i;

	if (snprintf(name, sizeof(name), "%s::%s", pmu, event->name) >= (int)sizeof(name))
		return;
	name_visit(name, event->desc, visit, context);
	for (i = 0; i < event->nattrs; i++) {
		pfm_event_attr_info_t mask = {.size = sizeof(mask)};

		if (pfm_get_event_attr_info(event->idx, i, PFM_OS_PERF_EVENT, &mask) !=
			    PFM_SUCCESS ||
		    mask.type != PFM_ATTR_UMASK ||
		    snprintf(name, sizeof(name), "%s::%s:%s", pmu, event->name, mask.name) >=
			    (int)sizeof(name))
			continue;
		name_visit(name, mask.desc, visit, context);
	}
}

void event_pfm_visit(event_visit_fn visit, void *context)
{
	int pmu, event;

	for (pmu = 0; pmu < PFM_PMU_MAX && library_ready(); pmu++) {
		pfm_pmu_info_t info = {.size = sizeof(info)};

		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS || !info.is_present ||
		    info.type == PFM_PMU_TYPE_OS_GENERIC)
			continue;
		for (event = info.first_event; event != -1; event = pfm_get_event_next(event)) {
			pfm_event_info_t about = {.size = sizeof(about)};

			if (pfm_get_event_info(event, PFM_OS_PERF_EVENT, &about) == PFM_SUCCESS)
				event_visit(info.name, &about, visit, context);
		}
	}
}
