/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocate the memory of a CPU's store, and map its buffers into the reader. */
#ifndef DCPI_STORE_MEMORY_H
#define DCPI_STORE_MEMORY_H

#include <linux/types.h>

struct sampler_cpu;
struct vm_area_struct;

/**
 * store_memory_allocate() - allocate memory for a store without any, and initialize the store
 * @table_entries, @buffer_entries: already checked
 *
 * Sleeps. The caller holds the sampler's mutex. Return: 0 or -ENOMEM.
 */
int store_memory_allocate(unsigned int cpu, struct sampler_cpu *sampled, u32 table_entries,
			  u32 buffer_entries);

/**
 * store_memory_release() - free the memory, if there is any
 *
 * No handler may be running. Pages that the reader has mapped live until it unmaps them, and are
 * not reused before. The caller holds the sampler's mutex.
 */
void store_memory_release(struct sampler_cpu *sampled);

/**
 * store_memory_map() - map both buffers, read-only, at the start of @vma
 *
 * Called from mmap() without the sampler's mutex, which is held while copying to the reader. That
 * copy may wait for the lock of the reader's mappings.
 *
 * Return: 0; -EACCES writable or executable; -EINVAL too long; -ENXIO there is no memory; -ENOMEM.
 */
int store_memory_map(struct sampler_cpu *sampled, struct vm_area_struct *vma);

#endif
