// SPDX-License-Identifier: GPL-2.0-only
#include "store_memory.h"

#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "compat/vm_flags.h"
#include "sampler_cpu.h"

static DEFINE_MUTEX(buffers_lock); /* sampler_cpu.buffers against mmap(); innermost */

static void buffers_set(struct sampler_cpu *sampled, void *buffers)
{
	mutex_lock(&buffers_lock);
	sampled->buffers = buffers;
	mutex_unlock(&buffers_lock);
}

/*
 * The table is in whole pages, physically contiguous if possible, so that it is aligned and causes
 * few TLB misses. The buffers, which hits do not access, are in zeroed pages that can be mapped one
 * by one.
 */
int store_memory_allocate(unsigned int cpu, struct sampler_cpu *sampled, u32 table_entries,
			  u32 buffer_entries)
{
	void *table = kvzalloc_node(PAGE_ALIGN(sample_store_table_bytes(table_entries)), GFP_KERNEL,
				    cpu_to_node((int)cpu));
	void *buffers = vmalloc_user(PAGE_ALIGN(sample_store_buffer_bytes(buffer_entries)));
	int err = -ENOMEM;

	if (table && buffers)
		err = sample_store_init_separate(&sampled->store, table, buffers, table_entries,
						 buffer_entries);
	if (err) {
		vfree(buffers);
		kvfree(table);
		return err;
	}
	sampled->taken = -1;
	buffers_set(sampled, buffers);
	WRITE_ONCE(sampled->table, table);
	return 0;
}

void store_memory_release(struct sampler_cpu *sampled)
{
	void *table = sampled->table;
	void *buffers = sampled->buffers;

	if (!table)
		return;
	WRITE_ONCE(sampled->table, NULL);
	buffers_set(sampled, NULL);
	vfree(buffers);
	kvfree(table);
}

int store_memory_map(struct sampler_cpu *sampled, struct vm_area_struct *vma)
{
	unsigned long bytes = vma->vm_end - vma->vm_start;
	int err = -ENXIO;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	mutex_lock(&buffers_lock);
	if (sampled->buffers) {
		err = -EINVAL;
		if (bytes <= PAGE_ALIGN(sample_store_buffer_bytes(sampled->store.buffer_entries))) {
			/* mprotect() must not add these permissions later either. */
			compat_vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
			err = remap_vmalloc_range(vma, sampled->buffers, 0);
		}
	}
	mutex_unlock(&buffers_lock);
	return err;
}
