/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes at branches of a process during a short interval: which directions do they take?
 *
 * The kernel places breakpoints (uprobes) in the process's copy of the code. It runs a BPF program
 * (daemon/source/bpf/branch_snapshot.bpf.c) whenever any thread of the process hits one. For
 * conditional branches, this program counts both directions; for others it writes snapshots of the
 * first few executions. The kernel emulates conditional branches, which takes about 1 us. It
 * single-steps the others, which takes 15 us.
 *
 * Only mappings of the process get breakpoints, and private mappings of the file without write
 * permission all get them, also if the process only reads them. So no probe is placed in a file
 * that the process maps twice. A mapping made during a measurement (PROBE_GONE_MAX_NS at most)
 * still gets them.
 *
 * (Debug registers would be simpler. But a hypervisor may lose DR6 between the exception and its
 * handler, as Linux' did up to 2025. Then the process gets a SIGTRAP: one hit in 20,000 on a tested
 * virtual machine. perf's uprobe events stay in the code for another tenth of a second after they
 * are closed.)
 *
 * One link holds all probes of a group (BPF_TRACE_UPROBE_MULTI, Linux 6.6 and later). Attaching
 * takes some 10 ms and closing up to 100 ms. The kernel spends nearly all that time waiting for an
 * RCU grace period, before the breakpoints are placed and after they have been removed. A separate
 * process has the link (probe_holder.h).
 */
#ifndef DCPI_BRANCH_PROBE_H
#define DCPI_BRANCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/bpf/branch_snapshot.h"
#include "daemon/source/file_mapping.h"

/* BPF_TRACE_UPROBE_MULTI of enum bpf_attach_type, which is missing in Debian 12's headers. */
#define BRANCH_PROBE_ATTACH_TYPE 48

/**
 * struct branch_probe - a branch
 * @place:  position of the branch in its file. A breakpoint in the middle of an instruction would
 *          change it. So there is no probe if something else is mapped at @address by now, e.g.
 *          after an exec
 * @targets: targets of a conditional branch: not taken, and taken; 0 for other branches
 * @next_branches: of a conditional branch: the next conditional branch after each direction, if
 *          known; otherwise 0
 * @is_reference: this is the reference branch of its group (struct reference_counts); always the
 *          last one
 */
struct branch_probe {
	uint32_t pid;
	uint64_t address;
	struct file_place place;
	uint64_t targets[2];
	uint64_t next_branches[2];
	bool is_reference;
};

/** branch_probe_is_at() - return true if both refer to the same branch */
static inline bool branch_probe_is_at(const struct branch_probe *a, const struct branch_probe *b)
{
	return a->pid == b->pid && a->address == b->address;
}

/**
 * struct branch_probe_program - the program that runs at hits
 * @fd:      the BPF program
 * @windows: its counts, BRANCH_WINDOWS for each of BRANCH_LINKS
 * @references: its counts per reference iteration, one for each link
 */
struct branch_probe_program {
	int fd;
	struct branch_window *windows;
	struct reference_counts *references;
};

/** struct branch_probe_link - @number: selects the link's windows; < BRANCH_LINKS */
struct branch_probe_link {
	struct branch_probe_program program;
	size_t number;
};

/** branch_probe_windows() - return the windows of a link */
static inline struct branch_window *branch_probe_windows(const struct branch_probe_link *link)
{
	return &link->program.windows[link->number * BRANCH_WINDOWS];
}

/**
 * struct branch_probe_sites - the breakpoints of some probes
 * @file:    descriptor of the file that contains them, owned by the structure; -1: none
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
 * branch_probe_find() - find the positions of breakpoints, and clear the link's windows
 * @ret:    out; closed by branch_probe_sites_close(), also after an error
 * @probes: of one process, at most BRANCH_WINDOWS. @targets and @next_branches are filled in for
 * probes that are in the same file and of the same kind as the first valid one; the others are
 * removed
 * @count:  in: number of @probes; out: number of the probes left
 * @link:   its windows will count, in the order of @probes
 *
 * Return: 0; -EINVAL if none can be probed; -EBUSY if a debugger has the process. It is also
 * -EBUSY if the process maps the code a second time (file_mapping_others()). -ENOTSUP on other
 * machines than x86-64; otherwise -errno (-ESRCH: no such process).
 */
int branch_probe_find(struct branch_probe_sites *ret, struct branch_probe *probes, size_t *count,
		      const struct branch_probe_link *link);

/**
 * branch_probe_own_site() - return the breakpoint of a function of this program
 * @ret: out; closed by branch_probe_sites_close() after success
 * @pid: a fork of this process, or this process
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
 * Return: the only descriptor that keeps them in place: they are removed when it is closed, or its
 * process exits. -EINVAL: the kernel does not support such links; otherwise -errno.
 */
int branch_probe_attach(const struct branch_probe_sites *sites, int program);

#endif
