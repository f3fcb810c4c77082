// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_tlb.h"

#include <errno.h>
#include <stdlib.h>

int sim_tlb_init(struct sim_tlb *tlb, uint32_t entries, uint32_t page_bytes)
{
	*tlb = (struct sim_tlb){
		.entries = entries,
		.shift = (uint32_t)__builtin_ctz(page_bytes),
	};
	tlb->pages = calloc(entries, sizeof(*tlb->pages));
	return tlb->pages ? 0 : -ENOMEM;
}

bool sim_tlb_access(struct sim_tlb *tlb, uint64_t address)
{
	uint64_t page = (address >> tlb->shift) + 1;
	uint16_t *guess = &tlb->guesses[page % SIM_TLB_GUESSES];
	uint32_t i;

	if (tlb->pages[*guess] == page)
		return true;
	for (i = 0; i < tlb->entries; i++) {
		if (tlb->pages[i] == page) {
			*guess = (uint16_t)i;
			return true;
		}
	}
	tlb->pages[tlb->next] = page;
	*guess = (uint16_t)tlb->next;
	tlb->next = (tlb->next + 1) % tlb->entries;
	return false;
}

void sim_tlb_deinit(struct sim_tlb *tlb)
{
	free(tlb->pages);
	*tlb = (struct sim_tlb){0};
}
