// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_probe.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/source/file_mapping.h"
#include "kmod/core/x86_insn.h"
#include "lib/cleanup.h"
#include "loader-hook/proc/process_stat.h"

/* Limits of the search for the next branch. */
#define NEXT_BRANCH_BYTES 128
#define NEXT_BRANCH_JUMPS 3

#if defined(__x86_64__)
#define IS_KNOWN_MACHINE true
#else
#define IS_KNOWN_MACHINE false
#endif

/* Part of union bpf_attr that is missing in Debian 12's headers. */
struct link_create {
	uint32_t program_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t counter_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t probe_flags;
	uint32_t pid;
	uint32_t unused;
};

/*
 * Return the x86 condition code of a branch. Only conditional branches that depend on flags have
 * one: the kernel single-steps the others, which is expensive.
 */
static int condition_of(const struct x86_insn *insn)
{
	if (insn->encoding != X86_LEGACY || (insn->prefixes & X86_OPERAND_SIZE) != 0)
		return -1;
	if ((insn->map == 0 && (insn->opcode & 0xf0) == 0x70) ||
	    (insn->map == 1 && (insn->opcode & 0xf0) == 0x80))
		return insn->opcode & 15;
	return -1;
}

/* ret; jmp and call through a register or memory */
static bool is_indirect(const struct x86_insn *insn)
{
	if (insn->encoding != X86_LEGACY || insn->map != 0)
		return false;
	return insn->opcode == 0xc3 || insn->opcode == 0xc2 ||
	       (insn->opcode == 0xff && ((insn->reg & 7) == 2 || (insn->reg & 7) == 4));
}

static bool is_jump(const struct x86_insn *insn)
{
	return insn->encoding == X86_LEGACY && insn->map == 0 &&
	       (insn->opcode == 0xeb || insn->opcode == 0xe9);
}

/* jmp through a register or memory, ret; calls return */
static bool is_end(const struct x86_insn *insn)
{
	return is_indirect(insn) && !(insn->opcode == 0xff && (insn->reg & 7) == 2);
}

/* Find the first conditional branch on the straight path from an address. */
static uint64_t find_next_branch(const struct file_mapping *mapping, uint64_t address)
{
	uint8_t code[NEXT_BRANCH_BYTES];
	struct x86_insn insn;

	for (int jumps = 0; jumps <= NEXT_BRANCH_JUMPS; jumps++) {
		struct file_place place = file_mapping_place(mapping, address);
		ssize_t bytes, at;

		if (address < mapping->start || address >= mapping->end)
			return 0;
		bytes = pread(mapping->fd, code, sizeof(code), (off_t)place.offset);
		for (at = 0; at < bytes; at += insn.length) {
			if (x86_insn_decode(&insn, code + at, (uint32_t)(bytes - at)) < 0 ||
			    is_end(&insn))
				return 0;
			if (condition_of(&insn) >= 0)
				return address + (uint64_t)at;
			if (is_jump(&insn))
				break;
		}
		if (at >= bytes)
			return 0;
		address += (uint64_t)at + insn.length + (uint64_t)insn.immediate;
	}
	return 0;
}

/*
 * The kernel single-steps these branches. One such execution costs as much as fifteen of the
 * others, so both kinds are never probed together.
 */
static bool is_single_stepped(const struct branch_window *window)
{
	return window->condition == WINDOW_SNAPSHOTS;
}

/*
 * Decode from the file, where no other breakpoint hides the instruction. The read also ensures that
 * the kernel finds the page in memory: ext4 of some kernels warns if it must be read for a uprobe.
 */
static int branch_decode(struct branch_probe *probe, struct branch_window *window, int file,
			 uint64_t offset)
{
	struct x86_insn insn;
	uint8_t code[15];
	ssize_t bytes = pread(file, code, sizeof(code), (off_t)offset);
	int condition;

	if (bytes <= 0 || x86_insn_decode(&insn, code, (uint32_t)bytes) < 0)
		return -EINVAL;
	condition = condition_of(&insn);
	if (condition < 0 && !is_indirect(&insn))
		return -EINVAL;
	memset(probe->targets, 0, sizeof(probe->targets));
	memset(probe->next_branches, 0, sizeof(probe->next_branches));
	if (condition >= 0) {
		probe->targets[0] = probe->address + insn.length;
		probe->targets[1] = probe->targets[0] + insn.immediate;
	}
	window->condition = condition >= 0 ? (uint32_t)condition : WINDOW_SNAPSHOTS;
	window->is_reference = probe->is_reference;
	return 0;
}

/* The file's path may refer to another file by now; the descriptor does not. */
int branch_probe_attach(const struct branch_probe_sites *sites, int program)
{
	char path[32];
	struct link_create attr = {
		.program_fd = (uint32_t)program,
		.attach_type = BRANCH_PROBE_ATTACH_TYPE,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)sites->offsets,
		.cookies = (uintptr_t)sites->cookies,
		.count = sites->count,
		.pid = sites->pid,
	};
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", sites->file);
	fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

/* Find the probes that are in the mapping and of the same kind as the first one. */
static size_t probe_sites_find(struct branch_probe_sites *sites, struct branch_probe *probes,
			       size_t count, const struct file_mapping *mapping,
			       const struct branch_probe_link *link)
{
	struct branch_window *windows = branch_probe_windows(link);

	for (size_t i = 0; i < count; i++) {
		struct file_place place = file_mapping_place(mapping, probes[i].address);
		uint32_t n = sites->count;

		if (probes[i].address < mapping->start || probes[i].address >= mapping->end ||
		    !file_place_is(&place, &probes[i].place) ||
		    branch_decode(&probes[i], &windows[n], mapping->fd, place.offset) < 0 ||
		    is_single_stepped(&windows[n]) != is_single_stepped(&windows[0]))
			continue;
		sites->offsets[n] = place.offset;
		sites->cookies[n] = link->number * BRANCH_WINDOWS + n;
		for (int direction = 0; direction < 2 && probes[i].targets[direction] != 0;
		     direction++)
			probes[i].next_branches[direction] =
				find_next_branch(mapping, probes[i].targets[direction]);
		probes[sites->count++] = probes[i];
	}
	return sites->count;
}

int branch_probe_find(struct branch_probe_sites *ret, struct branch_probe *probes, size_t *count,
		      const struct branch_probe_link *link)
{
	struct file_mapping mapping;
	size_t all = *count;
	int rc;

	*ret = (struct branch_probe_sites){.file = -1, .pid = probes[0].pid};
	*count = 0;
	if (!IS_KNOWN_MACHINE)
		return -ENOTSUP;
	/*
	 * If a probe is at the address of a debugger's breakpoint, the kernel takes the breakpoint
	 * for its own and removes it with the probe.
	 */
	if (process_is_traced(probes[0].pid))
		return -EBUSY;
	rc = file_mapping_find(&mapping, probes[0].pid, probes[0].address);
	if (rc < 0 || mapping.fd < 0)
		return rc < 0 ? rc : mapping.fd;
	/*
	 * The kernel places the breakpoints in every private mapping of the file that the process
	 * has. A program that reads its own code as data would read them.
	 */
	if (file_mapping_others(probes[0].pid, &mapping) != 0) {
		file_mapping_close(&mapping);
		return -EBUSY;
	}
	memset(branch_probe_windows(link), 0, BRANCH_WINDOWS * sizeof(struct branch_window));
	memset(&link->program.references[link->number], 0, sizeof(struct reference_counts));
	*count = probe_sites_find(ret, probes, all, &mapping, link);
	ret->file = take_fd(mapping.fd);
	file_mapping_close(&mapping);
	return *count > 0 ? 0 : -EINVAL;
}

int branch_probe_own_site(struct branch_probe_sites *ret, void (*function)(void), uint32_t pid,
			  const struct branch_probe_link *link)
{
	uint64_t address = (uintptr_t)function;
	struct file_mapping mapping;
	int rc = file_mapping_find(&mapping, (uint32_t)getpid(), address);

	*ret = (struct branch_probe_sites){.file = -1};
	if (rc < 0 || mapping.fd < 0)
		return rc < 0 ? rc : mapping.fd;
	ret->file = take_fd(mapping.fd);
	ret->pid = pid;
	ret->count = 1;
	ret->offsets[0] = file_mapping_place(&mapping, address).offset;
	ret->cookies[0] = link->number * BRANCH_WINDOWS;
	file_mapping_close(&mapping);
	return 0;
}

void branch_probe_sites_close(struct branch_probe_sites *sites)
{
	if (sites->file >= 0)
		close(sites->file);
	sites->file = -1;
}
