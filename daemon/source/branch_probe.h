/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes at some branches of a process, for a moment: which ways did they go?
 *
 * The kernel puts breakpoints (uprobes) into the process' copy of the code, and runs a BPF
 * program (daemon/source/bpf/branch_snapshot.bpf.c) whenever one is reached, in any of the
 * process' threads. Of conditional branches that counts both ways itself; of others it
 * leaves snapshots, the first few each time. Conditional branches the kernel then carries
 * out by itself: about a microsecond. Others are stepped over: 15.
 *
 * (Debug registers would be simpler. But a hypervisor may lose DR6 between the exception
 * and its handler, as Linux' did up to 2025, and then the process gets a SIGTRAP: one hit in
 * 20,000 on a virtual machine that we tried. And perf's events for uprobes stay in the code
 * for another tenth of a second when they are closed.)
 *
 * One link holds all (BPF_TRACE_UPROBE_MULTI, Linux 6.6 and later). Attaching takes some ten
 * milliseconds and closing up to a hundred. Nearly all that time the kernel waits for an RCU grace
 * period, before the breakpoints are there and after they have gone. A separate process has the
 * link (probe_holder.h).
 */
#ifndef DCPI_BRANCH_PROBE_H
#define DCPI_BRANCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/bpf/branch_snapshot.h"
#include "daemon/source/file_mapping.h"

/* BPF_TRACE_UPROBE_MULTI of enum bpf_attach_type, which Debian 12's headers don't have. */
#define BRANCH_PROBE_ATTACH_TYPE 48

/**
 * struct branch_probe - a branch
 * @place: where it was read. A breakpoint in the midst of an instruction makes another one of
 *         it, so there is none if something else is at @address by now: a program after exec
 * @ways: of a conditional branch: where it leads to if it is not taken, and if it is; of
 *        others 0
 * @beyond: of a conditional branch: the next one that each way comes to, if that is known; 0
 * @mark:   what others are counted against (struct branch_round); the last one, if any
 */
struct branch_probe {
	uint32_t pid;
	uint64_t address;
	struct file_place place;
	uint64_t ways[2];
	uint64_t beyond[2];
	bool mark;
};

/** branch_probe_is_at() - whether both are of one branch */
static inline bool branch_probe_is_at(const struct branch_probe *a, const struct branch_probe *b)
{
	return a->pid == b->pid && a->address == b->address;
}

/**
 * struct branch_probe_program - what runs at hits
 * @fd:      the BPF program
 * @windows: what it counts in, BRANCH_WINDOWS for each of BRANCH_LINKS
 * @rounds:  and one for each link
 */
struct branch_probe_program {
	int fd;
	struct branch_window *windows;
	struct branch_round *rounds;
};

/** struct branch_probe_link - @number: which windows are its own; < BRANCH_LINKS */
struct branch_probe_link {
	struct branch_probe_program program;
	size_t number;
};

/** branch_probe_windows() - of a link */
static inline struct branch_window *branch_probe_windows(const struct branch_probe_link *link)
{
	return &link->program.windows[link->number * BRANCH_WINDOWS];
}

/**
 * struct branch_probe_sites - the breakpoints of some probes
 * @file:    where they are: a descriptor, owned by the structure; -1: none
 * @pid:     process whose copy of the code gets them
 * @offsets: in the file; @cookies: the numbers of their windows
 */
struct branch_probe_sites {
	int file;
	uint32_t pid;
	uint32_t count;
	uint64_t offsets[BRANCH_WINDOWS];
	uint64_t cookies[BRANCH_WINDOWS];
};

/**
 * branch_probe_find() - find where breakpoints have to be, and clear the link's windows
 * @ret:        out; closed by branch_probe_sites_close(), also after an error
 * @probes:     of one process, at most BRANCH_WINDOWS; of those that can be probed
 *              beside the first one (in its file, of its kind) @ways and @beyond are filled in,
 *              and the others removed
 * @count:      in: how many; out: those that are left
 * @link:       whose windows count, in the order of @probes
 *
 * Return: 0; -EINVAL there is none to probe; -EBUSY a debugger has the process; -ENOTSUP on other
 * machines than x86-64; else -errno (-ESRCH: no such process).
 */
int branch_probe_find(struct branch_probe_sites *ret, struct branch_probe *probes, size_t *count,
		      const struct branch_probe_link *link);

/**
 * branch_probe_own_site() - the breakpoint of a function of this program
 * @ret: out; closed by branch_probe_sites_close() if that succeeds
 * @pid: a fork of this process, or this one
 *
 * Return: 0; -errno as file_mapping_find().
 */
int branch_probe_own_site(struct branch_probe_sites *ret, void (*function)(void), uint32_t pid,
			  const struct branch_probe_link *link);

/** branch_probe_sites_close() - close the file. */
void branch_probe_sites_close(struct branch_probe_sites *sites);

/**
 * branch_probe_attach() - place the breakpoints
 * @program: descriptor of the BPF program that runs at hits
 *
 * Return: a descriptor, which alone keeps them in place; closing it, or the end of the process
 * that has it, removes them. -EINVAL: the kernel has no such links; else -errno.
 */
int branch_probe_attach(const struct branch_probe_sites *sites, int program);

#endif
