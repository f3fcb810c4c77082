// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/kernel_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kallsyms.h"
#include "daemon/jit/jit_code.h"
#include "daemon/jit/jit_image.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "loader-hook/image_event.h"
#include "loader-hook/jit/jit_map.h"

#define PIECES_MAX 32768
#define NAMES_MAX 32768
/*
 * kallsyms contains no sizes: a piece ends where another symbol begins, or at this size. Too low a
 * value leaves samples unknown, too high a value includes samples of other code.
 */
#define PIECE_BYTES_MAX 8192
#define SYMBOLS_MAX (1U << 20)
/*
 * Reading kallsyms takes some 50 ms. After a read, the reader pauses for that time multiplied by
 * READ_REST if a sample's code is unknown. The pause doubles after each read without success. It is
 * READ_REST_KNOWN times as long if the code is known, because another program may have taken its
 * place.
 */
#define READ_REST 20
#define READ_IN_VAIN_MAX 4
#define READ_REST_KNOWN 1000
#define READ_REST_KNOWN_MIN_NS (10 * NS_PER_SECOND)

enum image_number {
	IMAGE_BPF,
	IMAGE_FTRACE,
	IMAGE_KPROBES,
	IMAGE_NR,
};

/* @owner: as in kallsyms; @prefix: of the names in events */
static const struct {
	const char *owner;
	const char *prefix;
	const char *path;
} kinds[IMAGE_NR] = {
	[IMAGE_BPF] = {"bpf", "bpf_", "[bpf]"},
	[IMAGE_FTRACE] = {"__builtin__ftrace", "ftrace_", "[ftrace]"},
	[IMAGE_KPROBES] = {"__builtin__kprobes", "kprobe_", "[kprobes]"},
};

/*
 * @names:        unique; the name_hash of a piece is an index into this array
 * @images:       numbers in the image table; 0: not used yet
 * @read_ns:      time of the last read of kallsyms; 0: never
 * @read_cost_ns: its CPU time
 * @in_vain:      number of reads since the last one with success
 */
struct kernel_code {
	struct image_table *table;
	struct jit_images *jit;
	const char *kallsyms;
	struct jit_codes codes;
	char **names;
	size_t name_count;
	size_t name_capacity;
	struct u64_map by_name; /* hash -> index + 1 */
	uint32_t images[IMAGE_NR];
	uint64_t read_ns;
	uint64_t read_cost_ns;
	unsigned int in_vain;
	uint64_t window_ns;
};

int kernel_code_create(struct kernel_code **ret, struct image_table *table,
		       struct jit_images *images, const char *kallsyms, struct error *err)
{
	struct kernel_code *code = calloc(1, sizeof(*code));

	if (code == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	code->table = table;
	code->jit = images;
	code->kallsyms = kallsyms;
	*ret = code;
	return 0;
}

void kernel_code_destroy(struct kernel_code *code)
{
	size_t i;

	if (code == NULL)
		return;
	for (i = 0; i < code->name_count; i++)
		free(code->names[i]);
	free(code->names);
	u64_map_deinit(&code->by_name);
	jit_codes_deinit(&code->codes);
	free(code);
}

/* Return: index of the name, or -ENOMEM, also if there are too many. */
static int name_intern(struct kernel_code *code, const char *name)
{
	uint64_t hash = XXH3_64bits(name, strlen(name));
	uint64_t *index = u64_map_find(&code->by_name, hash);
	char *copy;

	if (index != NULL)
		return (int)(*index - 1);
	if (code->name_count == NAMES_MAX ||
	    array_reserve(&code->names, &code->name_capacity, code->name_count + 1,
			  sizeof(code->names[0])) < 0)
		return -ENOMEM;
	copy = strndup(name, JIT_NAME_BYTES_MAX);
	index = copy != NULL ? u64_map_insert(&code->by_name, hash) : NULL;
	if (index == NULL) {
		free(copy);
		return -ENOMEM;
	}
	code->names[code->name_count] = copy;
	*index = code->name_count + 1;
	return (int)code->name_count++;
}

/* The kernel reports the size of a page for a trampoline; later ones may be in the same page. */
static bool is_trampoline(const char *name)
{
	return strncmp(name, "bpf_trampoline_", 15) == 0 ||
	       strncmp(name, "bpf_dispatcher_", 15) == 0;
}

static void piece_add(struct kernel_code *code, enum image_number image, const char *name,
		      uint64_t start, uint64_t bytes, uint64_t time_ns)
{
	struct jit_code piece = {
		.start = start,
		.bytes = bytes < JIT_SLOT_BYTES ? (uint32_t)bytes : JIT_SLOT_BYTES,
		.since_ns = time_ns,
		.seen_ns = time_ns,
		.at_most = is_trampoline(name),
		.file = (uint8_t)image,
	};
	int index;

	if (bytes == 0 || bytes > UINT64_MAX - start || name[0] == '\0' ||
	    jit_codes_count(&code->codes) >= PIECES_MAX)
		return;
	index = name_intern(code, name);
	if (index < 0)
		return;
	piece.name_hash = (uint64_t)index;
	jit_codes_add(&code->codes, &piece);
}

void kernel_code_event(struct kernel_code *code, const struct image_event *event)
{
	int i;

	for (i = 0; i < IMAGE_NR; i++) {
		if (strncmp(event->path, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			piece_add(code, (enum image_number)i, event->path, event->start,
				  event->bytes, event->time_ns);
	}
}

/* Symbols of kallsyms for these kinds and for modules (@name: -1), until sizes can be computed. */
struct reading {
	struct kernel_code *code;
	struct symbol {
		uint64_t start;
		int name;
		enum image_number image;
	} * symbols;
	size_t count;
	size_t capacity;
};

static void symbol_take(void *context, const struct kallsyms_symbol *symbol)
{
	struct reading *reading = context;
	int i, name = -1;

	if (symbol->module[0] == '\0' || symbol->address == 0 || reading->count == SYMBOLS_MAX)
		return;
	for (i = 0; i < IMAGE_NR && strcmp(symbol->module, kinds[i].owner) != 0; i++)
		;
	if (i < IMAGE_NR)
		name = name_intern(reading->code, symbol->name);
	if (array_reserve(&reading->symbols, &reading->capacity, reading->count + 1,
			  sizeof(reading->symbols[0])) < 0)
		return;
	reading->symbols[reading->count++] = (struct symbol){
		.start = symbol->address, .name = name, .image = (enum image_number)i};
}

static int kernel_code_by_start(const void *first, const void *second)
{
	const struct symbol *a = first, *b = second;

	return (a->start > b->start) - (a->start < b->start);
}

/*
 * Add a symbol unless it is known with a size that an event announced, or with the space available
 * at an earlier read. The piece is taken to exist since this read: another one that was announced
 * earlier may have been at the address before.
 */
static void symbol_add(struct kernel_code *code, const struct symbol *symbol, uint64_t bytes)
{
	const struct jit_code *known;
	bool ambiguous;

	if (symbol->name < 0)
		return;
	known = jit_codes_find(&code->codes, symbol->start, UINT64_MAX, UINT64_MAX, &ambiguous);
	if (bytes > PIECE_BYTES_MAX)
		bytes = PIECE_BYTES_MAX;
	if (known == NULL || known->start != symbol->start ||
	    known->name_hash != (uint64_t)symbol->name || known->bytes > bytes)
		piece_add(code, symbol->image, code->names[symbol->name], symbol->start, bytes,
			  code->read_ns);
}

static void kallsyms_read(struct kernel_code *code, uint64_t now_ns)
{
	struct reading reading = {.code = code};
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	size_t i;

	code->read_ns = now_ns;

	if (kallsyms_walk(code->kallsyms, symbol_take, &reading, NULL) == 0 && reading.count > 0) {
		qsort(reading.symbols, reading.count, sizeof(reading.symbols[0]),
		      kernel_code_by_start);
		for (i = 0; i < reading.count; i++)
			symbol_add(code, &reading.symbols[i],
				   i + 1 < reading.count
					   ? reading.symbols[i + 1].start - reading.symbols[i].start
					   : PIECE_BYTES_MAX);
	}
	free(reading.symbols);
	code->read_cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

/* Events of new code may be lost, or perf may not be permitted. */
static bool is_read_due(const struct kernel_code *code, bool known, uint64_t now_ns)
{
	uint64_t rest_ns = code->read_cost_ns * (READ_REST << code->in_vain);

	if (code->read_ns == 0)
		return !known;
	if (known) {
		rest_ns = code->read_cost_ns * READ_REST_KNOWN;
		if (rest_ns < READ_REST_KNOWN_MIN_NS)
			rest_ns = READ_REST_KNOWN_MIN_NS;
	}
	return now_ns - code->read_ns > rest_ns;
}

static uint32_t kernel_code_image_of(struct kernel_code *code, unsigned int kind)
{
	const struct profile_image image = {.kind = PROFILE_IMAGE_JIT, .path = kinds[kind].path};
	int number = code->images[kind] == 0 ? image_table_add(code->table, &image) : 0;

	if (number > 0)
		code->images[kind] = (uint32_t)number;
	return code->images[kind];
}

static bool slot_find(struct kernel_code *code, struct jit_code *piece, uint32_t image)
{
	uint32_t version = jit_images_version(code->jit), bytes;
	const char *name = code->names[piece->name_hash];
	const struct jit_procedure procedure = {
		.name = name,
		.name_bytes = strlen(name),
		.bytes = piece->bytes,
		.offsets = true,
	};

	if (piece->version != version) {
		piece->version = version;
		piece->slot = jit_images_slot(code->jit, image, &procedure, &bytes);
		piece->by_offset = bytes > 1;
	}
	return piece->slot != 0;
}

static bool place_known(struct kernel_code *code, uint64_t pc, uint64_t now_ns,
			struct image_place *place)
{
	struct jit_code *piece;
	uint32_t image;
	bool ambiguous;

	jit_codes_settle(&code->codes, code->window_ns);
	piece = jit_codes_find(&code->codes, pc, code->window_ns, now_ns, &ambiguous);
	image = piece != NULL ? kernel_code_image_of(code, piece->file) : 0;
	if (image == 0 || !slot_find(code, piece, image))
		return false;
	*place = (struct image_place){
		.image = image,
		.offset = piece->slot + (piece->by_offset ? pc - piece->start : 0),
		.start = piece->start,
		.bytes = piece->by_offset && jit_codes_alone(&code->codes, piece, code->window_ns)
				 ? piece->bytes
				 : 0,
	};
	return true;
}

void kernel_code_place(struct kernel_code *code, uint64_t pc, uint64_t now_ns,
		       struct image_place *place)
{
	bool known = place_known(code, pc, now_ns, place);

	if (!is_read_due(code, known, now_ns))
		return;
	kallsyms_read(code, now_ns);
	if (place_known(code, pc, now_ns, place))
		code->in_vain = 0;
	else if (code->in_vain < READ_IN_VAIN_MAX)
		code->in_vain++;
}

void kernel_code_expire(struct kernel_code *code, uint64_t time_ns)
{
	code->window_ns = time_ns;
}
