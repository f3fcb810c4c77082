/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Image events of the whole machine from a BPF program (loader-hook/bpf/image_watch.bpf.c): fork,
 * exec, exit, names, executable memory mapped and unmapped.
 *
 * In addition to the side band's data, the program records the kernel's exec count with each event,
 * so that a sample with an exec count cannot be matched with another generation. It also records
 * unmappings, and enough data to recognise a file without opening it.
 *
 * Losses (hook_losses.h). A record that finds the ring full is lost and counted by type; its
 * process is remembered and read from /proc at the next drain. Two kinds of losses concern all
 * processes: too many processes lost records, or the kernel skipped the program because it had
 * interrupted the same program on the same CPU. In both cases the events of all processes are
 * incomplete (IMAGE_EVENT_LOST), and all processes are read from /proc, at most once a second.
 *
 * Undetected losses: if only kprobes are available (bpf_hook_attached()), kernels before 6.7 do not
 * count the times they skipped a program. They skip it on a CPU while a task that was changing a
 * BPF map is preempted there, which is rare.
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
 * Return: 0; -EPERM without CAP_BPF and CAP_PERFMON; -EOPNOTSUPP: the kernel has no BTF, or this is
 * not the initial PID namespace; else the kernel's error.
 */
int bpf_hook_open(struct bpf_hook **ret, struct error *err);

/** bpf_hook_close() - detach and unload the program; @hook may be NULL */
void bpf_hook_close(struct bpf_hook *hook);

/** bpf_hook_poll_fd() - descriptor that is readable when many records wait */
int bpf_hook_poll_fd(struct bpf_hook *hook);

/** bpf_hook_attached() - return how the program is attached: "fentry", "dcpi.ko" or "kprobes" */
const char *bpf_hook_attached(const struct bpf_hook *hook);

/** bpf_hook_refuse() - as side_band_refuse() */
void bpf_hook_refuse(struct bpf_hook *hook, image_event_refuse_fn refuses, void *context);

/**
 * bpf_hook_drain() - deliver the recorded events
 *
 * Return: as side_band_drain().
 */
uint64_t bpf_hook_drain(struct bpf_hook *hook, image_event_fn handle, void *context);

/**
 * bpf_hook_must_scan() - return true if events of unnamed processes may have been lost
 *
 * Return: true if, since the last call, an IMAGE_EVENT_LOST without a process was reported and all
 * processes must be read from /proc.
 */
bool bpf_hook_must_scan(struct bpf_hook *hook);

/** bpf_hook_lost() - number of events lost so far: refused by a full ring, or not recorded */
uint64_t bpf_hook_lost(const struct bpf_hook *hook);

#endif
