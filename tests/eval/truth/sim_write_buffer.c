// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_write_buffer.h"

void sim_write_buffer_init(struct sim_write_buffer *buffer, const struct sim_machine *machine)
{
	*buffer = (struct sim_write_buffer){
		.entries = machine->write_entries,
		.linger = machine->write_linger,
		.shift = (uint32_t)__builtin_ctz(machine->write_block),
	};
}

static struct sim_write *entry(struct sim_write_buffer *buffer, uint32_t index)
{
	return &buffer->ring[(buffer->first + index) % buffer->entries];
}

static void retire(struct sim_write_buffer *buffer, uint64_t now)
{
	while (buffer->count > 0 && entry(buffer, 0)->done <= now) {
		buffer->first = (buffer->first + 1) % buffer->entries;
		buffer->count--;
	}
}

/* Another entry follows the youngest one, which therefore stops lingering. */
static void hurry(struct sim_write_buffer *buffer, uint64_t now)
{
	struct sim_write *last = entry(buffer, buffer->count - 1);
	uint64_t earliest = now;

	if (last->begins <= now)
		return;
	if (buffer->count > 1 && entry(buffer, buffer->count - 2)->done > earliest)
		earliest = entry(buffer, buffer->count - 2)->done;
	if (earliest < last->begins) {
		last->begins = earliest;
		last->done = earliest + last->cost;
	}
}

bool sim_write_buffer_joins(struct sim_write_buffer *buffer, uint64_t address, uint64_t now)
{
	uint64_t block = address >> buffer->shift;
	uint32_t i;

	retire(buffer, now);
	for (i = 0; i < buffer->count; i++) {
		if (entry(buffer, i)->block == block && entry(buffer, i)->begins > now)
			return true;
	}
	return false;
}

uint64_t sim_write_buffer_free_at(struct sim_write_buffer *buffer, uint64_t now)
{
	retire(buffer, now);
	if (buffer->count < buffer->entries)
		return now;
	if (buffer->count == 1)
		hurry(buffer, now);
	return entry(buffer, 0)->done;
}

void sim_write_buffer_add(struct sim_write_buffer *buffer, uint64_t address, uint64_t now,
			  uint32_t cost)
{
	uint64_t begins = now + buffer->linger;
	struct sim_write *added;

	retire(buffer, now);
	if (buffer->count > 0) {
		hurry(buffer, now);
		if (entry(buffer, buffer->count - 1)->done > begins)
			begins = entry(buffer, buffer->count - 1)->done;
	}
	buffer->count++;
	added = entry(buffer, buffer->count - 1);
	*added = (struct sim_write){address >> buffer->shift, begins, begins + cost, cost};
}

uint64_t sim_write_buffer_empty_at(struct sim_write_buffer *buffer, uint64_t now)
{
	retire(buffer, now);
	if (buffer->count == 0)
		return now;
	hurry(buffer, now);
	return entry(buffer, buffer->count - 1)->done;
}
