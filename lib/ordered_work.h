/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Independent jobs done by several threads, their results delivered in order, with a
 * bounded number of them waiting.
 */
#ifndef DCPI_ORDERED_WORK_H
#define DCPI_ORDERED_WORK_H

#include <stddef.h>

struct error;

/**
 * struct ordered_work - what to do
 * @jobs:         how many; they are numbered from 0
 * @threads:      that run jobs; 0 and 1: the caller's
 * @result_bytes: of a job's result
 * @run:          do a job, on any thread, and fill in its @result, all zero before.
 *                Return: 0; else the result is discarded and the work ends there
 * @deliver:      take a result, on the caller's thread, in order. Return: 0; else the work
 *                ends
 * @discard:      free a result, delivered or not, on the caller's thread
 */
struct ordered_work {
	size_t jobs;
	unsigned int threads;
	size_t result_bytes;
	int (*run)(void *ctx, size_t job, void *result);
	int (*deliver)(void *ctx, size_t job, void *result);
	void (*discard)(void *ctx, void *result);
	void *ctx;
};

/**
 * ordered_work_run() - do it
 *
 * Return: 0; what the first job, in order, to fail returned; what @deliver returned;
 * -ENOMEM; -EAGAIN threads can't be started. No thread is left running.
 */
int ordered_work_run(const struct ordered_work *work, struct error *err);

#endif
