/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers in a sample's record of perf, as a snapshot. All that is derived from a record
 * beyond its count (edges, register pairs) is derived from this snapshot.
 */
#ifndef DCPI_PERF_REGISTERS_H
#define DCPI_PERF_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "kmod/uapi/dcpi_snapshot.h"

struct perf_sample;
struct unwind_registers;

/**
 * perf_registers_mask() - return the registers for perf_event_attr.sample_regs_user
 *
 * Return: 0 if the registers of this architecture are unknown.
 */
uint64_t perf_registers_mask(void);

/**
 * perf_registers_take() - make the snapshot of a sample from registers in perf's order
 * @abi:    PERF_SAMPLE_REGS_ABI_*
 * @values: those of perf_registers_mask(); not read unless @abi is that of 64-bit programs
 *
 * As perf_registers_read() otherwise, for records with another layout.
 */
bool perf_registers_take(struct dcpi_snapshot *ret, const struct perf_sample *sample, uint64_t abi,
			 const uint64_t *values);

/**
 * perf_registers_unwind() - convert registers of this architecture in perf's order for unwinding
 * @mask:   perf's numbers of the registers that were stored
 * @values: one for each bit of @mask, of a 64-bit program
 */
void perf_registers_unwind(struct unwind_registers *ret, uint64_t mask, const uint64_t *values);

/**
 * perf_registers_read() - read a sample's record
 * @ret:    out: thread, time, and the registers in user mode. @known is 0 if the record has no
 *          registers, if they are those of a 32-bit program, or if they were captured later than
 *          the sample's PC. CPU, event and generation are 0
 * @sample: with the registers of perf_registers_mask(), after the other fields; its size is in its
 *          header
 *
 * Return: true if there are registers.
 */
bool perf_registers_read(struct dcpi_snapshot *ret, const struct perf_sample *sample);

#endif
