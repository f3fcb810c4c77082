// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reference call tree: the contexts in which the procedures of an image were called, and the number
 * of instructions executed in each, from the trace of all blocks, calls and returns. A plugin for
 * QEMU's user mode, for x86-64 programs with one thread:
 *
 *	qemu-x86_64 -plugin build/tests/call_plugin.so,out=FILE,ranges=FILE,image=PATH PROGRAM
 *
 * The file of ranges has lines "ENTRY START END" (tests/fixtures/call_ranges.c): code of procedures
 * by their addresses in the image; all other code is ignored. A return goes to the frame that
 * called from the return's target; that frame need not be the last one. The out file gets the tree
 * of all calls, including recursion, parents first:
 *
 *	calls exact|racy
 *	NUMBER PARENT ENTRY CALLS INSTRUCTIONS SITE
 *
 * Number 0 is the root, which has no entry. The site is the address of the parent's call that led
 * to the procedure, by way of other code if necessary; 0: the parent is the root.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/eval/truth/guest_image.h"
#include "tests/eval/truth/qemu_plugin.h"

#define NONE 0
#define NODES_MAX 20000000
#define FRAMES_MAX 4000000

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* A range of a procedure's code; @entry: the procedure's address in the image. */
struct range {
	uint64_t entry;
	uint64_t start;
	uint64_t end;
};

/* Kind of the last instruction of a block. */
enum end {
	END_OTHER,
	END_CALL,
	END_RETURN,
};

#define OWNERS_MAX 8

/*
 * A block of QEMU's.
 * @owners: the procedures that share it, by their entries
 * @entry: the procedure that begins with this block, or NONE
 */
struct block {
	uint64_t owners[OWNERS_MAX];
	size_t owner_count;
	uint64_t entry;
	bool repeats;  /* its first instruction repeats itself */
	uint64_t call; /* address of its last instruction in the image */
	enum end end;
	uint64_t first;
	uint64_t last;
	uint64_t behind;
};

/* @back: return address of the frame; @site: the last procedure's call that led to it */
struct frame {
	uint64_t back;
	uint64_t site;
	uint64_t procedure;
	uint32_t node;
};

struct node {
	uint32_t parent;
	uint32_t child;
	uint32_t sibling;
	uint64_t entry;
	uint64_t site;
	uint64_t calls;
	uint64_t instructions;
};

static struct range *ranges;
static size_t range_count;
static char *out_path;
static char *image_path;
static bool second_thread;

static struct node *nodes;
static uint32_t node_count = 1;
static struct frame *frames; /* frames[0] is the root, not a frame */
static size_t depth;
static const struct block *before;
static uint64_t running;  /* the procedure of @before, or NONE */
static bool before_ended; /* the last instruction of @before was executed */
static bool again;	  /* do not count the next instruction: it is repeated */

static void die(const char *what)
{
	fprintf(stderr, "call_plugin: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *checked(void *memory)
{
	if (!memory)
		die("memory");
	return memory;
}

/* --- frames --------------------------------------------------------------- */

static uint32_t child_of(uint32_t parent, uint64_t entry, uint64_t site)
{
	uint32_t *link = &nodes[parent].child;

	while (*link && (nodes[*link].entry != entry || nodes[*link].site != site))
		link = &nodes[*link].sibling;
	if (*link)
		return *link;
	if (node_count == NODES_MAX) {
		errno = ENOMEM;
		die("too many contexts");
	}
	nodes[node_count] = (struct node){.parent = parent, .entry = entry, .site = site};
	*link = node_count;
	return node_count++;
}

/* @site: address of the call, if a procedure makes it; otherwise that of the frame is inherited */
static void push(uint64_t back, uint64_t site)
{
	if (depth + 1 == FRAMES_MAX) {
		errno = ENOMEM;
		die("too many frames");
	}
	frames[depth + 1] = (struct frame){
		.back = back,
		.site = site != NONE ? site : frames[depth].site,
		.node = frames[depth].node,
	};
	depth++;
}

/* If no frame returns to @back, the return was used as a jump. */
static void pop(uint64_t back)
{
	size_t at = depth;

	while (at > 0 && frames[at].back != back)
		at--;
	if (at > 0)
		depth = at - 1;
}

/* Enter the procedure in the current frame. */
static void enter(uint64_t entry)
{
	frames[depth].procedure = entry;
	frames[depth].node = child_of(frames[depth - 1].node, entry, frames[depth].site);
	nodes[frames[depth].node].calls++;
}

static void leave(void)
{
	frames[depth].procedure = NONE;
	frames[depth].node = frames[depth - 1].node;
}

/* --- blocks --------------------------------------------------------------- */

/* The program is back in a procedure by an unknown path: drop the frames that it called. */
static void resume(uint64_t procedure)
{
	size_t at = depth;

	while (at > 0 && frames[at].procedure != procedure)
		at--;
	if (at > 0)
		depth = at;
}

/*
 * If procedures share the block, return @likely, from which it was reached, if that is among them.
 */
static uint64_t procedure_of(const struct block *block, uint64_t likely)
{
	for (size_t i = 0; i < block->owner_count; i++) {
		if (block->owners[i] == likely)
			return likely;
	}
	return block->owner_count > 0 ? block->owners[0] : NONE;
}

static void executed(unsigned int vcpu, void *data)
{
	const struct block *block = data;
	uint64_t from = running;
	bool by_call = before_ended && before->end == END_CALL;
	bool by_return = before_ended && before->end == END_RETURN;

	(void)vcpu;
	if (by_call)
		push(before->behind, from != NONE ? before->call : NONE);
	else if (by_return)
		pop(block->first);
	if (depth == 0)
		push(0, NONE);
	if (by_call && block->entry != NONE)
		running = block->entry;
	else
		running = procedure_of(block, by_return ? frames[depth].procedure : from);
	again = before_ended && before->last == block->first && block->repeats;
	if (!by_call && !by_return && from != NONE && from != running) {
		resume(from);
		leave();
	}
	if (block->entry == running && running != NONE &&
	    (by_call || (!by_return && from != running)))
		enter(running);
	else if (running != NONE && frames[depth].procedure != running)
		resume(running);
	before = block;
	before_ended = false;
}

static void executed_one(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!again)
		nodes[frames[depth].node].instructions++;
	again = false;
}

/*
 * At the end of a page, QEMU may count an instruction as part of a block although it translates
 * that instruction into a separate block. So the last instruction need not have been executed.
 */
static void executed_last(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	before_ended = true;
}

/* --- translation ---------------------------------------------------------- */

static void find_owners(struct block *block, uint64_t address)
{
	for (size_t i = 0; i < range_count && ranges[i].start <= address; i++) {
		if (address >= ranges[i].end || block->owner_count == OWNERS_MAX)
			continue;
		block->owners[block->owner_count++] = ranges[i].entry;
		if (ranges[i].entry == address)
			block->entry = address;
	}
}

static uint64_t address_of(const struct guest_place *place)
{
	static struct guest_file file;

	if (!file.elf)
		file = guest_file_open(place->image);
	return guest_file_address(&file, place->offset);
}

static enum end end_of(const unsigned char *code, size_t bytes)
{
	while (bytes > 1 && (code[0] >> 4 == 4 || strchr("\x66\xf2\xf3\x2e\x3e", code[0])))
		code++, bytes--;
	if (code[0] == 0xe8 || (code[0] == 0xff && bytes > 1 && (code[1] >> 3 & 7) == 2))
		return END_CALL;
	return code[0] == 0xc3 || code[0] == 0xc2 ? END_RETURN : END_OTHER;
}

static bool is_repeated(const unsigned char *code, size_t bytes)
{
	size_t i = 1;

	if (code[0] != 0xf2 && code[0] != 0xf3)
		return false;
	while (i + 1 < bytes && (code[i] >> 4 == 4 || code[i] == 0x66))
		i++;
	return (code[i] >= 0xa4 && code[i] <= 0xa7) || (code[i] >= 0xaa && code[i] <= 0xaf);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, count - 1);
	struct guest_place place =
		guest_image_place(qemu_plugin_insn_haddr(first), qemu_plugin_insn_vaddr(first));
	struct block *block = checked(calloc(1, sizeof(*block)));

	(void)id;
	block->first = qemu_plugin_insn_vaddr(first);
	block->last = qemu_plugin_insn_vaddr(last);
	block->behind = block->last + qemu_plugin_insn_size(last);
	block->repeats = is_repeated(qemu_plugin_insn_data(first), qemu_plugin_insn_size(first));
	block->end = end_of(qemu_plugin_insn_data(last), qemu_plugin_insn_size(last));
	if (strcmp(guest_image_path(place.image), image_path) == 0)
		find_owners(block, address_of(&place));
	if (block->owner_count > 0)
		block->call = address_of(&place) + (block->last - block->first);
	qemu_plugin_register_vcpu_insn_exec_cb(first, executed, QEMU_PLUGIN_CB_NO_REGS, block);
	for (size_t i = 0; block->owner_count > 0 && i < count; i++)
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i), executed_one,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	qemu_plugin_register_vcpu_insn_exec_cb(last, executed_last, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

static void vcpu_began(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	second_thread |= vcpu > 0;
}

static void ended(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(out_path, "we");

	(void)id;
	(void)data;
	if (!file)
		die(out_path);
	fprintf(file, "calls %s\n", second_thread ? "racy" : "exact");
	for (uint32_t i = 0; i < node_count; i++)
		fprintf(file,
			"%" PRIu32 " %" PRIu32 " %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIx64 "\n",
			i, nodes[i].parent, nodes[i].entry, nodes[i].calls, nodes[i].instructions,
			nodes[i].site);
	if (fclose(file) != 0)
		die(out_path);
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void read_ranges(const char *path)
{
	FILE *file = fopen(path, "re");
	struct range range;

	if (!file)
		die(path);
	while (fscanf(file, "%" SCNx64 " %" SCNx64 " %" SCNx64, &range.entry, &range.start,
		      &range.end) == 3) {
		ranges = checked(realloc(ranges, (range_count + 1) * sizeof(range)));
		ranges[range_count++] = range;
	}
	fclose(file);
	qsort(ranges, range_count, sizeof(range), by_start);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "out=", 4) == 0)
			out_path = checked(strdup(argv[i] + 4));
		else if (strncmp(argv[i], "image=", 6) == 0)
			image_path = checked(strdup(argv[i] + 6));
		else if (strncmp(argv[i], "ranges=", 7) == 0)
			read_ranges(argv[i] + 7);
	}
	if (!out_path || !image_path || range_count == 0 ||
	    strcmp(info->target_name, "x86_64") != 0) {
		fprintf(stderr, "call_plugin: needs out=FILE,ranges=FILE,image=PATH, on x86_64\n");
		return -1;
	}
	nodes = checked(calloc(NODES_MAX, sizeof(*nodes)));
	frames = checked(calloc(FRAMES_MAX, sizeof(*frames)));
	qemu_plugin_register_vcpu_init_cb(id, vcpu_began);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	guest_image_watch(id);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
