// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/import_images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "daemon/image/image_table.h"
#include "daemon/image/kernel_image.h"
#include "daemon/import/import_jit.h"
#include "daemon/import/perfdata_event.h"
#include "daemon/import/perfdata_header.h"
#include "daemon/jit/jit_image.h"
#include "daemon/jit/kernel_code.h"
#include "lib/bounded_reader.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/image_event.h"
#include "loader-hook/perf/side_band_record.h"
#include "loader-hook/perf/thread_count.h"

/* In mappings: of data. In forks: perf found the process in /proc, after its exec. */
#define MISC_MMAP_DATA (1U << 13)
#define MISC_FORK_EXEC (1U << 13)
#define KERNEL_PREFIX "[kernel.kallsyms]"
#define MODULE_NAME_BYTES 64
/* dcpid reads /proc/kallsyms if no event reported a piece; here that may be another kernel's. */
#define NO_KALLSYMS "/dev/null"

/*
 * @here:        map of this machine's kernel
 * @kernel_here: the recording is from this machine and kernel release
 * @names:       of JIT code; NULL: perf maps are not used
 * @executables: maps a pid to the image of the program that it runs
 */
struct import_images {
	const struct perfdata_header *header;
	bool kernel_here;
	struct image_table *table;
	struct image_map *map;
	struct image_map *here;
	struct kernel_images *kernel;
	struct jit_images *jit;
	struct kernel_code *code;
	struct thread_count threads;
	struct import_jit *names;
	struct u64_map executables;
};

static bool is_our_kernel(const struct perfdata_header *header)
{
	struct utsname name;

	return uname(&name) == 0 && strcmp(name.release, header->release) == 0;
}

int import_images_create(struct import_images **ret, const struct perfdata_header *header,
			 bool here, int64_t until_ns, struct error *err)
{
	const struct image_recording recording = {
		.here = here,
		.vdso_here = here && is_our_kernel(header),
		.until_ns = until_ns,
	};
	struct import_images *images = calloc(1, sizeof(*images));
	int r;

	if (images == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	images->header = header;
	images->kernel_here = recording.vdso_here;
	r = image_table_create(&images->table, err);
	if (r == 0)
		r = image_map_create(&images->map, images->table, true, err);
	if (r == 0)
		r = image_map_create(&images->here, images->table, true, err);
	if (r == 0)
		r = kernel_images_create(&images->kernel, images->table, images->here, NULL);
	if (r == 0)
		r = jit_images_create(&images->jit, err);
	if (r == 0)
		r = kernel_code_create(&images->code, images->table, images->jit, NO_KALLSYMS, err);
	if (r < 0) {
		import_images_destroy(images);
		return error_set(err, -r, ERROR_NO_MEMORY);
	}
	image_table_recorded(images->table, &recording);
	*ret = images;
	return 0;
}

void import_images_destroy(struct import_images *images)
{
	if (images == NULL)
		return;
	kernel_code_destroy(images->code);
	import_jit_destroy(images->names);
	jit_images_destroy(images->jit);
	kernel_images_destroy(images->kernel);
	image_map_destroy(images->here);
	image_map_destroy(images->map);
	image_table_destroy(images->table);
	thread_count_deinit(&images->threads);
	u64_map_deinit(&images->executables);
	free(images);
}

int import_images_name_jit(struct import_images *images, const struct import_lives *lives,
			   uint64_t last_ns, int64_t written_ns, struct error *err)
{
	int r = import_jit_create(&images->names, images->table, images->jit, lives, last_ns,
				  written_ns);

	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

/* Use the build-id in the record, otherwise that in the file's list of build-ids. */
static void complete_build_id(const struct import_images *images, struct image_event *event)
{
	const struct build_id *known = NULL;

	if (event->build_id_bytes == 0 && event->path != NULL)
		known = perfdata_header_build_id(images->header, event->path);
	if (known == NULL)
		return;
	memcpy(event->build_id, known->data, known->bytes);
	event->build_id_bytes = known->bytes;
}

/* Extract "nf_tables" from "[nf_tables]", ".../nf_tables.ko.xz", ".../nf-tables.ko". */
static bool module_name(const char *path, char name[MODULE_NAME_BYTES])
{
	const char *from = basename(path);
	const char *end = strstr(from, ".ko");
	size_t n;

	if (path[0] == '[') {
		from = path + 1;
		end = strchr(from, ']');
	}
	if (end == NULL || end == from || (size_t)(end - from) >= MODULE_NAME_BYTES)
		return false;
	n = (size_t)(end - from);
	for (size_t i = 0; i < n; i++)
		name[i] = (char)(from[i] == '-' ? '_' : from[i]);
	name[n] = '\0';
	return true;
}

/*
 * Without a build-id: an image that starts at the same address now is assumed to be the recorded
 * one.
 */
static int kernel_image_here(const struct import_images *images, enum profile_image_kind kind,
			     uint64_t start)
{
	struct image_place place;

	if (!images->kernel_here)
		return -ENOENT;
	place = image_map_lookup(images->here, 0, 0, start);
	if (place.image == IMAGE_UNKNOWN || place.offset != 0 ||
	    image_table_get(images->table, place.image)->kind != kind)
		return -ENOENT;
	return (int)place.image;
}

/*
 * Map the kernel's own text or a module's. Names are the same as in kernel_image.c, so that the
 * same kernel is the same image. For the kernel, the recorded file offset is the address of the
 * symbol at the end of the name, _text, which is the origin of offsets.
 */
static void kernel_map(struct import_images *images, struct image_event *event)
{
	bool is_kernel = strncmp(event->path, KERNEL_PREFIX, strlen(KERNEL_PREFIX)) == 0;
	const char *release = images->header->release;
	char name[MODULE_NAME_BYTES], label[192];
	struct profile_image image = {
		.kind = is_kernel ? PROFILE_IMAGE_KERNEL : PROFILE_IMAGE_MODULE,
		.path = label,
	};
	uint64_t start = event->start, end = event->start + event->bytes;
	int number = -ENOENT;

	if (start >> 63 == 0 || end < start)
		return; /* addresses were hidden from the recording user */
	if (is_kernel) {
		event->path = KERNEL_PREFIX;
		if (event->file_offset >> 63 != 0 && event->file_offset < end)
			start = event->file_offset;
	} else if (!module_name(event->path, name)) {
		return;
	}
	complete_build_id(images, event);
	if (event->build_id_bytes > 0) {
		image.identity_kind = PROFILE_IDENTITY_BUILD_ID;
		image.identity_bytes = event->build_id_bytes;
		memcpy(image.identity, event->build_id, event->build_id_bytes);
	}
	if (is_kernel)
		snprintf(label, sizeof(label), "vmlinux-%s", release);
	else if (event->build_id_bytes > 0)
		snprintf(label, sizeof(label), "%s.ko", name);
	else
		snprintf(label, sizeof(label), "%s.ko-%s", name, release);
	if (event->build_id_bytes == 0)
		number = kernel_image_here(images, image.kind, start);
	if (number < 0)
		number = image_table_add(images->table, &image);
	if (number >= 0)
		image_map_add_kernel(images->map, (uint32_t)number, start, end - start);
}

static uint32_t executable_of(const struct import_images *images, uint32_t pid)
{
	const uint64_t *image = u64_map_find(&images->executables, pid);

	return image != NULL ? (uint32_t)*image : IMAGE_UNKNOWN;
}

static void executable_set(struct import_images *images, uint32_t pid, uint32_t image)
{
	uint64_t *slot;

	if (image == IMAGE_UNKNOWN) {
		u64_map_remove(&images->executables, pid);
		return;
	}
	slot = u64_map_insert(&images->executables, pid);
	if (slot != NULL)
		*slot = image;
}

/* A program's executable is the first file that is mapped, and also the first one in /proc. */
static void executable_mapped(struct import_images *images, const struct image_event *event)
{
	struct image_place place;

	if (executable_of(images, event->pid) != IMAGE_UNKNOWN || image_table_is_memory(event))
		return;
	place = image_map_lookup(images->map, event->pid,
				 image_map_generation(images->map, event->pid, event->time_ns),
				 event->start);
	if (place.image != IMAGE_UNKNOWN &&
	    image_table_get(images->table, place.image)->kind == PROFILE_IMAGE_FILE)
		executable_set(images, event->pid, place.image);
}

static void take_event(struct import_images *images, uint16_t misc, struct image_event *event)
{
	switch (event->type) {
	case IMAGE_EVENT_FORK:
		thread_count_fork(&images->threads, event->pid);
		event->scanned = (misc & MISC_FORK_EXEC) != 0;
		executable_set(images, event->pid,
			       event->scanned ? IMAGE_UNKNOWN
					      : executable_of(images, event->parent));
		break;
	case IMAGE_EVENT_EXEC:
		thread_count_exec(&images->threads, event->pid);
		executable_set(images, event->pid, IMAGE_UNKNOWN);
		break;
	case IMAGE_EVENT_MAP:
		if ((misc & MISC_MMAP_DATA) != 0)
			return;
		complete_build_id(images, event);
		break;
	case IMAGE_EVENT_KERNEL_CODE:
		kernel_code_event(images->code, event);
		return;
	default:
		break;
	}
	image_map_event(images->map, event);
	if (event->type == IMAGE_EVENT_MAP && images->names != NULL)
		executable_mapped(images, event);
}

void import_images_change(struct import_images *images, struct side_band_record *change,
			  uint16_t misc)
{
	switch (change->kind) {
	case SIDE_BAND_EVENT:
		take_event(images, misc, &change->event);
		break;
	case SIDE_BAND_CLONE:
		thread_count_clone(&images->threads, change->event.pid);
		break;
	case SIDE_BAND_EXIT:
		/*
		 * For an unknown process, /proc would be read, which may contain another process.
		 */
		if (thread_count_knows(&images->threads, change->event.pid) &&
		    thread_count_exit(&images->threads, change->event.pid, change->tid))
			image_map_event(images->map, &change->event);
		break;
	case SIDE_BAND_KERNEL:
		kernel_map(images, &change->event);
		break;
	case SIDE_BAND_LOST: /* counted by the survey */
	case SIDE_BAND_OTHER:
		break;
	}
}

struct image_place import_images_place(struct import_images *images,
				       const struct perfdata_sample *sample)
{
	struct image_place place = {.image = IMAGE_UNKNOWN, .unknown = IMAGE_UNKNOWN_KERNEL};
	uint32_t generation;

	if (sample->ip >> 63 != 0) {
		/* perf's mapping of the kernel may be longer than the kernel is. */
		kernel_code_place(images->code, sample->ip, sample->time_ns, &place);
		return place.image != IMAGE_UNKNOWN
			       ? place
			       : image_map_lookup(images->map, sample->pid, 0, sample->ip);
	}
	generation = image_map_generation(images->map, sample->pid, sample->time_ns);
	place = image_map_lookup(images->map, sample->pid, generation, sample->ip);
	if (images->names != NULL && place.image == IMAGE_UNKNOWN &&
	    place.unknown == IMAGE_UNKNOWN_ANONYMOUS)
		import_jit_place(images->names, sample->pid, executable_of(images, sample->pid),
				 sample->ip, sample->time_ns, &place);
	return place;
}

bool import_images_kernel_here(const struct import_images *images)
{
	return images->kernel_here;
}

const char *import_images_command(const struct import_images *images, uint32_t pid)
{
	return pid == 0 ? "swapper" : image_map_command(images->map, pid);
}

void import_images_expire(struct import_images *images, uint64_t time_ns)
{
	image_map_expire(images->map, time_ns);
	kernel_code_expire(images->code, time_ns);
}

struct image_table *import_images_table(struct import_images *images)
{
	return images->table;
}

struct kernel_images *import_images_kernel(struct import_images *images)
{
	return images->kernel;
}

struct jit_images *import_images_jit(struct import_images *images)
{
	return images->jit;
}
