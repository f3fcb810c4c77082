/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run independent jobs on several threads. Results are delivered in order; the number of results
 * that wait is bounded.
 */
#ifndef DCPI_ORDERED_POOL_H
#define DCPI_ORDERED_POOL_H

#include <stddef.h>

struct error;

/**
 * struct ordered_pool - description of the jobs
 * @jobs:         number of jobs; they are numbered from 0
 * @threads:      number of threads that run jobs; 0 and 1: the caller's thread
 * @waiting:      limit on the results of a thread that run or wait for delivery; 0: 8
 * @result_bytes: size of a job's result
 * @run:          run a job, on any thread, and fill in its @result, which is zeroed before.
 *                Return: 0; else the result is discarded and the work ends there
 * @deliver:      take a result, on the caller's thread, in order. Return: 0; else the work
 *                ends
 * @discard:      free a result, delivered or not, on the caller's thread
 */
struct ordered_pool {
	size_t jobs;
	unsigned int threads;
	unsigned int waiting;
	size_t result_bytes;
	int (*run)(void *ctx, size_t job, void *result);
	int (*deliver)(void *ctx, size_t job, void *result);
	void (*discard)(void *ctx, void *result);
	void *ctx;
};

/**
 * ordered_pool_run() - run all jobs
 *
 * Return: 0; the error of the first job, in order, that failed; the error of @deliver; -ENOMEM;
 * -EAGAIN threads cannot be started. No thread is left running.
 */
int ordered_pool_run(const struct ordered_pool *work, struct error *err);

#endif
