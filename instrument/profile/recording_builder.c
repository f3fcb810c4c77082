// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/profile/recording_builder.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

void recording_builder_deinit(struct recording_builder *builder)
{
	for (unsigned int i = 0; i < builder->table_count; i++)
		free(builder->tables[i].values);
	for (size_t i = 0; i < builder->text_count; i++)
		free(builder->texts[i]);
	free(builder->texts);
	*builder = (struct recording_builder){0};
}

void recording_builder_table(struct recording_builder *builder, unsigned int columns)
{
	assert(builder->table_count < PROFILE_RECORDING_TABLES_MAX);
	builder->tables[builder->table_count++] =
		(struct recording_builder_table){.columns = columns};
}

void recording_builder_row(struct recording_builder *builder, const uint64_t *values)
{
	struct recording_builder_table *table = &builder->tables[builder->table_count - 1];

	if (builder->failed ||
	    array_reserve(&table->values, &table->capacity, (table->rows + 1) * table->columns,
			  sizeof(*table->values)) < 0) {
		builder->failed = true;
		return;
	}
	memcpy(table->values + table->rows * table->columns, values,
	       table->columns * sizeof(*values));
	table->rows++;
}

uint64_t recording_builder_text(struct recording_builder *builder, const char *text)
{
	char *copy = builder->failed ? NULL : strdup(text);

	if (copy == NULL || array_reserve(&builder->texts, &builder->text_capacity,
					  builder->text_count + 1, sizeof(*builder->texts)) < 0) {
		free(copy);
		builder->failed = true;
		return 0;
	}
	builder->texts[builder->text_count] = copy;
	return builder->text_count++;
}

int recording_builder_end(const struct recording_builder *builder, struct profile_recording *ret)
{
	if (builder->failed)
		return -ENOMEM;
	*ret = (struct profile_recording){
		.metric = "",
		.table_count = builder->table_count,
		.texts = (const char *const *)builder->texts,
		.text_count = builder->text_count,
	};
	for (unsigned int i = 0; i < builder->table_count; i++)
		ret->tables[i] = (struct profile_recording_table){
			.columns = builder->tables[i].columns,
			.rows = builder->tables[i].rows,
			.values = builder->tables[i].values,
		};
	return 0;
}
