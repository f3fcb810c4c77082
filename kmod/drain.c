// SPDX-License-Identifier: GPL-2.0-only
#include "drain.h"

#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "sampler_cpu.h"

/**
 * struct drain - state of one drain call
 * @out:    the reader's array
 * @count:  entries copied to it
 * @totals: sums of their counts
 */
struct drain {
	struct sampler_cpu *sampled;
	struct sample_store *store;
	struct dcpi_sample __user *out;
	u32 count;
	struct sample_totals totals;
};

/* A buffer that DCPI_IOC_TAKE gave is no longer taken when it is released by draining. */
static void buffer_release(struct sampler_cpu *sampled, int buffer)
{
	sampled->taken = -1;
	sample_store_release(&sampled->store, buffer);
}

static void count_delivered(struct sampler_cpu *sampled, struct sample_totals totals, u32 entries)
{
	sampled->delivered += totals.samples;
	sampled->delivered_edges += totals.edges;
	sampled->delivered_entries += entries;
}

static int copy_out(struct drain *drain, const struct dcpi_sample *entries, u32 count)
{
	if (copy_to_user(drain->out + drain->count, entries, count * sizeof(*entries)))
		return -EFAULT;
	drain->count += count;
	sample_totals_add(&drain->totals, entries, count);
	return 0;
}

static int take_buffer(struct drain *drain)
{
	struct sample_chunk chunk;
	int err, buffer = sample_store_full(drain->store, &chunk);

	if (buffer < 0)
		return 0;
	err = copy_out(drain, chunk.entries, chunk.count);
	if (!err)
		buffer_release(drain->sampled, buffer);
	return err;
}

/*
 * The table is sparse: its used entries are copied through the array @piece. Entries that have been
 * copied are cleared before the next piece, so that a fault leaves every sample in exactly one
 * place.
 */
static int take_table(struct drain *drain)
{
	static struct dcpi_sample piece[256]; /* protected by the sampler's mutex */
	struct sample_chunk table = sample_store_table(drain->store);
	u32 first, i, entries, used;
	int err;

	for (first = 0; first < table.count; first += entries) {
		entries = min_t(u32, ARRAY_SIZE(piece), table.count - first);
		used = 0;
		for (i = first; i < first + entries; i++) {
			if (dcpi_tag_count(table.entries[i].tag) != 0)
				piece[used++] = table.entries[i];
		}
		if (used == 0)
			continue;
		err = copy_out(drain, piece, used);
		if (err)
			return err;
		sample_store_table_clear(drain->store, first, entries);
	}
	return 0;
}

struct owner_call {
	struct sample_store *store;
	int err;
};

/*
 * Retiring fails if a buffer filled up since take_buffer(). That buffer serves as well: it ends
 * with samples younger than the call.
 */
static void flush_begin(void *data)
{
	struct owner_call *call = data;

	call->err = sample_store_flush_begin(call->store);
	if (!call->err)
		sample_store_retire(call->store);
}

static void flush_end(void *data)
{
	struct owner_call *call = data;

	sample_store_flush_end(call->store);
}

/*
 * Run @function on the CPU that writes the store. An offline CPU has no writer, and gets none
 * before the caller releases the mutex, so the function can run on this CPU.
 */
static int on_owner(unsigned int cpu, smp_call_func_t function, struct sample_store *store)
{
	struct owner_call call = {.store = store};

	if (smp_call_function_single(cpu, function, &call, 1) != 0)
		function(&call);
	return call.err;
}

/* Takes at most two buffers and the table, which fit into the smallest capacity allowed. */
static int take_all(struct drain *drain, unsigned int cpu)
{
	int err = take_buffer(drain);

	if (err)
		return err;
	/*
	 * -EBUSY: the call interrupted a handler that runs with interrupts enabled. The loop never
	 * ends if that handler died.
	 */
	while (on_owner(cpu, flush_begin, drain->store) == -EBUSY) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	err = take_buffer(drain);
	if (!err)
		err = take_table(drain);
	on_owner(cpu, flush_end, drain->store);
	return err;
}

int drain_cpu(struct sampler_cpu *sampled, const struct dcpi_drain *request, u32 __user *count)
{
	struct drain drain = {
		.sampled = sampled,
		.store = &sampled->store,
		.out = u64_to_user_ptr(request->samples),
	};
	int err;

	if (request->flags & DCPI_DRAIN_ALL)
		err = take_all(&drain, request->cpu);
	else
		err = take_buffer(&drain);
	if (!err)
		err = put_user(drain.count, count);
	if (err) {
		sampled->store.lost[DCPI_LOSS_READER_GONE] += drain.totals.samples;
		sampled->edges_gone += drain.totals.edges;
		return err;
	}
	count_delivered(sampled, drain.totals, drain.count);
	return 0;
}

void drain_take(struct sampler_cpu *sampled, struct dcpi_take *take)
{
	struct sample_chunk chunk;
	int buffer = sample_store_full(&sampled->store, &chunk);

	if (buffer < 0)
		return;
	sampled->taken = buffer;
	take->first = (u32)buffer * sampled->store.buffer_entries;
	take->count = chunk.count;
}

int drain_release(struct sampler_cpu *sampled)
{
	struct sample_totals totals = {0, 0};
	struct sample_chunk chunk;

	if (sampled->taken < 0)
		return -EAGAIN;
	/* The oldest full buffer is the taken one: it remains the oldest until it is released. */
	sample_store_full(&sampled->store, &chunk);
	sample_totals_add(&totals, chunk.entries, chunk.count);
	count_delivered(sampled, totals, chunk.count);
	buffer_release(sampled, sampled->taken);
	return 0;
}
