/* SPDX-License-Identifier: GPL-2.0-only */
/* Damaged recordings, for tests of their readers. */
#ifndef DCPI_TESTS_RECORDING_DAMAGE_H
#define DCPI_TESTS_RECORDING_DAMAGE_H

#include "instrument/profile/recording_builder.h"
#include "tests/unit.h"

static inline bool offset_of(const void *context, uint64_t address, uint64_t *offset)
{
	(void)context;
	*offset = address - 0x1000;
	return true;
}

/* Replace one value of one table with another, either small or arbitrary. */
static inline void damage(struct recording_builder *builder, uint64_t *seed)
{
	struct recording_builder_table *table =
		&builder->tables[unit_random(seed) % builder->table_count];
	size_t numbers = table->rows * table->columns;

	if (numbers > 0)
		table->values[unit_random(seed) % numbers] =
			unit_random(seed) % 2 ? unit_random(seed) % 12
					      : unit_random(seed) & PROFILE_RECORDING_VALUE_MAX;
	if (unit_random(seed) % 8 == 0)
		table->rows -= table->rows > 0;
	if (unit_random(seed) % 16 == 0)
		builder->text_count -= builder->text_count > 0;
	if (unit_random(seed) % 16 == 0)
		builder->table_count--;
}

/* Restore a recording to its state before damage(). */
static inline void heal(struct recording_builder *builder, const struct recording_builder *before)
{
	builder->table_count = before->table_count;
	builder->text_count = before->text_count;
	recording_builder_deinit(builder);
}

#endif
