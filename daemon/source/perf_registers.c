// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/perf_registers.h"

#include <stddef.h>
#include <string.h>

#include "daemon/source/perf_slot.h"
#include "daemon/unwind/unwind_step.h"

#if defined(__x86_64__)
/* perf's numbers of rax .. r15, in the order of their encoding */
static const uint8_t perf_number[] = {0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23};
/* the same by DWARF's numbers */
static const uint8_t perf_by_dwarf[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
#define PERF_PC 8
#define PERF_FLAGS 9
#define PERF_REGISTERS 0xff03ffULL
#elif defined(__aarch64__)
static const uint8_t perf_number[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				      11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				      22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
#define perf_by_dwarf perf_number
#define PERF_PC 32
#define PERF_REGISTERS 0x1ffffffffULL
#else
static const uint8_t perf_number[] = {0};
#define perf_by_dwarf perf_number
#define PERF_PC 0
#define PERF_REGISTERS 0ULL
#endif

uint64_t perf_registers_mask(void)
{
	return PERF_REGISTERS;
}

/* perf stores registers in the order of its numbers, without gaps. */
static uint64_t register_of(uint64_t mask, const uint64_t *registers, uint32_t number)
{
	return registers[__builtin_popcountll(mask & ((1ULL << number) - 1))];
}

static uint64_t register_at(const uint64_t *registers, uint32_t number)
{
	return register_of(PERF_REGISTERS, registers, number);
}

/* AMD's IBS reports an exact PC, but registers as of the interrupt, which is later. */
bool perf_registers_take(struct dcpi_snapshot *ret, const struct perf_sample *sample, uint64_t abi,
			 const uint64_t *values)
{
	memset(ret, 0, sizeof(*ret));
	ret->pid = sample->pid;
	ret->tid = sample->tid;
	ret->time_ns = sample->time_ns;
	if (PERF_REGISTERS == 0 || (sample->header.misc & PERF_RECORD_MISC_EXACT_IP) != 0 ||
	    abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (size_t i = 0; i < sizeof(perf_number); i++)
		ret->registers[i] = register_at(values, perf_number[i]);
	ret->known = (uint32_t)((1ULL << sizeof(perf_number)) - 1);
	ret->pc = register_at(values, PERF_PC);
#ifdef PERF_FLAGS
	ret->flags = register_at(values, PERF_FLAGS);
	ret->flags_known = ~UINT64_C(0);
#endif
	return true;
}

void perf_registers_unwind(struct unwind_registers *ret, uint64_t mask, const uint64_t *values)
{
	*ret = (struct unwind_registers){.known = 0};
	if (PERF_REGISTERS == 0 || (mask >> PERF_PC & 1) == 0)
		return;
	ret->pc = register_of(mask, values, PERF_PC);
	for (uint8_t i = 0; i < sizeof(perf_by_dwarf); i++) {
		if ((mask >> perf_by_dwarf[i] & 1) == 0)
			continue;
		ret->reg[i] = register_of(mask, values, perf_by_dwarf[i]);
		ret->known |= UINT32_C(1) << i;
	}
}

bool perf_registers_read(struct dcpi_snapshot *ret, const struct perf_sample *sample)
{
	const uint64_t *words = (const void *)(sample + 1);
	size_t count = 1 + (size_t)__builtin_popcountll(PERF_REGISTERS);
	bool has_all = sample->header.size >= sizeof(*sample) + count * sizeof(*words);

	return perf_registers_take(ret, sample, has_all ? words[0] : PERF_SAMPLE_REGS_ABI_NONE,
				   words + 1);
}
