// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/open_images.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/image/elf_file.h"
#include "analysis/image/image_code.h"
#include "lib/cleanup.h"
#include "lib/ordered_pool.h"

/*
 * Limit on the bytes of the files that stay open, as a part of the limit on memory: their symbols
 * and code take up to that memory.
 */
#define MEMORY_PART 16
#define BYTES_MAX (UINT64_C(256) << 20)
/* An image and its debug file. */
#define DESCRIPTORS_EACH 2
/* For the database, and for the images that threads open. */
#define DESCRIPTORS_OTHER 64
/* Each may parse a large file at the same time. */
#define THREADS_MAX 4

int open_images_init(struct open_images *images, const struct calc_select *select)
{
	struct rlimit limit = {0};

	*images = (struct open_images){.select = select};
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > DESCRIPTORS_OTHER)
		images->count_max = (limit.rlim_cur - DESCRIPTORS_OTHER) / DESCRIPTORS_EACH;
	images->bytes_max = BYTES_MAX;
	if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur / MEMORY_PART < BYTES_MAX)
		images->bytes_max = limit.rlim_cur / MEMORY_PART;
	images->kept = calloc(select->images->count + 1, sizeof(*images->kept));
	return images->kept != NULL ? 0 : -ENOMEM;
}

void open_images_deinit(struct open_images *images)
{
	for (size_t i = 0; images->kept != NULL && i < images->select->images->count; i++)
		calc_choice_deinit(&images->kept[i]);
	free(images->kept);
	*images = (struct open_images){0};
}

static uint64_t open_images_bytes(const struct calc_choice *choice)
{
	return image_code_file(choice->code)->bytes;
}

void open_images_keep(struct open_images *images, size_t index, struct calc_choice *choice)
{
	uint64_t bytes = open_images_bytes(choice);

	if (images->count >= images->count_max || bytes > images->bytes_max - images->bytes) {
		calc_choice_deinit(choice);
		return;
	}
	images->kept[index] = *choice;
	*choice = (struct calc_choice){0};
	images->count++;
	images->bytes += bytes;
}

static void unkeep(struct open_images *images, size_t index, struct calc_choice *choice)
{
	*choice = images->kept[index];
	images->kept[index] = (struct calc_choice){0};
	images->count--;
	images->bytes -= open_images_bytes(choice);
}

/* struct visit - state of a pass; @indices: @count images to open */
struct visit {
	struct open_images *images;
	const struct open_images_pass *pass;
	size_t *indices;
	size_t count;
};

/* struct opened - result of a thread; @r: as of calc_select_code() */
struct opened {
	struct image_code *code;
	int r;
	struct error err;
};

static bool is_ahead(const struct open_images *images, size_t index)
{
	/* The database, which has the code that is in no file, is read by one thread only. */
	return images->kept[index].code == NULL &&
	       images->select->images->list[index].image.kind == PROFILE_IMAGE_FILE;
}

/* An image of the previous pass stays kept until it is visited; no other thread changes it. */
static int open_ahead(void *context, size_t job, void *result)
{
	const struct visit *visit = context;
	const struct open_images *images = visit->images;
	size_t index = visit->indices[job];
	struct opened *opened = result;

	if (is_ahead(images, index))
		opened->r = calc_select_code(&opened->code, images->select,
					     &images->select->images->list[index], &opened->err);
	return 0;
}

static int visit_opened(void *context, size_t job, void *result)
{
	const struct visit *visit = context;
	const struct open_images_pass *pass = visit->pass;
	struct open_images *images = visit->images;
	size_t index = visit->indices[job];
	_cleanup_(calc_choice_deinit) struct calc_choice choice = {0};
	struct opened *opened = result;
	int r = opened->r;

	if (images->kept[index].code != NULL) {
		unkeep(images, index, &choice);
		return pass->visit(pass->context, index, &choice, 0, &opened->err);
	}
	choice.image = &images->select->images->list[index];
	choice.code = opened->code;
	opened->code = NULL;
	if (r == 0 && choice.code == NULL)
		r = calc_select_code(&choice.code, images->select, choice.image, &opened->err);
	if (r == 0)
		r = calc_select_load(&choice, images->select, NULL, &opened->err);
	return pass->visit(pass->context, index, &choice, r, &opened->err);
}

static void opened_discard(void *context, void *result)
{
	struct opened *opened = result;

	(void)context;
	image_code_close(opened->code);
}

int open_images_visit(struct open_images *images, const struct open_images_pass *pass)
{
	size_t all = images->select->images->count;
	_cleanup_free_ size_t *indices = calloc(all + 1, sizeof(*indices));
	struct visit visit = {.images = images, .pass = pass, .indices = indices};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct ordered_pool pool = {
		.waiting = 2,
		.result_bytes = sizeof(struct opened),
		.run = open_ahead,
		.deliver = visit_opened,
		.discard = opened_discard,
		.ctx = &visit,
	};
	struct error err;
	int r;

	if (indices == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		if (pass->is_wanted(pass->context, i))
			indices[visit.count++] = i;
	}
	/* The list of files that an index depends on is not protected by a lock. */
	if (cpus > 1 && images->select->debug.stamps == NULL)
		pool.threads = cpus < THREADS_MAX ? (unsigned int)cpus : THREADS_MAX;
	pool.jobs = visit.count;
	r = ordered_pool_run(&pool, &err);
	if (r != -EAGAIN)
		return r;
	/* No thread could be started, and nothing was visited. */
	pool.threads = 1;
	return ordered_pool_run(&pool, &err);
}
