/* SPDX-License-Identifier: GPL-2.0-only */
/* A fully associative TLB with FIFO replacement. */
#ifndef DCPI_TESTS_SIM_TLB_H
#define DCPI_TESTS_SIM_TLB_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_TLB_GUESSES 256

/**
 * struct sim_tlb - @pages: page numbers + 1; @guesses: the entry where each page was seen last, by
 * its low bits
 */
struct sim_tlb {
	uint64_t *pages;
	uint32_t entries;
	uint32_t next;
	uint32_t shift;
	uint16_t guesses[SIM_TLB_GUESSES];
};

/** sim_tlb_init() - make an empty TLB. @page_bytes: a power of two. Return: 0 or -ENOMEM. */
int sim_tlb_init(struct sim_tlb *tlb, uint32_t entries, uint32_t page_bytes);

/** sim_tlb_access() - look up a page, and add it if it is missing. Return: true if it was there. */
bool sim_tlb_access(struct sim_tlb *tlb, uint64_t address);

void sim_tlb_deinit(struct sim_tlb *tlb);

#endif
