// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/mode_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/bursts_recording.h"
#include "instrument/calls/call_recording.h"
#include "instrument/calls/call_thread.h"
#include "instrument/counts/counts_store.h"
#include "instrument/paths/paths_listing.h"
#include "instrument/paths/paths_recording.h"
#include "instrument/profile/recording_builder.h"
#include "instrument/variation/variation_listing.h"
#include "instrument/variation/variation_mode.h"
#include "instrument/variation/variation_recording.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Arguments of a mode's function. It frees everything that it allocates. */
struct job {
	struct epoch_store *epoch;
	char *const *files;
	size_t count;
	char **path;
	struct error *err;
};

static int no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

/* Set the path and the time range of the epoch, and open it. To be called when the map is known. */
static int open_epoch(const struct job *job, const char *path, const char *build_id)
{
	int r = 0;

	*job->path = strdup(path);
	if (*job->path == NULL)
		return no_memory(job->err);
	for (size_t i = 0; r == 0 && i < job->count; i++)
		r = epoch_store_file(job->epoch, job->files[i], job->err);
	return r == 0 ? epoch_store_open(job->epoch, *job->path, build_id, job->err) : r;
}

static bool offset_of(const void *context, uint64_t address, uint64_t *offset)
{
	return epoch_store_offset(context, address, offset);
}

static int write_recording(void *context, struct profile_writer *writer, int64_t image,
			   struct error *err)
{
	return profile_writer_recording(writer, image, context, err);
}

static int store_recording(const struct job *job, struct recording_builder *builder,
			   enum profile_recording_mode mode, const char *metric)
{
	struct profile_recording recording;
	int r = recording_builder_end(builder, &recording);

	if (r < 0)
		return no_memory(job->err);
	recording.mode = mode;
	recording.metric = metric;
	r = epoch_store_write(job->epoch, write_recording, &recording, job->err);
	return r < 0 ? r : 1;
}

/* --- counts --------------------------------------------------------------- */

static int store_counts(const struct job *job)
{
	struct counts_profile profile = {0};
	struct counts_map map = {0};
	int r = counts_map_read(&map, job->epoch->rewritten, job->err);

	for (size_t i = 0; r == 0 && i < job->count; i++)
		r = counts_profile_add(&profile, &map, job->files[i], job->err);
	if (r == 0)
		r = open_epoch(job, map.path, map.build_id);
	if (r == 0)
		r = counts_store(job->epoch, &map, &profile, job->err);
	job->epoch->shared = profile.shared;
	counts_profile_deinit(&profile);
	counts_map_deinit(&map);
	return r;
}

/* --- paths ---------------------------------------------------------------- */

static int store_listing(const struct job *job, const struct paths_map *map,
			 const struct paths_profile *profile)
{
	struct recording_builder builder = {0};
	struct paths_listing listing;
	int r = paths_listing_make(&listing, map, profile, 0);

	if (r < 0)
		return error_set(job->err, -r,
				 r == -ENOMEM ? ERROR_NO_MEMORY : "damaged path graphs");
	if (listing.path_count > 0) {
		paths_recording_make(&builder, &listing, offset_of, job->epoch);
		r = store_recording(job, &builder, PROFILE_RECORDING_PATHS, map->metric);
	}
	recording_builder_deinit(&builder);
	paths_listing_deinit(&listing);
	return r;
}

static int store_paths(const struct job *job)
{
	struct paths_profile profile = {0};
	struct paths_map map = {0};
	int r = paths_map_read(&map, job->epoch->rewritten, PATHS_MAP_SECTION, job->err);

	for (size_t i = 0; r == 0 && i < job->count; i++)
		r = paths_profile_add(&profile, &map, job->files[i], job->err);
	if (r == 0 && paths_profile_end(&profile, &map) < 0)
		r = no_memory(job->err);
	if (r == 0)
		r = open_epoch(job, map.path, map.build_id);
	if (r == 0)
		r = store_listing(job, &map, &profile);
	job->epoch->shared = profile.shared;
	paths_profile_deinit(&profile);
	paths_map_deinit(&map);
	return r;
}

/* --- calls, contexts ------------------------------------------------------ */

/* Either @profile or @tree is filled. */
struct calls {
	struct call_map map;
	struct call_profile profile;
	struct context_tree tree;
};

static int take_thread(void *context, const struct call_thread *thread)
{
	struct calls *calls = context;

	return calls->map.policy == CALL_POLICY_CONTEXT
		       ? context_tree_add(&calls->tree, &calls->map, thread)
		       : call_profile_add(&calls->profile, thread);
}

static int read_calls(const struct job *job, struct calls *calls)
{
	uint32_t procedures;
	int r = call_map_read(&calls->map, job->epoch->rewritten, job->err);

	if (r < 0)
		return r;
	procedures = (uint32_t)calls->map.procedure_count;
	if (call_profile_init(&calls->profile, procedures) < 0 ||
	    context_tree_init(&calls->tree, procedures) < 0)
		return no_memory(job->err);
	for (size_t i = 0; r == 0 && i < job->count; i++) {
		uint64_t shared = 0;

		r = call_map_visit(&calls->map, job->files[i], take_thread, calls, &shared,
				   job->err);
		calls->profile.shared += shared;
		calls->tree.shared += shared;
		job->epoch->shared += shared;
	}
	return r == 0 ? open_epoch(job, calls->map.path, calls->map.build_id) : r;
}

static int store_calls(const struct job *job)
{
	struct recording_builder builder = {0};
	struct calls calls = {.map = {.image = 0}};
	int r = read_calls(job, &calls);

	if (r == 0 && calls.map.policy == CALL_POLICY_CONTEXT && calls.tree.count > 1) {
		job->epoch->what = "contexts";
		call_recording_make_tree(&builder, &calls.map, &calls.tree, job->count, offset_of,
					 job->epoch);
		r = store_recording(job, &builder, PROFILE_RECORDING_CONTEXT,
				    call_recording_metric(calls.map.metric));
	} else if (r == 0 && calls.profile.contexts > 0) {
		call_recording_make(&builder, &calls.map, &calls.profile, job->count, offset_of,
				    job->epoch);
		r = store_recording(job, &builder, PROFILE_RECORDING_CALLS,
				    call_recording_metric(calls.map.metric));
	}
	recording_builder_deinit(&builder);
	call_profile_deinit(&calls.profile);
	context_tree_deinit(&calls.tree);
	call_map_deinit(&calls.map);
	return r;
}

/* --- bursts --------------------------------------------------------------- */

static int store_bursts(const struct job *job)
{
	struct recording_builder builder = {0};
	struct bursts_profile profile = {0};
	struct bursts_map map = {0};
	int r = bursts_map_read(&map, job->epoch->rewritten, job->err);

	for (size_t i = 0; r == 0 && i < job->count; i++)
		r = bursts_profile_add(&profile, &map, job->files[i], job->err);
	if (r == 0)
		r = open_epoch(job, map.path, map.build_id);
	if (r == 0 && profile.count > 0) {
		bursts_recording_make(&builder, &map, &profile, job->count, offset_of, job->epoch);
		r = store_recording(job, &builder, PROFILE_RECORDING_BURSTS, "");
	}
	job->epoch->shared = profile.shared;
	recording_builder_deinit(&builder);
	bursts_profile_deinit(&profile);
	bursts_map_deinit(&map);
	return r;
}

/* --- variation ------------------------------------------------------------ */

static int store_times(const struct job *job, const struct paths_map *map,
		       const struct variation_profile *profile)
{
	struct recording_builder builder = {0};
	struct variation_listing listing;
	int r = variation_listing_make(&listing, map, profile, true);

	if (r < 0)
		return error_set(job->err, -r,
				 r == -ENOMEM ? ERROR_NO_MEMORY : "damaged path graphs");
	variation_recording_make(&builder, &listing, offset_of, job->epoch);
	r = store_recording(job, &builder, PROFILE_RECORDING_VARIATION, map->metric);
	recording_builder_deinit(&builder);
	variation_listing_deinit(&listing);
	return r;
}

static int store_variation(const struct job *job)
{
	struct variation_profile profile = {0};
	struct paths_map map = {0};
	int r = paths_map_read(&map, job->epoch->rewritten, VARIATION_MAP_SECTION, job->err);

	for (size_t i = 0; r == 0 && i < job->count; i++)
		r = variation_profile_add(&profile, &map, job->files[i], job->err);
	if (r == 0)
		r = open_epoch(job, map.path, map.build_id);
	if (r == 0 && profile.count > 0)
		r = store_times(job, &map, &profile);
	job->epoch->shared = profile.shared;
	variation_profile_deinit(&profile);
	paths_map_deinit(&map);
	return r;
}

/* --- all modes ------------------------------------------------------------ */

static const struct {
	const char *section;
	const char *what;
	int (*store)(const struct job *job);
} stores[] = {
	{COUNTS_MAP_SECTION, "counts", store_counts},
	{PATHS_MAP_SECTION, "paths", store_paths},
	{CALL_MAP_SECTION, "calls", store_calls},
	{BURSTS_MAP_SECTION, "bursts", store_bursts},
	{VARIATION_MAP_SECTION, "variation", store_variation},
};

static bool has_section(const struct elf_file *file, const char *section)
{
	uint64_t address;

	return elf_file_contents(file, section, &address) != NULL;
}

static int store_of(const struct elf_file *file, size_t *ret, const char *path, struct error *err)
{
	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		*ret = i;
		if (has_section(file, stores[i].section))
			return 0;
	}
	return error_set(err, ENODATA, "'%s' was not rewritten by dcpix", path);
}

int mode_store(struct epoch_store *epoch, char *const *files, size_t count, char **path,
	       struct error *err)
{
	const struct job job = {epoch, files, count, path, err};
	struct elf_file file;
	size_t index = 0;
	int r = elf_file_open(&file, epoch->rewritten, err);

	*path = NULL;
	if (r < 0)
		return r;
	r = store_of(&file, &index, epoch->rewritten, err);
	elf_file_close(&file);
	epoch->what = stores[index].what;
	return r < 0 ? r : stores[index].store(&job);
}
