// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/point_likelihood.h"

#include <math.h>

#include "analysis/frequency/stall_exposure.h"

/* Relative error of an M that is an average of several. */
#define FRACTION_ERROR 0.03
/*
 * Samples before a point are relevant from SHARED_LEAST times its own. SHARED is the probability
 * that they belong to the point, TORN that of samples of instructions that should issue with it.
 */
#define SHARED_LEAST 0.1
#define SHARED 0.5
#define TORN 0.3
/* Tolerance for a whole number of cycles. */
#define WHOLE 0.02

/*
 * struct prospects - probability of dynamic stalls, and their range in multiples of M
 *
 * All orders of magnitude in that range are equally probable. Fitted on the tuned half of the truth
 * harness. First instructions of blocks mostly wait for mispredictions, and no longer than these
 * take: the little code that is executed often rarely misses the I-cache.
 */
struct prospects {
	double stalled;
	double least;
	double most;
};

/* struct prospects.most: the cycles of a misprediction. */
#define MISPREDICT 0

static const struct prospects prospects_of[STALL_EXPOSURES] = {
	/* clang-format off */
	[EXPOSED_NOT]         = {0.05, 0.01, 30},
	[EXPOSED_LINE]        = {0.15, 0.01, 30},
	[EXPOSED_STORE]       = {0.18, 0.01, 30},
	[EXPOSED_LOAD]        = {0.20, 0.01, 30},
	[EXPOSED_FALLTHROUGH] = {0.55, 0.02, MISPREDICT},
	[EXPOSED_VALUE]       = {0.60, 0.01, 100},
	[EXPOSED_FETCH]       = {0.70, 0.02, MISPREDICT},
	[EXPOSED_BUBBLE]      = {0.95, 0.10, MISPREDICT},
	[EXPOSED_DIVISION]    = {0.95, 0.10, 30},
	/* clang-format on */
};
/* Lower bound of a point's cycles for averages near zero, and of the multiple in prospects.most. */
#define CYCLES_LEAST 0.5
#define MULTIPLE_LEAST 1.0
/* Evidence from other procedures is not subject to stalls. */
static const struct prospects prospects_of_derived = {0, 0.01, 30};

/*
 * Probability that M is wrong: in general; for an average over edges into the block; by one cycle,
 * for the latency of an instruction.
 */
#define WRONG 0.03
#define WRONG_FRACTION 0.1
#define WRONG_LATENCY 0.1
/*
 * Where M changes after mispredictions: relative error of their share, which is derived from
 * stalls; least error; probability of an arbitrary share, since other stalls exist, too; lower
 * bound of M.
 */
#define LATE_ERROR 1.0
#define LATE_ERROR_LEAST 0.02
#define LATE_ANY 0.3
#define LATE_LEAST 0.02
/* Logarithm of a negligible factor; beyond its negative, the other term is negligible. */
#define NEGLIGIBLE (-30.0)
/* If M is wrong, the logarithm of the frequency is uniform over a range of this size. */
#define WRONG_RANGE 6.0

/* Return the prospects of an instruction of a point, in multiples of the point's cycles. */
static struct prospects prospects_at(const struct issue_point *point, uint8_t exposure,
				     double mispredict)
{
	struct prospects ret = prospects_of[exposure];

	if (ret.most == MISPREDICT)
		ret.most = fmax(mispredict / fmax(point->cycles, CYCLES_LEAST), MULTIPLE_LEAST);
	return ret;
}

/* Combine the prospects of a point's instructions: it is unstalled only if all of them are. */
static struct prospects find_prospects(const struct issue_point *point, const uint8_t *exposures,
				       double mispredict)
{
	struct prospects ret;

	if (point->insn == POINT_DERIVED)
		return prospects_of_derived;
	ret = prospects_at(point, exposures[point->insn], mispredict);
	for (uint32_t i = point->first; i < point->insn; i++) {
		struct prospects other = prospects_at(point, exposures[i], mispredict);

		ret.stalled = 1 - (1 - ret.stalled) * (1 - other.stalled);
		ret.least = fmin(ret.least, other.least);
		ret.most = fmax(ret.most, other.most);
	}
	return ret;
}

bool point_is_whole(double cycles)
{
	return cycles > 0.5 && fabs(cycles - round(cycles)) < WHOLE;
}

bool point_is_late(const struct issue_point *point)
{
	return fabs(point->cycles - point->late) > WHOLE;
}

/* struct likelihood - parts of a point's likelihood that do not depend on the frequency */
struct likelihood {
	struct prospects prospects;
	double samples;
	double cycles;
	double clean; /* probabilities */
	double stalled;
	double latency; /* in each direction */
	double wrong;
	double certain;			/* effective number of samples, given the model's error. */
	double peak;			/* greatest density of log S without error or stall */
	double stall_scale;		/* 1 / log (most / least) */
	double log_ratio[3];		/* log of M/S; of M - 1 and of M + 1 */
	const struct issue_point *late; /* NULL: M does not depend on mispredictions. */
	double error;			/* relative error of M */
	double mispredict;
};

static struct likelihood make_likelihood(const struct issue_point *point, const uint8_t *exposures,
					 double mispredict)
{
	bool derived = point->insn == POINT_DERIVED;
	bool exact = derived || point_is_whole(point->cycles);
	double latency = !derived && point->cycles >= 1.5 ? WRONG_LATENCY : 0;
	double wrong = exact ? WRONG : WRONG_FRACTION;
	double error = exact ? POINT_MODEL_ERROR : FRACTION_ERROR;
	double right = 1 - wrong - latency;
	double s = point->samples;
	struct likelihood l = {
		.prospects = find_prospects(point, exposures, mispredict),
		.samples = s,
		.cycles = point->cycles,
		.latency = latency / 2,
		.wrong = wrong,
		.late = !derived && point_is_late(point) ? point : NULL,
		.error = error,
		.mispredict = mispredict,
	};

	if (s <= 0)
		return l;
	l.clean = right * (1 - l.prospects.stalled);
	l.stalled = right * l.prospects.stalled;
	l.certain = s / (1 + s * error * error);
	l.peak = sqrt(l.certain / (2 * M_PI));
	l.stall_scale = 1 / log(l.prospects.most / l.prospects.least);
	l.log_ratio[0] = log(l.cycles / s);
	if (latency > 0) {
		l.log_ratio[1] = log((l.cycles - 1) / s);
		l.log_ratio[2] = log((l.cycles + 1) / s);
	}
	return l;
}

/* Density of log S with Poisson-distributed S; @log_ratio: logarithm of @expected / S. */
static double peak_density(const struct likelihood *l, double expected, double log_ratio)
{
	double log = l->certain * (log_ratio + 1 - expected / l->samples);

	return log > NEGLIGIBLE ? l->peak * exp(log) : 0;
}

/* Density of log S with a stall: density of log (1 + d/M), blurred at its lower end. */
static double stalled_density(const struct likelihood *l, double expected)
{
	double stall = l->samples / expected - 1;
	double least = l->prospects.least;
	double blurred = stall > least ? stall : least;
	double density = l->stall_scale * (1 + blurred) / blurred;
	double below = 1.7 * (least - stall) * sqrt(l->certain);

	if (stall > l->prospects.most)
		density *= l->prospects.most / stall;
	if (below < NEGLIGIBLE)
		return density;
	return below > -NEGLIGIBLE ? 0 : density / (1 + exp(below));
}

/*
 * Share of mispredictions among the executions of a point's block, derived from the time of its
 * first instruction beyond M, as if all of that time were due to mispredictions.
 */
static double mispredict_share(const struct likelihood *l, double x)
{
	double stall = l->late->head_samples / x - l->late->head_cycles;

	return fmin(fmax(stall / l->mispredict, 0), 1);
}

/* Likelihood where M changes after mispredictions: with their apparent share, or with any share. */
static double late_likelihood_at(const struct likelihood *l, double x)
{
	double share = mispredict_share(l, x);
	double span = l->late->late - l->cycles;
	double cycles = fmax(l->cycles + share * span, LATE_LEAST);
	double off = fabs(span) * (LATE_ERROR * share * (1 - share) + LATE_ERROR_LEAST) / cycles;
	double ratio = l->samples / x;
	struct likelihood as_seen = *l;
	double sum;

	as_seen.cycles = cycles;
	as_seen.certain = l->samples / (1 + l->samples * (l->error * l->error + off * off));
	as_seen.peak = sqrt(as_seen.certain / (2 * M_PI));
	sum = l->clean * (1 - LATE_ANY) * peak_density(&as_seen, x * cycles, log(cycles / ratio)) +
	      l->stalled * stalled_density(&as_seen, x * cycles) + l->wrong / WRONG_RANGE;
	if (ratio > fmin(l->cycles, l->late->late) && ratio < fmax(l->cycles, l->late->late))
		sum += l->clean * LATE_ANY * ratio / fabs(span);
	return sum;
}

/* Likelihood of a point's samples if its class has frequency @x. */
static double likelihood_at(const struct likelihood *l, double x, double log_x)
{
	double expected = x * l->cycles;
	double sum;

	if (l->samples <= 0)
		return (1 - l->wrong) * exp(-expected) + l->wrong;
	if (l->late != NULL)
		return late_likelihood_at(l, x);
	sum = l->clean * peak_density(l, expected, log_x + l->log_ratio[0]) +
	      l->stalled * stalled_density(l, expected) + l->wrong / WRONG_RANGE;
	if (l->latency > 0)
		sum += l->latency * (peak_density(l, expected - x, log_x + l->log_ratio[1]) +
				     peak_density(l, expected + x, log_x + l->log_ratio[2]));
	return sum;
}

static bool is_shared(const struct issue_point *point)
{
	return point->shared > SHARED_LEAST * point->samples;
}

double point_claims(const struct issue_point *point)
{
	return is_shared(point) ? point->shared : point->torn;
}

void point_likelihood_multiply(double *log_density, const double *x, const double *log_x,
			       uint32_t n, const struct issue_point *point,
			       const uint8_t *exposures, double mispredict)
{
	struct issue_point all = *point;
	struct likelihood l = make_likelihood(point, exposures, mispredict);
	double claims = point_claims(point), likely = is_shared(point) ? SHARED : TORN;
	struct likelihood with_claims;

	if (claims <= 0) {
		for (uint32_t k = 0; k < n; k++)
			log_density[k] += log(likelihood_at(&l, x[k], log_x[k]));
		return;
	}
	/* Either the point issued alone, or partly with the instructions before it. */
	all.samples += claims;
	with_claims = make_likelihood(&all, exposures, mispredict);
	for (uint32_t k = 0; k < n; k++)
		log_density[k] += log((1 - likely) * likelihood_at(&l, x[k], log_x[k]) +
				      likely * likelihood_at(&with_claims, x[k], log_x[k]));
}
