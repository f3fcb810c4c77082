// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_program.h"

#include <stdlib.h>

#include "daemon/image/image_map.h"
#include "daemon/jit/jit_image.h"
#include "daemon/jit/jit_shape.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"

/* 48 bytes each, of all programs; and of one. */
#define PIECES_MAX (1U << 17)
#define PROGRAM_PIECES_MAX (1U << 16)
#define PIECE_BYTES_MAX (1U << 30)
/* What is read in a drain, of one. */
#define PROGRAM_BYTES (4U << 20)
#define DUMP_RECORD_COST 256

/* While a program's files are read. */
struct visit {
	struct jit_reading *reading;
	struct jit_program *program;
};

void jit_program_init(struct jit_program *program)
{
	program->files[JIT_PROGRAM_MAP].fd = -1;
	program->files[JIT_PROGRAM_DUMP].fd = -1;
}

static void forget(struct jit_program *program, struct jit_reading *reading)
{
	reading->pieces -= jit_codes_count(&program->codes);
	jit_codes_deinit(&program->codes);
	program->read_ns = 0;
	program->map = (struct jit_map){0};
	program->dump = (struct jit_dump){0};
	program->dump_ended = false;
}

void jit_program_deinit(struct jit_program *program, struct jit_reading *reading)
{
	forget(program, reading);
	jit_file_close(&program->files[JIT_PROGRAM_MAP]);
	jit_file_close(&program->files[JIT_PROGRAM_DUMP]);
}

bool jit_program_has_files(const struct jit_program *program)
{
	return program->files[JIT_PROGRAM_MAP].fd >= 0 || program->files[JIT_PROGRAM_DUMP].fd >= 0;
}

bool jit_program_set_file(struct jit_program *program, enum jit_program_file which,
			  const struct jit_file *file, struct jit_reading *reading)
{
	struct jit_file *known = &program->files[which], same = *file;

	if (jit_file_same(file, known)) {
		jit_file_close(&same);
		return false;
	}
	if (known->fd >= 0)
		forget(program, reading);
	jit_file_close(known);
	*known = *file;
	return true;
}

static void piece_add(struct visit *visit, const struct jit_code *code)
{
	struct jit_reading *reading = visit->reading;

	if (reading->pieces >= PIECES_MAX ||
	    jit_codes_count(&visit->program->codes) >= PROGRAM_PIECES_MAX ||
	    jit_codes_add(&visit->program->codes, code) < 0)
		reading->refused++;
	else
		reading->pieces++;
}

/* What is new since the file was read last, came after that. */
static void line_take(void *context, const struct jit_map_line *line)
{
	struct visit *visit = context;

	if (line->bytes > PIECE_BYTES_MAX)
		return;
	piece_add(visit, &(struct jit_code){
				 .start = line->start,
				 .bytes = (uint32_t)line->bytes,
				 .since_ns = visit->program->read_ns,
				 .name_at = line->name_at,
				 .name_bytes = (uint16_t)line->name_bytes,
				 .file = JIT_PROGRAM_MAP,
			 });
}

static void record_take(struct visit *visit, const struct jit_dump_record *record)
{
	struct jit_codes *codes = &visit->program->codes;
	size_t before = jit_codes_count(codes);

	if (record->kind == JIT_DUMP_MOVE && before < PROGRAM_PIECES_MAX) {
		jit_codes_move(codes, record->from, record->start, record->time_ns);
		visit->reading->pieces += jit_codes_count(codes) - before;
	}
	if (record->kind != JIT_DUMP_LOAD || record->bytes > PIECE_BYTES_MAX ||
	    record->name_bytes == 0)
		return;
	piece_add(visit, &(struct jit_code){
				 .start = record->start,
				 .bytes = (uint32_t)record->bytes,
				 .since_ns = record->time_ns,
				 .name_at = record->name_at,
				 .name_bytes = record->name_bytes < JIT_NAME_BYTES_MAX
						       ? (uint16_t)record->name_bytes
						       : JIT_NAME_BYTES_MAX,
				 .code_at = record->code_at,
				 .file = JIT_PROGRAM_DUMP,
			 });
}

static void map_read(struct visit *visit, size_t *budget)
{
	struct jit_program *program = visit->program;
	int fd = program->files[JIT_PROGRAM_MAP].fd;

	if (fd >= 0 && jit_map_read(&program->map, fd, budget, line_take, visit) == 1) {
		forget(program, visit->reading);
		jit_map_read(&program->map, fd, budget, line_take, visit);
	}
}

/* What is later than the events that are known is left for the next time. */
static void dump_read(struct visit *visit, size_t *budget)
{
	struct jit_program *program = visit->program;
	int fd = program->files[JIT_PROGRAM_DUMP].fd, rc = 1;

	while (fd >= 0 && !program->dump_ended && rc == 1 && *budget >= DUMP_RECORD_COST) {
		struct jit_dump_record record;

		rc = jit_dump_next(&program->dump, fd, visit->reading->until_ns, &record);
		if (rc == 1)
			record_take(visit, &record);
		*budget -= DUMP_RECORD_COST;
	}
	program->dump_ended = program->dump_ended || rc < 0;
}

bool jit_program_read(struct jit_program *program, struct jit_reading *reading)
{
	struct visit visit = {.reading = reading, .program = program};
	size_t budget = reading->budget < PROGRAM_BYTES ? reading->budget : PROGRAM_BYTES;
	size_t left = budget, before;
	bool replaced;

	map_read(&visit, &left);
	dump_read(&visit, &left);
	program->read_ns = reading->until_ns;
	reading->budget -= budget - left;
	before = jit_codes_count(&program->codes);
	replaced = jit_codes_settle(&program->codes, reading->window_ns);
	reading->pieces = reading->pieces - before + jit_codes_count(&program->codes);
	return replaced;
}

/* The code, if it is all there and not too long. */
static uint8_t *code_read(int fd, const struct jit_code *code)
{
	uint8_t *data;

	if (code->code_at == 0 || code->bytes > JIT_SLOT_BYTES)
		return NULL;
	data = malloc(code->bytes);
	if (data != NULL && file_read_exactly(fd, data, code->bytes, code->code_at) < 0) {
		free(data);
		return NULL;
	}
	return data;
}

/* Where a piece is in its image: asked for once, when it is first sampled. */
static bool slot_find(const struct jit_program *program, struct jit_images *images,
		      struct jit_code *code)
{
	uint32_t version = jit_images_version(images), bytes;
	int fd = program->files[code->file].fd;
	_cleanup_free_ uint8_t *data = NULL;
	char name[JIT_NAME_BYTES_MAX];
	struct jit_procedure procedure = {
		.name = name, .name_bytes = code->name_bytes, .bytes = code->bytes};

	if (code->version == version)
		return code->slot != 0;
	code->version = version;
	code->slot = 0;
	if (file_read_exactly(fd, name, code->name_bytes, code->name_at) < 0)
		return false;
	data = code_read(fd, code);
	procedure.code = data;
	if (data != NULL)
		procedure.shape = jit_shape(data, code->bytes);
	code->slot = jit_images_slot(images, program->image, &procedure, &bytes);
	code->by_offset = bytes > 1;
	return code->slot != 0;
}

bool jit_program_place(struct jit_program *program, struct jit_images *images,
		       const struct jit_reading *reading, uint64_t pc, struct image_place *place,
		       uint64_t *doubtful)
{
	struct jit_code *code;
	bool doubt;

	code = jit_codes_find(&program->codes, pc, reading->window_ns, reading->until_ns, &doubt);
	if (code == NULL || !slot_find(program, images, code))
		return false;
	*doubtful += doubt;
	*place = (struct image_place){
		.image = program->image,
		.offset = code->slot + (code->by_offset ? pc - code->start : 0),
		.start = code->start,
		.bytes = code->by_offset &&
					 jit_codes_alone(&program->codes, code, reading->window_ns)
				 ? code->bytes
				 : 0,
	};
	return true;
}
