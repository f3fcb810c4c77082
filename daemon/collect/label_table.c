// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/label_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "daemon/base/cgroup.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"

/* @text: the unit and, after its terminating NUL, the container */
struct label {
	char *text;
	size_t bytes;
};

/* @numbers: by hash of the text */
struct label_table {
	struct label *labels;
	size_t count;
	size_t capacity;
	struct u64_map numbers;
	size_t bytes;
};

/* Both names, each with its terminating NUL. */
struct label_key {
	char text[2 * CGROUP_NAME_BYTES];
	size_t bytes;
};

static void key_make(struct label_key *key, const struct cgroup *cgroup)
{
	size_t unit = strlen(cgroup->unit) + 1, container = strlen(cgroup->container) + 1;

	memcpy(key->text, cgroup->unit, unit);
	memcpy(key->text + unit, cgroup->container, container);
	key->bytes = unit + container;
}

/* Return the number of a label. A hash collision is as harmless as it is unlikely. */
static uint32_t label_table_add(struct label_table *table, const struct label_key *key)
{
	uint64_t digest = XXH3_64bits(key->text, key->bytes);
	uint64_t *number = u64_map_find(&table->numbers, digest);
	char *text;

	if (number != NULL)
		return (uint32_t)*number;
	if (table->count == LABEL_TABLE_MAX ||
	    array_reserve(&table->labels, &table->capacity, table->count + 1,
			  sizeof(table->labels[0])) < 0)
		return LABEL_OTHER;
	text = malloc(key->bytes);
	number = text != NULL ? u64_map_insert(&table->numbers, digest) : NULL;
	if (number == NULL) {
		free(text);
		return LABEL_OTHER;
	}
	memcpy(text, key->text, key->bytes);
	table->labels[table->count++] = (struct label){.text = text, .bytes = key->bytes};
	table->bytes += key->bytes;
	*number = table->count;
	return (uint32_t)table->count;
}

uint32_t label_table_number(struct label_table *table, const struct cgroup *cgroup)
{
	struct label_key key;

	if (cgroup->unit[0] == '\0' && cgroup->container[0] == '\0')
		return LABEL_NONE;
	key_make(&key, cgroup);
	return label_table_add(table, &key);
}

struct profile_label label_table_get(const struct label_table *table, uint32_t number)
{
	const struct label *label = &table->labels[number - 1];

	return (struct profile_label){
		.number = number,
		.unit = label->text,
		.container = label->text + strlen(label->text) + 1,
	};
}

size_t label_table_count(const struct label_table *table)
{
	return table->count;
}

size_t label_table_bytes(const struct label_table *table)
{
	return sizeof(*table) + table->capacity * sizeof(table->labels[0]) + table->bytes +
	       u64_map_bytes(&table->numbers);
}

static void labels_free(struct label_table *table)
{
	while (table->count > 0)
		free(table->labels[--table->count].text);
	u64_map_deinit(&table->numbers);
	table->bytes = 0;
}

int label_table_reset(struct label_table *table, struct error *err)
{
	static const struct cgroup other = {.unit = "(other)"};
	struct label_key key;

	labels_free(table);
	key_make(&key, &other);
	label_table_add(table, &key);
	return table->count == LABEL_OTHER ? 0 : error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

int label_table_create(struct label_table **ret, struct error *err)
{
	struct label_table *table = calloc(1, sizeof(*table));
	int rc;

	if (table == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	rc = label_table_reset(table, err);
	if (rc < 0) {
		label_table_destroy(table);
		return rc;
	}
	*ret = table;
	return 0;
}

void label_table_destroy(struct label_table *table)
{
	if (table == NULL)
		return;
	labels_free(table);
	free(table->labels);
	free(table);
}
