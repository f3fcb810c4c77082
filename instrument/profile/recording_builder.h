/* SPDX-License-Identifier: GPL-2.0-only */
/* Build a recording for the profile database (db/profile_recording.h). */
#ifndef DCPI_INSTRUMENT_RECORDING_BUILDER_H
#define DCPI_INSTRUMENT_RECORDING_BUILDER_H

#include "db/profile_write.h"

/**
 * struct recording_builder - zero-initialised is empty; freed by recording_builder_deinit()
 * @failed: memory was exhausted: additions have no effect
 */
struct recording_builder {
	struct recording_builder_table {
		unsigned int columns;
		uint64_t *values;
		size_t rows;
		size_t capacity;
	} tables[PROFILE_RECORDING_TABLES_MAX];
	unsigned int table_count;
	char **texts;
	size_t text_count;
	size_t text_capacity;
	bool failed;
};

void recording_builder_deinit(struct recording_builder *builder);

/** recording_builder_table() - start the next table. */
void recording_builder_table(struct recording_builder *builder, unsigned int columns);

/** recording_builder_row() - add a row to the last table: one value per column. */
void recording_builder_row(struct recording_builder *builder, const uint64_t *values);

/** recording_builder_text() - add a text, which is copied. Return: its number. */
uint64_t recording_builder_text(struct recording_builder *builder, const char *text);

/**
 * recording_builder_end() - return the recording
 * @ret: out; valid while @builder is not changed. The caller sets mode and metric
 *
 * Return: 0 or -ENOMEM.
 */
int recording_builder_end(const struct recording_builder *builder, struct profile_recording *ret);

#endif
