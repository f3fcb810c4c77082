// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/image/image_code.h"
#include "lib/partition_point.h"

void cfg_clear(struct cfg *cfg)
{
	free(cfg->blocks);
	free(cfg->edges);
	free(cfg->in_edges);
	free(cfg->block_of);
	free(cfg->calls);
	free(cfg->tables);
	*cfg = (struct cfg){0};
}

void cfg_destroy(struct cfg *cfg)
{
	if (cfg == NULL)
		return;
	free(cfg->insns);
	cfg_clear(cfg);
	free(cfg);
}

static uint64_t extend(uint64_t value, uint8_t bytes, bool is_signed)
{
	unsigned int shift = 64 - 8U * bytes;

	if (bytes >= 8)
		return value;
	return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

int cfg_table_target(const struct cfg_table *table, struct image_code *image, int64_t index,
		     uint64_t *target)
{
	uint64_t value = 0;
	uint64_t address = table->address + (uint64_t)index * table->bytes;

	if (image == NULL || image_code_data(image, address, &value, table->bytes) < 0)
		return -ENOENT;
	*target = table->base + (extend(value, table->bytes, table->is_signed) << table->scale);
	return 0;
}

long cfg_find_insn(const struct cfg *cfg, uint64_t address)
{
	uint32_t low = partition_point(0, cfg->insn_count, i, cfg->insns[i].address < address);

	return low < cfg->insn_count && cfg->insns[low].address == address ? (long)low : -ENOENT;
}

long cfg_find_call(const struct cfg *cfg, uint32_t insn)
{
	uint32_t low = partition_point(0, cfg->call_count, i, cfg->calls[i].insn < insn);

	return low < cfg->call_count && cfg->calls[low].insn == insn ? (long)low : -ENOENT;
}

long cfg_tail_edge(const struct cfg *cfg, const struct cfg_call *call)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[call->insn]];

	for (uint32_t e = block->out; call->tail && e < block->out + block->out_count; e++)
		if (cfg->edges[e].kind == CFG_EDGE_TAIL && cfg->edges[e].target == call->target)
			return e;
	return -ENOENT;
}
