// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_program.h"

#include <stdlib.h>
#include <xxhash.h>

#include "daemon/image/image_map.h"
#include "daemon/jit/jit_image.h"
#include "daemon/jit/jit_memory.h"
#include "daemon/jit/jit_parser.h"
#include "daemon/jit/jit_reading.h"
#include "daemon/jit/jit_shape.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"

#define PIECE_BYTES_MAX (1U << 30)
#define DUMP_RECORD_COST 256
/* Only the last part of a map is stored at first: more would not fit into memory. */
#define MAP_TAIL_BYTES (JIT_BYTES_MAX / 4)
#define SEARCH_PAUSE_MAX 4096
/* Maximum number of bytes searched per drain: 0.1 s. */
#define SEARCH_BYTES ((size_t)64 << 20)

/*
 * State while a program's files are read.
 * @grown: out: the map has grown, or was rewritten
 * @found: out: the search found a name
 */
struct visit {
	struct jit_reading *reading;
	struct jit_program *program;
	uint64_t since_ns;
	bool grown;
	bool found;
};

void jit_program_init(struct jit_program *program, uint64_t since_ns)
{
	program->files[JIT_PROGRAM_MAP].fd = -1;
	program->files[JIT_PROGRAM_DUMP].fd = -1;
	program->caught_ns = program->begun_ns = since_ns;
	program->keep_ns = UINT64_MAX;
}

/* Return the time before which no sample is looked up, in the program itself or in its children. */
static uint64_t window(const struct jit_program *program, const struct jit_reading *reading)
{
	return program->keep_ns < reading->window_ns ? program->keep_ns : reading->window_ns;
}

/* Must be called whenever the memory of the code or of the maps may have changed. */
static void account(struct jit_program *program, struct jit_reading *reading)
{
	struct jit_user *user = jit_reading_user(reading, program->user);
	size_t bytes = jit_codes_bytes(&program->codes) + jit_map_bytes(&program->map) +
		       jit_map_bytes(&program->search);

	if (user == NULL)
		return;
	user->bytes += bytes - program->bytes;
	reading->bytes += bytes - program->bytes;
	program->bytes = bytes;
}

static void file_close(struct jit_file *file, struct jit_reading *reading)
{
	reading->files -= file->fd >= 0;
	jit_file_close(file);
}

void jit_program_deinit(struct jit_program *program, struct jit_reading *reading)
{
	jit_codes_deinit(&program->codes);
	jit_map_deinit(&program->map);
	jit_map_deinit(&program->search);
	if (program->bytes > 0)
		account(program, reading);
	file_close(&program->files[JIT_PROGRAM_MAP], reading);
	file_close(&program->files[JIT_PROGRAM_DUMP], reading);
	*program = (struct jit_program){0};
	jit_program_init(program, 0);
}

bool jit_program_has_files(const struct jit_program *program)
{
	return program->files[JIT_PROGRAM_MAP].fd >= 0 || program->files[JIT_PROGRAM_DUMP].fd >= 0;
}

bool jit_program_lacks(const struct jit_program *program)
{
	return program->codes.evicted > 0 && !program->behind;
}

bool jit_program_is_empty(const struct jit_program *program)
{
	return jit_codes_count(&program->codes) == 0 && program->codes.evicted == 0;
}

/* Remove code that was listed in a previous jitdump. */
static void dump_forget(struct jit_program *program, struct jit_reading *reading)
{
	jit_codes_settle(&program->codes, window(program, reading));
	jit_codes_purge(&program->codes, JIT_PROGRAM_DUMP, 1, program->caught_ns, reading->now_ns,
			window(program, reading));
	program->dump = (struct jit_dump){0};
	program->dump_ended = false;
	account(program, reading);
}

/* Pieces that the new content does not list are dropped when its end has been read. */
static void map_begin_again(struct jit_program *program)
{
	jit_map_deinit(&program->map);
	program->pass++;
	program->rereading = true;
	program->searching = false;
	program->search_at = program->search_pause = 0;
}

bool jit_program_set_file(struct jit_program *program, enum jit_program_file which,
			  const struct jit_file *file, struct jit_reading *reading)
{
	struct jit_file *known = &program->files[which], same = *file;
	bool is_same = jit_file_same(file, known), is_first = known->inode == 0;

	if ((is_same && known->fd >= 0) || program->given_up) {
		jit_file_close(&same);
		return false;
	}
	file_close(known, reading);
	*known = *file;
	reading->files++;
	program->user = file->user;
	if (is_same || is_first)
		return !is_same;
	if (which == JIT_PROGRAM_DUMP)
		dump_forget(program, reading);
	else
		map_begin_again(program);
	return true;
}

void jit_program_follow(struct jit_program *program, struct jit_program *from)
{
	if (!jit_file_same(&program->files[JIT_PROGRAM_MAP], &from->files[JIT_PROGRAM_MAP]))
		return;
	program->map = from->map;
	from->map = (struct jit_map){0};
}

/* Close a file but keep its identity, so that reading can continue when it is opened again. */
static void file_park(struct jit_file *file, struct jit_reading *reading)
{
	struct jit_file known = *file;

	file_close(file, reading);
	file->user = known.user;
	file->device = known.device;
	file->inode = known.inode;
}

void jit_program_park(struct jit_program *program, struct jit_reading *reading)
{
	file_park(&program->files[JIT_PROGRAM_MAP], reading);
	file_park(&program->files[JIT_PROGRAM_DUMP], reading);
	program->behind = true;
}

void jit_program_postpone(struct jit_program *program)
{
	program->behind |= jit_program_has_files(program);
}

void jit_program_close(struct jit_program *program, struct jit_reading *reading)
{
	file_park(&program->files[JIT_PROGRAM_MAP], reading);
	file_park(&program->files[JIT_PROGRAM_DUMP], reading);
}

static void piece_add(struct visit *visit, const struct jit_code *code)
{
	struct jit_reading *reading = visit->reading;

	if (jit_codes_add(&visit->program->codes, code) < 0)
		reading->evicted++;
	account(visit->program, reading);
	if (reading->bytes > reading->bytes_max)
		reading->room(reading->context);
}

static struct jit_code code_of_line(const struct jit_program *program,
				    const struct jit_map_line *line)
{
	return (struct jit_code){
		.start = line->start,
		.bytes = (uint32_t)line->bytes,
		.name_hash = XXH3_64bits(line->name, line->name_bytes),
		.name = (char *)(uintptr_t)line->name,
		.name_bytes = (uint16_t)line->name_bytes,
		.file = JIT_PROGRAM_MAP,
		.pass = program->pass,
	};
}

static bool is_wanted(const struct jit_program *program, const struct jit_map_line *line)
{
	for (size_t i = 0; i < program->wanted_count; i++) {
		if (program->wanted[i] - line->start < line->bytes)
			return true;
	}
	return false;
}

/* A line that is new since the map was last read completely was written after that. */
static void line_take(void *context, const struct jit_map_line *line)
{
	struct visit *visit = context;
	struct jit_program *program = visit->program;
	struct jit_code code;

	if (line->bytes > PIECE_BYTES_MAX)
		return;
	/* A piece that replaces others is added, so that they do not keep its addresses. */
	if (program->map.file_bytes > line->name_at + MAP_TAIL_BYTES && !is_wanted(program, line) &&
	    jit_codes_is_free(&program->codes, line->start, line->bytes, 0)) {
		jit_codes_skip(&program->codes, line->start, line->bytes);
		visit->reading->evicted++;
		return;
	}
	code = code_of_line(program, line);
	code.since_ns = visit->since_ns;
	code.seen_ns = visit->reading->now_ns;
	if (!jit_codes_again(&program->codes, &code))
		piece_add(visit, &code);
}

/*
 * A wanted piece that is not in memory has existed for long, unless other pieces took its place
 * later. A piece that this search found before, perhaps in another drain, is earlier in the map.
 */
static void search_take(void *context, const struct jit_map_line *line)
{
	struct visit *visit = context;
	struct jit_program *program = visit->program;
	struct jit_code code;

	if (line->bytes > PIECE_BYTES_MAX || !is_wanted(program, line) ||
	    !jit_codes_is_free(&program->codes, line->start, line->bytes, program->search_number))
		return;
	code = code_of_line(program, line);
	code.search = program->search_number;
	piece_add(visit, &code);
	visit->found = true;
}

static void search_end(struct jit_program *program, const struct jit_reading *reading, bool found)
{
	program->searching = false;
	jit_map_deinit(&program->search);
	program->wanted_count = 0;
	if (found)
		program->search_pause = 1;
	else if (program->search_pause < SEARCH_PAUSE_MAX)
		program->search_pause = 2 * program->search_pause + 1;
	program->search_at = reading->drain + program->search_pause;
}

static struct jit_map_reader reader_of(struct visit *visit)
{
	return (struct jit_map_reader){
		.scan = jit_parser_map,
		.context = jit_reading_parser(visit->reading, visit->program->user)};
}

/* Read the map again for the names of sampled addresses that are not in memory. */
static void search(struct visit *visit, struct jit_user *user)
{
	size_t all = user->saved < SEARCH_BYTES ? user->saved : SEARCH_BYTES, left = all;
	const struct jit_map_reader reader = reader_of(visit);
	struct jit_program *program = visit->program;
	int fd = program->files[JIT_PROGRAM_MAP].fd;

	if (fd < 0 || program->wanted_count == 0 || !program->map.at_end ||
	    (!program->searching && visit->reading->drain < program->search_at))
		return;
	if (!program->searching) {
		jit_map_deinit(&program->search);
		program->search_number += program->search_number == UINT16_MAX ? 2 : 1;
	}
	program->searching = true;
	if (jit_map_read(&program->search, fd, &reader, &left, search_take, visit) != 0 ||
	    program->search.at_end)
		search_end(program, visit->reading, visit->found);
	user->saved -= all - left;
}

static void want(struct jit_program *program, uint64_t pc)
{
	if (program->wanted_count < JIT_WANTED_MAX && !program->searching)
		program->wanted[program->wanted_count++] = pc;
}

static void program_record_take(void *context, const struct jit_dump_record *record,
				const char *name)
{
	struct visit *visit = context;
	struct jit_program *program = visit->program;
	struct jit_code code = {
		.start = record->start,
		.bytes = (uint32_t)record->bytes,
		.since_ns = record->time_ns,
		.name = (char *)(uintptr_t)name,
		.name_bytes = (uint16_t)record->name_bytes,
		.code_at = record->code_at,
		.file = JIT_PROGRAM_DUMP,
	};

	if (record->kind == JIT_DUMP_MOVE) {
		jit_codes_move(&program->codes, record->from, record->start, record->time_ns);
		account(program, visit->reading);
	} else if (record->bytes <= PIECE_BYTES_MAX) {
		code.name_hash = XXH3_64bits(name, code.name_bytes);
		piece_add(visit, &code);
	}
}

/*
 * Drop the pieces that a rewritten map no longer lists, one read after its end was reached: the
 * program may still be writing it.
 */
static bool map_end(struct jit_program *program, const struct jit_reading *reading, bool grown)
{
	if (!program->rereading || grown)
		return false;
	program->rereading = false;
	return jit_codes_purge(&program->codes, JIT_PROGRAM_MAP, program->pass, program->caught_ns,
			       reading->now_ns, window(program, reading));
}

static void map_read(struct visit *visit, size_t *budget)
{
	const struct jit_map_reader reader = reader_of(visit);
	struct jit_program *program = visit->program;
	int fd = program->files[JIT_PROGRAM_MAP].fd;
	uint64_t position;

	if (fd < 0)
		return;
	position = program->map.position;
	if (jit_map_read(&program->map, fd, &reader, budget, line_take, visit) == 1) {
		map_begin_again(program);
		jit_map_read(&program->map, fd, &reader, budget, line_take, visit);
		position = UINT64_MAX;
	}
	program->behind = !program->map.at_end;
	visit->grown = program->map.position != position;
}

/* Read records, and reduce the budget by them. Return: as jit_dump_scan(). */
static int records_read(struct visit *visit, int fd, size_t *budget)
{
	struct jit_program *program = visit->program;
	size_t records = *budget / DUMP_RECORD_COST;
	int r;

	if (!jit_dump_may_have(&program->dump, fd))
		return 0;
	r = jit_parser_dump(jit_reading_parser(visit->reading, program->user), &program->dump, fd,
			    visit->reading->until_ns, &records, program_record_take, visit);
	*budget -= records * DUMP_RECORD_COST;
	return r;
}

/* Records later than the known events are left for the next call. */
static void dump_read(struct visit *visit, size_t *budget)
{
	struct jit_program *program = visit->program;
	uint64_t failed = jit_reading_failed(visit->reading);
	int fd = program->files[JIT_PROGRAM_DUMP].fd, r = 1;

	while (fd >= 0 && !program->dump_ended && r == 1 && *budget >= DUMP_RECORD_COST)
		r = records_read(visit, fd, budget);
	if (jit_reading_failed(visit->reading) == failed)
		program->dump_ended = program->dump_ended || r < 0;
	program->behind = program->behind || (fd >= 0 && r == 1 && !program->dump_ended);
}

/* Do not read the files any further: samples without a name are JIT_LIMIT from now on. */
static void give_up(struct jit_program *program, struct jit_reading *reading)
{
	jit_program_close(program, reading);
	jit_map_deinit(&program->map);
	jit_map_deinit(&program->search);
	program->given_up = true;
	program->behind = true;
}

/* Parsing a file has failed: samples without a name are JIT_LIMIT until it succeeds. */
static void failure_take(struct jit_program *program, struct jit_reading *reading)
{
	program->behind = true;
	if (++program->failures == JIT_FAILURES_MAX)
		give_up(program, reading);
}

bool jit_program_read(struct jit_program *program, struct jit_reading *reading)
{
	struct visit visit = {.reading = reading, .program = program};
	struct jit_user *user = jit_reading_user(reading, program->user);
	uint64_t failed = jit_reading_failed(reading);
	size_t left;
	bool replaced;

	if (user == NULL || !jit_program_has_files(program))
		return false;
	visit.since_ns = program->caught_ns;
	left = user->budget;
	map_read(&visit, &left);
	dump_read(&visit, &left);
	jit_reading_spend(user, user->budget - left);
	search(&visit, user);
	if (jit_reading_failed(reading) != failed)
		failure_take(program, reading);
	if (!program->behind)
		program->caught_ns = reading->now_ns;
	replaced = jit_codes_settle(&program->codes, window(program, reading));
	if (program->map.at_end)
		replaced |= map_end(program, reading, visit.grown);
	account(program, reading);
	return replaced;
}

/*
 * A map that was written after the end belongs to the next program. The jitdump stays open because
 * of its code.
 */
void jit_program_end(struct jit_program *program, struct jit_reading *reading, uint64_t time_ns)
{
	struct jit_file *map = &program->files[JIT_PROGRAM_MAP];

	if (map->fd >= 0 && !jit_file_is_older(map, time_ns))
		file_park(map, reading);
	jit_program_read(program, reading);
	file_park(map, reading);
}

void jit_program_evict(struct jit_program *program, struct jit_reading *reading)
{
	uint64_t before = program->codes.evicted;

	/* The memory is that of a large file without code. */
	if (jit_codes_count(&program->codes) == 0)
		give_up(program, reading);
	jit_codes_settle(&program->codes, window(program, reading));
	jit_codes_evict(&program->codes);
	reading->evicted += program->codes.evicted - before;
	account(program, reading);
}

/* Return the code, if it is complete and not too long. */
static uint8_t *code_read(int fd, const struct jit_code *code)
{
	uint8_t *data;

	if (code->code_at == 0 || code->bytes > JIT_SLOT_BYTES || fd < 0)
		return NULL;
	data = malloc(code->bytes);
	if (data != NULL && file_read_exactly(fd, data, code->bytes, code->code_at) < 0) {
		free(data);
		return NULL;
	}
	return data;
}

/*
 * Return the code of a piece of the perf map, as the process has it now; NULL: the process has
 * ended, or the limit is reached. An upper bound of a length may include other code.
 */
static uint8_t *memory_read(struct jit_program *program, const struct jit_code *code,
			    uint64_t until_ns)
{
	uint64_t begun_ns = program->begun_ns != 0 ? program->begun_ns : until_ns;
	size_t cost = code->bytes + JIT_PIECE_COST;
	uint8_t *data;

	if (program->pid == 0 || code->file != JIT_PROGRAM_MAP || code->at_most ||
	    code->bytes == 0 || code->bytes > JIT_MEMORY_PIECE_MAX ||
	    program->memory_read + cost > JIT_MEMORY_BYTES_MAX)
		return NULL;
	program->memory_read += cost;
	data = malloc(code->bytes);
	if (data != NULL &&
	    jit_memory_read(program->pid, begun_ns, code->start, data, code->bytes) < 0) {
		free(data);
		return NULL;
	}
	return data;
}

/* Determine the offset of a piece in its image once, when it is first sampled. */
static bool slot_find(struct jit_program *program, struct jit_images *images, struct jit_code *code,
		      uint64_t until_ns)
{
	uint32_t version = jit_images_version(images), bytes;
	_cleanup_free_ uint8_t *data = NULL;
	struct jit_procedure procedure = {
		.name = code->name, .name_bytes = code->name_bytes, .bytes = code->bytes};

	if (code->version == version)
		return code->slot != 0;
	code->version = version;
	if (program->memory_version != version)
		program->memory_read = 0;
	program->memory_version = version;
	data = code->code_at != 0 ? code_read(program->files[code->file].fd, code)
				  : memory_read(program, code, until_ns);
	procedure.code = data;
	if (data != NULL)
		procedure.shape = jit_shape(data, code->bytes);
	code->slot = jit_images_slot(images, program->image, &procedure, &bytes);
	code->by_offset = bytes > 1;
	return code->slot != 0;
}

enum jit_answer jit_program_place(struct jit_program *program, struct jit_images *images,
				  const struct jit_window *window, uint64_t pc,
				  struct image_place *place, struct jit_window *begin)
{
	struct jit_code *code;
	bool ambiguous;

	code = jit_codes_find(&program->codes, pc, window->since_ns, window->until_ns, &ambiguous);
	if (code == NULL && (program->behind || jit_codes_lacks(&program->codes, pc))) {
		want(program, pc);
		return JIT_LIMIT;
	}
	if (code == NULL)
		return JIT_NO_NAME;
	/* The rest of the map may have a later piece. */
	if (program->searching && code->search == program->search_number)
		return JIT_LIMIT;
	if (ambiguous)
		return JIT_AMBIGUOUS;
	if (!slot_find(program, images, code, window->until_ns))
		return JIT_LIMIT;
	*place = (struct image_place){
		.image = program->image,
		.offset = code->slot + (code->by_offset ? pc - code->start : 0),
		.start = code->start,
		.bytes = code->by_offset && jit_codes_alone(&program->codes, code, window->since_ns)
				 ? code->bytes
				 : 0,
	};
	*begin = (struct jit_window){code->since_ns, code->seen_ns};
	return JIT_NAMED;
}
