/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Execution counts of each block and edge, estimated from samples of time (DCPI sections 6.1.3 to
 * 6.1.5).
 *
 * Values are executions divided by the sampling period (the paper's F): multiply by
 * procedure_profile.period_cycles for executions.
 */
#ifndef DCPI_FREQUENCY_H
#define DCPI_FREQUENCY_H

#include "analysis/frequency/procedure_profile.h"
#include "analysis/graph/cfg_facts.h"
#include "analysis/graph/frequency_class.h"
#include "analysis/machine/schedule.h"

/** enum frequency_confidence - confidence in an estimate. */
enum frequency_confidence {
	FREQUENCY_LOW,
	FREQUENCY_MEDIUM,
	FREQUENCY_HIGH,
};

/** enum frequency_origin - method that produced an estimate. */
enum frequency_origin {
	FREQUENCY_NONE,	      /* no samples and no constraint */
	FREQUENCY_CLUSTER,    /* a cluster of issue points (section 6.1.3) */
	FREQUENCY_RATIO,      /* few samples: sum of S / sum of M */
	FREQUENCY_PROPAGATED, /* flow constraints (section 6.1.4) */
	FREQUENCY_JOINT,      /* the joint estimate of all classes */
	FREQUENCY_EXACT,      /* counted */
};

/**
 * struct frequency_estimate - an estimated frequency
 * @value:      F
 * @low, @high: interval intended to contain the true value with probability 90%
 * @measured:   mostly derived from measured rates (loop_clock.h, flow_gaps.h), and so independent
 * of the processor's frequency, which the period in cycles is derived from
 */
struct frequency_estimate {
	double value;
	double low;
	double high;
	enum frequency_confidence confidence;
	enum frequency_origin origin;
	bool measured;
};

/**
 * frequency_scale_confidence() - return the confidence in scaled counts
 * @low, @high: interval of the scale
 */
enum frequency_confidence frequency_scale_confidence(double low, double high);

/**
 * struct frequency_input - input of the estimators; all parts belong to one graph
 * @facts: may be empty if procedure_profile_tells() returns false
 */
struct frequency_input {
	const struct cfg *cfg;
	const struct cfg_facts *facts;
	const struct frequency_classes *classes;
	const struct machine_model *model;
	const struct schedule *schedule;
	const struct procedure_profile *profile;
};

/** struct frequency - estimates for each block and each edge. */
struct frequency {
	struct frequency_estimate *blocks;
	struct frequency_estimate *edges;
};

/**
 * struct frequency_estimator - an estimation method
 * @name:     "dcpi" (joint, the default), "paper", "avg", "max"
 * @by_flow:  on out-of-order machines, the method does not use classes, which may then be NULL, and
 *            its estimates are proportional to 1 / procedure_profile.slowness
 * @estimate: fill @ret, allocated by frequency_estimate() and zeroed. Return: 0 or -ENOMEM
 */
struct frequency_estimator {
	const char *name;
	const char *summary;
	bool by_flow;
	int (*estimate)(struct frequency *ret, const struct frequency_input *input);
};

/**
 * frequency_estimator_find() - find an estimator by name; NULL: the default. Return: NULL if
 * unknown.
 */
const struct frequency_estimator *frequency_estimator_find(const char *name);

/** frequency_estimator_list() - return all estimators, terminated by NULL. */
const struct frequency_estimator *const *frequency_estimator_list(void);

/**
 * frequency_allocate() - allocate zeroed estimates; freed by frequency_deinit(). Return: 0 or
 * -ENOMEM.
 */
int frequency_allocate(struct frequency *ret, const struct cfg *cfg);

/**
 * frequency_estimate() - estimate the frequencies of a procedure
 * @ret: out; freed by frequency_deinit()
 *
 * Exact counts in the profile take precedence over every estimator; they need classes.
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_estimate(struct frequency *ret, const struct frequency_estimator *estimator,
		       const struct frequency_input *input);

void frequency_deinit(struct frequency *frequency);

#endif
