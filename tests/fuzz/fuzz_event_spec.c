// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the parser of event specifications: accepted values are in range and parse to the same event
 * again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/event/event_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static bool sampled(const struct event_code *code)
{
	return (code->config[0] & 1) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct event_machine machine = {.devices = EVENT_PMU_DEVICES, .sampled = sampled};
	struct event_spec spec, again;
	char *text = calloc(1, bytes + 1), print[128];

	if (text == NULL)
		abort();
	memcpy(text, data, bytes);
	if (event_spec_parse(&spec, &machine, text, (size_t)(event_spec_end(text) - text), NULL) ==
	    0) {
		snprintf(print, sizeof(print), spec.has_period ? "%s:%llu-%llu" : "%s", spec.name,
			 (unsigned long long)spec.period_min, (unsigned long long)spec.period_max);
		if (event_spec_parse(&again, &machine, print, strlen(print), NULL) < 0 ||
		    memcmp(&spec.code, &again.code, sizeof(spec.code)) != 0 ||
		    strcmp(spec.name, again.name) != 0 || spec.period_min > spec.period_max ||
		    spec.period_max > DCPI_PERIOD_MAX)
			abort();
	}
	free(text);
	return 0;
}
