/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Image events of the whole machine from a BPF program
 * (loader-hook/bpf/image_watch.bpf.c): fork, exec, exit, names, executable
 * memory mapped and unmapped.
 *
 * Beyond what the side band tells: the kernel's exec count with each event, so
 * that samples which carry it cannot be matched with another one; what was
 * unmapped; and what is needed to recognise a file without opening it.
 *
 * Losses (hook_losses.h). A record that finds the ring full is lost, and counted by
 * type; its process is kept, and read anew from /proc at the next drain. If there are
 * too many of these, or if the kernel did not run the program (it does not run one
 * that it has interrupted on the same CPU), nothing is known of any process up to then
 * (IMAGE_EVENT_LOST), and all are read, once a second at most.
 *
 * What nobody tells: where kprobes had to do (bpf_hook_attached()), kernels before 6.7 do
 * not count the times they left a program out. They do so where a task has the CPU taken
 * from it while it changes some BPF map, until it goes on: hardly ever.
 */
#ifndef DCPI_BPF_HOOK_H
#define DCPI_BPF_HOOK_H

#include "loader-hook/image_event.h"

struct bpf_hook;
struct error;

/**
 * bpf_hook_open() - load and attach the program
 * @ret: out; freed by bpf_hook_close()
 *
 * Return: 0; -EPERM without CAP_BPF and CAP_PERFMON; -EOPNOTSUPP a kernel
 * without BTF, or of another PID namespace; else the kernel's error.
 */
int bpf_hook_open(struct bpf_hook **ret, struct error *err);

/** bpf_hook_close() - NULL is fine. */
void bpf_hook_close(struct bpf_hook *hook);

/** bpf_hook_poll_fd() - readable when much is waiting. */
int bpf_hook_poll_fd(struct bpf_hook *hook);

/** bpf_hook_attached() - who calls the program: "fentry", "dcpi.ko" or "kprobes". */
const char *bpf_hook_attached(const struct bpf_hook *hook);

/**
 * bpf_hook_drain() - deliver what has been recorded
 *
 * Return: as side_band_drain().
 */
uint64_t bpf_hook_drain(struct bpf_hook *hook, image_event_fn handle, void *context);

/**
 * bpf_hook_must_scan() - Return: whether events of processes that IMAGE_EVENT_LOST did not name
 * may be missing since the last call
 */
bool bpf_hook_must_scan(struct bpf_hook *hook);

/** bpf_hook_lost() - events lost so far, for want of room, and not recorded at all. */
uint64_t bpf_hook_lost(const struct bpf_hook *hook);

#endif
