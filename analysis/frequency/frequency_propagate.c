// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/frequency_propagate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/flow_constraints.h"
#include "lib/cleanup.h"

struct propagation {
	struct frequency_estimate *classes;
	const struct flow_constraints *constraints;
	uint32_t *first;   /* index in @used_by, for each class */
	uint32_t *used_by; /* constraints, one for each term */
	uint32_t *unknown; /* number of terms without an estimate, for each constraint */
	uint32_t *queue;   /* constraints that had one unknown when queued */
	uint32_t queued;
};

static void list_users(struct propagation *p, uint32_t class_count)
{
	const struct flow_constraints *c = p->constraints;

	for (uint32_t t = 0; t < c->first[c->count]; t++)
		p->first[c->terms[t].class + 2]++;
	for (uint32_t k = 0; k < class_count; k++)
		p->first[k + 2] += p->first[k + 1];
	for (uint32_t k = 0; k < c->count; k++) {
		for (uint32_t t = c->first[k]; t < c->first[k + 1]; t++) {
			p->used_by[p->first[c->terms[t].class + 1]++] = k;
			p->unknown[k] += p->classes[c->terms[t].class].origin == FREQUENCY_NONE;
		}
		if (p->unknown[k] == 1)
			p->queue[p->queued++] = k;
	}
}

/*
 * Solve a constraint for its only unknown. Return: false if that has become known in the meantime.
 */
static bool frequency_propagate_solve(const struct propagation *p, uint32_t constraint,
				      uint32_t *class)
{
	const struct flow_constraints *c = p->constraints;
	struct frequency_estimate estimate = {.confidence = FREQUENCY_HIGH,
					      .origin = FREQUENCY_PROPAGATED};
	double below = 0, above = 0;
	int32_t sign = 0;

	for (uint32_t t = c->first[constraint]; t < c->first[constraint + 1]; t++) {
		const struct frequency_estimate *known = &p->classes[c->terms[t].class];
		double down = known->value - known->low;
		double up = known->high - known->value;

		if (known->origin == FREQUENCY_NONE) {
			*class = c->terms[t].class;
			sign = c->terms[t].sign;
			continue;
		}
		estimate.value += c->terms[t].sign * known->value;
		below += pow(c->terms[t].sign > 0 ? down : up, 2);
		above += pow(c->terms[t].sign > 0 ? up : down, 2);
		if (known->confidence < estimate.confidence)
			estimate.confidence = known->confidence;
	}
	if (sign == 0)
		return false;
	estimate.value = fmax(0, -sign * estimate.value);
	estimate.low = fmax(0, estimate.value - sqrt(sign < 0 ? below : above));
	estimate.high = estimate.value + sqrt(sign < 0 ? above : below);
	if (estimate.confidence > FREQUENCY_LOW)
		estimate.confidence--;
	p->classes[*class] = estimate;
	return true;
}

static void frequency_propagate_run(struct propagation *p)
{
	for (uint32_t q = 0; q < p->queued; q++) {
		uint32_t class;

		if (!frequency_propagate_solve(p, p->queue[q], &class))
			continue;
		for (uint32_t u = p->first[class]; u < p->first[class + 1]; u++) {
			if (--p->unknown[p->used_by[u]] == 1)
				p->queue[p->queued++] = p->used_by[u];
		}
	}
}

int frequency_propagate(struct frequency_estimate *classes, const struct cfg *cfg,
			const struct frequency_classes *of)
{
	_cleanup_(flow_constraints_deinit) struct flow_constraints constraints = {0};
	_cleanup_free_ uint32_t *memory = NULL;
	struct propagation p = {.classes = classes, .constraints = &constraints};
	int r = flow_constraints_create(&constraints, cfg, of);

	if (r < 0)
		return r;
	memory = calloc((size_t)of->count + 2 + 2 * (size_t)constraints.count +
				constraints.first[constraints.count] + 1,
			sizeof(*memory));
	if (memory == NULL)
		return -ENOMEM;
	p.unknown = memory;
	p.queue = p.unknown + constraints.count;
	p.first = p.queue + constraints.count;
	p.used_by = p.first + of->count + 2;
	list_users(&p, of->count);
	frequency_propagate_run(&p);
	return 0;
}
