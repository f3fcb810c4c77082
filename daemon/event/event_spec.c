// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event_spec.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "daemon/event/event_alias.h"
#include "daemon/event/event_catalog.h"
#include "daemon/event/event_name.h"
#include "daemon/event/event_pfm.h"
#include "daemon/event/event_pmu.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/near_names.h"

#define TEXT_BYTES 512

const char *event_spec_end(const char *list)
{
	bool slashes = false;

	for (; *list != '\0' && (slashes || *list != ','); list++) {
		if (*list == '/')
			slashes = !slashes;
	}
	return list;
}

/* Accept only decimal digits: strtoull() would also accept signs and blanks. */
static bool number_parse(const char *text, const char *end, uint64_t *ret)
{
	uint64_t value = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		if (!isdigit((unsigned char)*text) || value > DCPI_PERIOD_MAX)
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*ret = value;
	return true;
}

static int period_parse(struct event_spec *spec, const char *text, struct error *err)
{
	const char *dash = strchr(text, '-'), *end = text + strlen(text);
	unsigned int shortest =
		spec->code.scale == EVENT_NS ? DCPI_CLOCK_PERIOD_MIN : DCPI_PERIOD_MIN;

	if (!number_parse(text, dash != NULL ? dash : end, &spec->period_min) ||
	    !number_parse(dash != NULL ? dash + 1 : text, end, &spec->period_max))
		return error_set(err, EINVAL, "'%s' is not a valid period of event '%s'", text,
				 spec->name);
	if (spec->period_min > spec->period_max)
		return error_set(err, EINVAL,
				 "period '%s' of event '%s': the minimum exceeds the maximum", text,
				 spec->name);
	if (spec->period_min < shortest || spec->period_max > DCPI_PERIOD_MAX)
		return error_set(err, EINVAL,
				 "period '%s' of event '%s' is outside the range %u-%llu", text,
				 spec->name, shortest, DCPI_PERIOD_MAX);
	spec->has_period = true;
	return 0;
}

/*
 * Cut off ":PERIOD". Unit masks of libpfm4 may begin with digits, but also contain other
 * characters.
 */
static char *period_cut(char *text)
{
	char *slash = strrchr(text, '/');
	char *colon = strrchr(slash != NULL ? slash : text, ':');

	if (colon == NULL || colon[1] == '\0' ||
	    colon[1 + strspn(colon + 1, "0123456789-")] != '\0')
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static int modifiers_parse(struct event_code *code, const char *text, const char *name,
			   struct error *err)
{
	bool user = strcmp(text, "u") == 0, kernel = strcmp(text, "k") == 0;

	if (!user && !kernel && strcmp(text, "uk") != 0 && strcmp(text, "ku") != 0)
		return error_set(err, EINVAL,
				 "event '%s': '%s' is neither a modifier (u, k) nor a period", name,
				 text);
	if (user)
		code->flags = DCPI_EVENT_EXCLUDE_KERNEL;
	if (kernel)
		code->flags = DCPI_EVENT_EXCLUDE_USER;
	return 0;
}

static int unknown(const struct event_machine *machine, const char *name, struct error *err)
{
	_cleanup_(near_names_deinit) struct near_names near = {.wanted = name};
	char text[256];

	if (err != NULL)
		event_catalog_near_names(machine, &near);
	near_names_text(&near, text, sizeof(text));
	return error_set(err, EINVAL, "unknown event '%s'%s (see 'dcpid --list-events')", name,
			 text);
}

/* Look up a name without colons. Return: 0; -ENOENT without a message. */
static int word_find(const struct event_machine *machine, const char *word, struct event_code *ret,
		     struct error *err)
{
	if (event_name_find(word, ret) || event_name_raw(word, ret) ||
	    event_alias_find(machine, word, ret))
		return 0;
	return event_pmu_find(machine->devices, word, ret, err);
}

static int name_resolve(struct event_code *ret, const struct event_machine *machine,
			const char *name, struct error *err)
{
	char word[SOURCE_EVENT_NAME_BYTES];
	const char *colon = strchr(name, ':');
	int rc = -ENOENT;

	if (colon == NULL || colon[1] != ':') {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, ":"), name);
		rc = word_find(machine, word, ret, err);
		if (rc == 0 && colon != NULL)
			return modifiers_parse(ret, colon + 1, name, err);
	}
	if (rc == -ENOENT)
		rc = event_pfm_parse(name, ret, err);
	return rc == -ENOENT ? unknown(machine, name, err) : rc;
}

/* Resolve "PMU/TERMS/", optionally followed by a modifier, with or without a colon. */
static int pmu_resolve(struct event_code *ret, const struct event_machine *machine,
		       const char *name, struct error *err)
{
	char event[SOURCE_EVENT_NAME_BYTES];
	const char *modifier = strrchr(name, '/') + 1;
	int rc;

	snprintf(event, sizeof(event), "%.*s", (int)(modifier - name), name);
	rc = event_pmu_parse(machine->devices, event, ret, err);
	if (rc < 0 || *modifier == '\0')
		return rc;
	return modifiers_parse(ret, *modifier == ':' ? modifier + 1 : modifier, name, err);
}

static bool printable(const char *text)
{
	while (*text != '\0' && !iscntrl((unsigned char)*text))
		text++;
	return *text == '\0';
}

/*
 * Reject tracepoints and breakpoints: they occur only at places that a user chose, so sampling is
 * pointless.
 */
static int kind_check(const struct event_spec *spec, struct error *err)
{
	if (spec->code.type == PERF_TYPE_TRACEPOINT || spec->code.type == PERF_TYPE_BREAKPOINT)
		return error_set(err, EINVAL, "event '%s' is a tracepoint or breakpoint",
				 spec->name);
	return 0;
}

int event_spec_parse(struct event_spec *ret, const struct event_machine *machine, const char *text,
		     size_t length, struct error *err)
{
	struct event_spec spec = {.name = ""};
	char copy[TEXT_BYTES], *period;
	int rc;

	if (length >= sizeof(copy))
		return error_set(err, EINVAL, "event '%.32s...' is too long", text);
	snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	if (!printable(copy))
		return error_set(err, EINVAL, "the name of an event has a control character");
	period = period_cut(copy);
	if (strlen(copy) >= sizeof(spec.name))
		return error_set(err, EINVAL, "event '%s': the name has more than %zu letters",
				 copy, sizeof(spec.name) - 1);
	memcpy(spec.name, copy, strlen(copy) + 1);
	rc = strchr(copy, '/') != NULL ? pmu_resolve(&spec.code, machine, copy, err)
				       : name_resolve(&spec.code, machine, copy, err);
	if (rc == 0)
		rc = kind_check(&spec, err);
	if (rc == 0 && period != NULL)
		rc = period_parse(&spec, period, err);
	if (rc == 0)
		*ret = spec;
	return rc;
}
