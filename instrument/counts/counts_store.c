// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/counts/counts_store.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/elf_file.h"
#include "db/profile_write.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/file_digest.h"
#include "lib/host.h"

/* Counts of a kind, on their way. */
struct count_list {
	struct profile_edge *list;
	size_t count;
	size_t capacity;
};

struct store {
	const struct counts_map *map;
	const struct counts_profile *profile;
	struct elf_file file; /* the rewritten one: what was there before has not moved */
	size_t segments;
	struct count_list lists[PROFILE_COUNT_KINDS];
	struct count_list nodes; /* of a procedure: all it has, whether executed or not */
};

CLEANUP_DEFINE(profile_writer, struct profile_writer *, profile_writer_close)

static void store_deinit(struct store *store)
{
	for (unsigned int i = 0; i < PROFILE_COUNT_KINDS; i++)
		free(store->lists[i].list);
	free(store->nodes.list);
	elf_file_close(&store->file);
}

/* Return: false: it is in no segment. */
static bool offset_of(const struct store *store, uint64_t address, uint64_t *offset)
{
	GElf_Phdr segment;

	for (size_t i = 0; i < store->segments; i++) {
		if (gelf_getphdr(store->file.elf, (int)i, &segment) == NULL ||
		    segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = address - segment.p_vaddr + segment.p_offset;
		return *offset <= PROFILE_EDGE_OFFSET_MAX;
	}
	return false;
}

static int add(struct count_list *list, uint64_t from, uint64_t to, uint64_t count)
{
	if (array_reserve(&list->list, &list->capacity, list->count + 1, sizeof(*list->list)) < 0)
		return -ENOMEM;
	list->list[list->count++] = (struct profile_edge){from, to, count};
	return 0;
}

static int by_ends(const void *a, const void *b)
{
	return profile_edge_compare(a, b);
}

/* In order, what is in it twice added up: procedures may share code, each with a copy. */
static void settle(struct count_list *list)
{
	size_t kept = 0;

	if (list->count > 0)
		qsort(list->list, list->count, sizeof(*list->list), by_ends);
	for (size_t i = 0; i < list->count; i++) {
		if (kept > 0 && by_ends(&list->list[kept - 1], &list->list[i]) == 0)
			list->list[kept - 1].count += list->list[i].count;
		else
			list->list[kept++] = list->list[i];
	}
	list->count = kept;
}

static int add_node(struct store *store, const struct counts_node *node, uint64_t count)
{
	uint64_t from;
	int r;

	if (node->bytes == 0 || !offset_of(store, node->address, &from) ||
	    node->bytes > PROFILE_EDGE_OFFSET_MAX - from)
		return 0;
	r = add(&store->nodes, from, from + node->bytes, 1);
	if (r == 0 && count > 0)
		r = add(&store->lists[PROFILE_COUNT_RUN], from, from + node->bytes, count);
	return r;
}

static int add_edge(struct store *store, const struct counts_edge *edge, uint64_t count)
{
	uint64_t from, to;

	if (count == 0 || edge->source == 0 || edge->target == 0 ||
	    !offset_of(store, edge->source, &from) || !offset_of(store, edge->target, &to))
		return 0;
	return add(&store->lists[PROFILE_COUNT_EDGE], from, to, count);
}

/* What lies side by side is one range, which procedures that share it have in common. */
static int add_watched(struct store *store)
{
	struct count_list *watched = &store->lists[PROFILE_COUNT_WATCHED];
	struct count_list *nodes = &store->nodes;
	int r = 0;

	settle(nodes);
	for (size_t i = 0; r == 0 && i < nodes->count;) {
		struct profile_edge range = nodes->list[i];

		while (++i < nodes->count && nodes->list[i].from <= range.to) {
			if (nodes->list[i].to > range.to)
				range.to = nodes->list[i].to;
		}
		r = add(watched, range.from, range.to, store->profile->files);
	}
	return r;
}

static int add_procedure(struct store *store, const struct counts_procedure *procedure,
			 uint64_t *nodes, uint64_t *edges)
{
	const struct counts_map *map = store->map;
	int r = counts_map_solve(map, procedure, store->profile->counters, nodes, edges);

	store->nodes.count = 0;
	for (uint32_t n = 0; r == 0 && n < procedure->node_count; n++)
		r = add_node(store, &map->nodes[procedure->first_node + n], nodes[n]);
	for (uint32_t e = 0; r == 0 && e < procedure->edge_count; e++)
		r = add_edge(store, &map->edges[procedure->first_edge + e], edges[e]);
	return r == 0 ? add_watched(store) : r;
}

/* Procedures may share what was watched: that is no reason to have watched it twice. */
static void unite_watched(struct store *store)
{
	struct count_list *watched = &store->lists[PROFILE_COUNT_WATCHED];

	settle(watched);
	for (size_t i = 0; i < watched->count; i++)
		watched->list[i].count = store->profile->files;
}

/* Return: 1; 0 nothing was counted; or an error. */
static int gather(struct store *store, struct error *err)
{
	const struct counts_map *map = store->map;
	_cleanup_free_ uint64_t *nodes = calloc(map->node_count + 1, sizeof(*nodes));
	_cleanup_free_ uint64_t *edges = calloc(map->edge_count + 1, sizeof(*edges));
	int r = nodes != NULL && edges != NULL ? 0 : -ENOMEM;

	for (size_t p = 0; r == 0 && p < map->procedure_count; p++)
		r = add_procedure(store, &map->procedures[p], nodes, edges);
	if (r < 0)
		return error_set(err, -r,
				 r == -ENOMEM ? "no memory for counts"
					      : "damaged description of counters");
	settle(&store->lists[PROFILE_COUNT_RUN]);
	settle(&store->lists[PROFILE_COUNT_EDGE]);
	unite_watched(store);
	return store->lists[PROFILE_COUNT_RUN].count > 0;
}

/* --- the image ------------------------------------------------------------ */

static bool parse_build_id(struct profile_image *image, const char *text)
{
	size_t bytes = strlen(text) / 2;

	if (bytes == 0 || bytes > sizeof(image->identity))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		unsigned int byte;

		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		image->identity[i] = (uint8_t)byte;
	}
	image->identity_kind = PROFILE_IDENTITY_BUILD_ID;
	image->identity_bytes = bytes;
	return true;
}

/* The original must still be there, and as it was. */
static int take_digest(struct profile_image *image, const char *rewritten, struct error *err)
{
	_cleanup_close_ int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status, since;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0 || stat(rewritten, &since) < 0)
		return error_set_errno(err, "cannot open %s, which has no build-id", image->path);
	if (!S_ISREG(status.st_mode) || status.st_mtime > since.st_mtime)
		return error_set(err, ESTALE,
				 "%s has no build-id, and has changed since it was rewritten",
				 image->path);
	r = file_digest(image->identity, fd, (uint64_t)status.st_size);
	image->identity_kind = PROFILE_IDENTITY_DIGEST;
	image->identity_bytes = FILE_DIGEST_BYTES;
	return r < 0 ? error_set(err, -r, "cannot read %s", image->path) : 0;
}

/* --- the epoch ------------------------------------------------------------ */

static int write_lists(struct store *store, struct profile_writer *writer,
		       const struct profile_image *image, struct error *err)
{
	int64_t id = 0, end_ns = store->profile->last_ns;
	int r = profile_writer_begin(writer, err);

	if (r == 0)
		r = profile_writer_image(writer, image, &id, err);
	for (unsigned int i = 0; r == 0 && i < PROFILE_COUNT_KINDS; i++)
		r = profile_writer_counts(writer, id, (enum profile_count_kind)i,
					  store->lists[i].list, store->lists[i].count, err);
	if (r == 0)
		r = profile_writer_totals(writer, end_ns, 0, NULL, 0, err);
	if (r == 0)
		r = profile_writer_commit(writer, err);
	return r == 0 ? profile_writer_epoch_end(writer, end_ns, err) : r;
}

static int write_epoch(struct store *store, struct counts_store_epoch *target,
		       const struct profile_image *image, struct error *err)
{
	_cleanup_(cleanup_profile_writer) struct profile_writer *writer = NULL;
	_cleanup_free_ char *reason = NULL;
	struct profile_epoch epoch = {
		.start_ns = store->profile->first_ns,
		.source = "dcpix",
		.label = target->label != NULL ? target->label : "",
	};
	struct host host;
	int r = profile_writer_open(&writer, target->database, err);

	if (r < 0)
		return r;
	if (asprintf(&reason, "counted by %zu process%s of %s", store->profile->files,
		     store->profile->files == 1 ? "" : "es", target->rewritten) < 0)
		return error_set(err, ENOMEM, "out of memory");
	host_describe(&host);
	epoch.host = host.name;
	epoch.machine_id = host.machine_id;
	epoch.cpu_model = host.cpu_model;
	epoch.cpus = host.cpus;
	epoch.kernel = host.kernel;
	epoch.source_reason = reason;
	r = profile_writer_epoch_begin(writer, &epoch, NULL, 0, err);
	if (r == 0) {
		target->id = profile_writer_epoch_id(writer);
		r = write_lists(store, writer, image, err);
	}
	return r < 0 ? r : 1;
}

int counts_store(struct counts_store_epoch *epoch, const struct counts_map *map,
		 const struct counts_profile *profile, struct error *err)
{
	_cleanup_(store_deinit) struct store store = {
		.map = map, .profile = profile, .file = {.fd = -1}};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = map->path};
	int r = elf_file_open(&store.file, epoch->rewritten, err);

	if (r < 0)
		return r;
	if (elf_getphdrnum(store.file.elf, &store.segments) != 0)
		return error_set(err, EBADMSG, "%s is damaged", epoch->rewritten);
	if (!parse_build_id(&image, map->build_id))
		r = take_digest(&image, epoch->rewritten, err);
	if (r == 0)
		r = gather(&store, err);
	if (r > 0)
		r = write_epoch(&store, epoch, &image, err);
	return r;
}
