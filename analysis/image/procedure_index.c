// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/procedure_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/image/image_elf.h"
#include "analysis/image/procedure_table_parts.h"
#include "lib/cleanup.h"

/* The last byte is the version. A machine of another byte order reads another number. */
#define MAGIC 0x4443504953594d03ULL
#define BYTES_MAX (1ULL << 30)

/*
 * struct index_header - header of a serialised table
 *
 * The parts of a table are: header, stamps, procedures, segments, aliases, names. A name is given
 * by the offset of its string in the last part, which ends with a 0. The key is the first name, so
 * that 0 can represent a missing version or file.
 */
struct index_header {
	uint64_t magic;
	uint64_t checksum; /* of all bytes after it */
	uint64_t stamps;
	uint64_t procedures;
	uint64_t segments;
	uint64_t aliases; /* names */
	uint64_t name_bytes;
	uint64_t key; /* a name */
};

struct index_stamp {
	uint64_t path; /* a name */
	uint64_t there;
	uint64_t inode;
	uint64_t bytes;
	int64_t modified_ns;
	int64_t changed_ns;
};

struct index_procedure {
	uint64_t offset;
	uint64_t bytes;
	uint64_t address;
	uint64_t alias_first;
	uint64_t alias_count;
	uint32_t name;
	uint32_t version;
	uint32_t file;
	uint16_t source;
	uint16_t inside;
};

struct index_segment {
	uint64_t start;
	uint64_t end;
	uint64_t owner;
};

uint64_t procedure_index_checksum(const void *bytes, size_t count)
{
	return XXH3_64bits(bytes, count);
}

/* Offset at which the checksummed bytes begin. */
#define SUMMED (offsetof(struct index_header, checksum) + sizeof(uint64_t))

static uint64_t whole_size(const struct index_header *header)
{
	return sizeof(*header) + header->stamps * sizeof(struct index_stamp) +
	       header->procedures * sizeof(struct index_procedure) +
	       header->segments * sizeof(struct index_segment) +
	       header->aliases * sizeof(uint64_t) + header->name_bytes;
}

/* struct parts - the parts of a table in memory */
struct parts {
	struct index_header *header;
	struct index_stamp *stamps;
	struct index_procedure *procedures;
	struct index_segment *segments;
	uint64_t *aliases;
	char *names;
};

static struct parts parts_of(void *memory)
{
	struct parts parts = {.header = memory};

	parts.stamps = (struct index_stamp *)(parts.header + 1);
	parts.procedures = (struct index_procedure *)(parts.stamps + parts.header->stamps);
	parts.segments = (struct index_segment *)(parts.procedures + parts.header->procedures);
	parts.aliases = (uint64_t *)(parts.segments + parts.header->segments);
	parts.names = (char *)(parts.aliases + parts.header->aliases);
	return parts;
}

static size_t name_bytes(const char *name)
{
	return name != NULL ? strlen(name) + 1 : 0;
}

/* Append a name. Return: its offset; 0 if @name is NULL. */
static uint64_t put_name(const struct parts *parts, uint64_t *end, const char *name)
{
	uint64_t place = *end;
	size_t bytes = name_bytes(name);

	if (name == NULL)
		return 0;
	memcpy(parts->names + place, name, bytes);
	*end += bytes;
	return place;
}

static void procedure_index_fill(const struct parts *parts, const struct procedure_table *table,
				 const struct file_stamps *stamps, const char *key)
{
	uint64_t end = 0;

	parts->header->key = put_name(parts, &end, key);
	for (size_t i = 0; i < stamps->count; i++) {
		const struct file_state *state = &stamps->list[i].state;

		parts->stamps[i] = (struct index_stamp){
			.path = put_name(parts, &end, stamps->list[i].path),
			.there = state->there,
			.inode = state->inode,
			.bytes = state->bytes,
			.modified_ns = state->modified_ns,
			.changed_ns = state->changed_ns,
		};
	}
	for (size_t i = 0; i < table->count; i++) {
		const struct procedure *procedure = &table->procedures[i];

		parts->procedures[i] = (struct index_procedure){
			.offset = procedure->offset,
			.bytes = procedure->bytes,
			.address = procedure->address,
			.alias_first = procedure->alias_first,
			.alias_count = procedure->alias_count,
			.name = (uint32_t)put_name(parts, &end, procedure->name),
			.version = (uint32_t)put_name(parts, &end, procedure->version),
			.file = (uint32_t)put_name(parts, &end, procedure->file),
			.source = (uint16_t)procedure->source,
			.inside = procedure->inside,
		};
	}
	for (size_t i = 0; i < table->alias_count; i++)
		parts->aliases[i] = put_name(parts, &end, table->aliases[i]);
	for (size_t i = 0; i < table->segments.count; i++) {
		const struct procedure_segment *segment = &table->segments.segments[i];

		parts->segments[i] =
			(struct index_segment){segment->start, segment->end, segment->owner};
	}
}

int procedure_index_make(const struct procedure_table *table, const struct file_stamps *stamps,
			 const char *key, void **ret, size_t *bytes)
{
	struct index_header header = {
		.magic = MAGIC,
		.stamps = stamps->count,
		.procedures = table->count,
		.segments = table->segments.count,
		.aliases = table->alias_count,
		.name_bytes = strlen(key) + 1,
	};
	struct parts parts;

	for (size_t i = 0; i < stamps->count; i++)
		header.name_bytes += strlen(stamps->list[i].path) + 1;
	for (size_t i = 0; i < table->count; i++)
		header.name_bytes += name_bytes(table->procedures[i].name) +
				     name_bytes(table->procedures[i].version) +
				     name_bytes(table->procedures[i].file);
	for (size_t i = 0; i < table->alias_count; i++)
		header.name_bytes += name_bytes(table->aliases[i]);
	*bytes = whole_size(&header);
	if (*bytes > BYTES_MAX)
		return -E2BIG;
	*ret = calloc(1, *bytes);
	if (*ret == NULL)
		return -ENOMEM;
	memcpy(*ret, &header, sizeof(header));
	parts = parts_of(*ret);
	procedure_index_fill(&parts, table, stamps, key);
	parts.header->checksum =
		procedure_index_checksum((const char *)*ret + SUMMED, *bytes - SUMMED);
	return 0;
}

/* Return true if the parts fill the memory exactly and the checksum matches. */
static bool is_whole(const void *memory, size_t bytes)
{
	struct index_header header;

	if (bytes < sizeof(header) || bytes > BYTES_MAX)
		return false;
	memcpy(&header, memory, sizeof(header));
	/* No product overflows, because no number is greater than the number of bytes. */
	if (header.magic != MAGIC || header.stamps > bytes || header.procedures > bytes ||
	    header.segments > bytes || header.aliases > bytes || header.name_bytes > bytes ||
	    header.name_bytes == 0 || whole_size(&header) != bytes ||
	    ((const char *)memory)[bytes - 1] != '\0')
		return false;
	return header.checksum ==
	       procedure_index_checksum((const char *)memory + SUMMED, bytes - SUMMED);
}

static bool is_current(const struct parts *parts, const char *key, bool *damaged)
{
	*damaged = parts->header->key >= parts->header->name_bytes;
	if (*damaged || strcmp(parts->names + parts->header->key, key) != 0)
		return false;
	for (uint64_t i = 0; i < parts->header->stamps; i++) {
		const struct index_stamp *stamp = &parts->stamps[i];
		struct file_state now, then = {
					       .there = stamp->there != 0,
					       .inode = stamp->inode,
					       .bytes = stamp->bytes,
					       .modified_ns = stamp->modified_ns,
					       .changed_ns = stamp->changed_ns,
				       };

		*damaged = stamp->path >= parts->header->name_bytes;
		if (*damaged)
			return false;
		now = file_state_get(parts->names + stamp->path);
		if (!file_state_equal(&now, &then))
			return false;
	}
	return true;
}

static const char *optional_name(const struct parts *parts, uint32_t name)
{
	return name != 0 ? parts->names + name : NULL;
}

static int read_aliases(struct procedure_table *table, const struct parts *parts)
{
	uint64_t count = parts->header->aliases;

	table->aliases = calloc(count + 1, sizeof(*table->aliases));
	if (table->aliases == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		if (parts->aliases[i] >= parts->header->name_bytes)
			return -EBADMSG;
		table->aliases[i] = parts->names + parts->aliases[i];
	}
	table->alias_count = count;
	return 0;
}

static int read_procedures(struct procedure_table *table, const struct parts *parts)
{
	table->procedures = calloc(parts->header->procedures + 1, sizeof(*table->procedures));
	if (table->procedures == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < parts->header->procedures; i++) {
		const struct index_procedure *procedure = &parts->procedures[i];

		if (procedure->name >= parts->header->name_bytes ||
		    procedure->version >= parts->header->name_bytes ||
		    procedure->file >= parts->header->name_bytes ||
		    procedure->alias_first > parts->header->aliases ||
		    procedure->alias_count > parts->header->aliases - procedure->alias_first ||
		    procedure->source > PROCEDURE_SECTION ||
		    procedure->bytes > UINT64_MAX - procedure->offset ||
		    (i > 0 && procedure->offset < parts->procedures[i - 1].offset))
			return -EBADMSG;
		table->procedures[i] = (struct procedure){
			.offset = procedure->offset,
			.bytes = procedure->bytes,
			.address = procedure->address,
			.name = parts->names + procedure->name,
			.version = optional_name(parts, procedure->version),
			.file = optional_name(parts, procedure->file),
			.alias_first = procedure->alias_first,
			.alias_count = procedure->alias_count,
			.source = (enum procedure_source)procedure->source,
			.inside = procedure->inside != 0,
		};
	}
	table->count = parts->header->procedures;
	return 0;
}

static int procedure_index_read_segments(struct procedure_table *table, const struct parts *parts)
{
	struct procedure_segments *list = &table->segments;
	uint64_t end = 0;

	list->segments = calloc(parts->header->segments + 1, sizeof(*list->segments));
	if (list->segments == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < parts->header->segments; i++) {
		const struct index_segment *segment = &parts->segments[i];

		if (segment->start < end || segment->end <= segment->start ||
		    segment->owner >= table->count)
			return -EBADMSG;
		list->segments[i] = (struct procedure_segment){segment->start, segment->end,
							       (uint32_t)segment->owner};
		end = segment->end;
	}
	list->count = list->capacity = parts->header->segments;
	return 0;
}

int procedure_index_open(struct procedure_table **ret, void *memory, size_t bytes, const char *key)
{
	_cleanup_free_ void *owned = memory;
	struct procedure_table *table;
	struct parts parts;
	bool damaged;
	int r;

	if (!is_whole(memory, bytes))
		return -EBADMSG;
	parts = parts_of(memory);
	if (!is_current(&parts, key, &damaged))
		return damaged ? -EBADMSG : -ESTALE;
	table = calloc(1, sizeof(*table));
	if (table == NULL)
		return -ENOMEM;
	table->index = take_ptr(owned);
	r = read_procedures(table, &parts);
	if (r == 0)
		r = procedure_index_read_segments(table, &parts);
	if (r == 0)
		r = read_aliases(table, &parts);
	if (r < 0)
		procedure_table_destroy(table);
	else
		*ret = table;
	return r;
}
