// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/profiler_class.h"

#include <fnmatch.h>
#include <string.h>

#include "lib/error.h"
#include "lib/profiler_file.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* All BPF programs of dcpid and their subprograms have this prefix, after a tag. */
static const char own_bpf[] = "bpf_prog_*_dcpi_*";

/* The kernel executes these only to place, hit or remove a uprobe. */
static const char *const uprobe_procedures[] = {
	"uprobe_*",	      "uprobes_*",
	"*_uprobe",	      "*_uprobe_rcu",
	"__uprobe_*",	      "arch_uprobe_*",
	"arch_uretprobe_*",   "handle_swbp",
	"find_active_uprobe", "bpf_get_attach_cookie_uprobe_multi",
	"handler_chain",      "handle_singlestep",
	"pre_ssout",	      "xol_*",
};

/* The kernel executes these for each trap; samples are delayed until they enable interrupts. */
static const char *const trap_procedures[] = {
	"irqentry_exit_to_user_mode",
	"exit_to_user_mode_prepare",
	"exit_to_user_mode_loop",
	"irqentry_exit",
	"exc_int3",
	"asm_exc_int3",
	"exc_debug_user",
	"noist_exc_debug",
	"irqentry_enter_from_user_mode",
	"el0_dbg",
	"el0_brk64",
	"do_notify_resume",
};

/*
 * The kernel executes these to sample, to report mappings, or to call a BPF program that does so:
 * for dcpid, and for other programs that use perf or BPF.
 */
static const char *const sampling_procedures[] = {
	"perf_*",
	"__perf_*",
	"x86_pmu_*",
	"intel_pmu_*",
	"amd_pmu_*",
	"armv8pmu_*",
	"event_sched_in",
	"event_sched_out",
	"ctx_sched_in",
	"ctx_sched_out",
	"bpf_overflow_handler",
	"bpf_perf_event_*",
	"bpf_ringbuf_*",
	"__bpf_ringbuf_*",
	"__bpf_prog_enter*",
	"__bpf_prog_exit*",
	"bpf_trace_run*",
	"trace_call_bpf",
	"bpf_trampoline_*",
};

/* The kernel halts a CPU without work in these, or waits for work in a loop. */
static const char *const idle_procedures[] = {
	"*_safe_halt*",	  "acpi_idle_do_entry", "acpi_processor_ffh_cstate_enter",
	"amd_e400_idle",  "arch_cpu_idle",	"cpu_do_idle",
	"cpu_idle_poll*", "default_idle",	"default_idle_call",
	"intel_idle*",	  "mwait_idle*",	"poll_idle",
};

static bool matches(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	}
	return false;
}

static bool probes_in_all(enum profiler_probes probes)
{
	return probes == PROFILER_PROBES_ALL || probes == PROFILER_PROBES_ALL_APART;
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t bytes = strlen(path), end = strlen(suffix);

	return bytes >= end && strcmp(path + bytes - end, suffix) == 0;
}

static enum profiler_class class_in_kernel(const char *path, const char *procedure,
					   enum profiler_probes probes)
{
	if (has_suffix(path, PROFILE_PROBES_SUFFIX))
		return PROFILER_WHOLE;
	if (procedure != NULL && matches(procedure, idle_procedures, COUNT(idle_procedures)))
		return PROFILER_IDLE;
	if (procedure != NULL &&
	    matches(procedure, sampling_procedures, COUNT(sampling_procedures)))
		return PROFILER_PART;
	if (procedure == NULL || probes == PROFILER_PROBES_NONE)
		return PROFILER_NONE;
	if (matches(procedure, uprobe_procedures, COUNT(uprobe_procedures)))
		return probes_in_all(probes) ? PROFILER_WHOLE : PROFILER_PART;
	if (probes == PROFILER_PROBES_SOME_APART || probes == PROFILER_PROBES_ALL_APART)
		return PROFILER_NONE;
	return matches(procedure, trap_procedures, COUNT(trap_procedures)) ? PROFILER_PART
									   : PROFILER_NONE;
}

static bool is_bpf(const struct profile_image *image)
{
	return image->kind == PROFILE_IMAGE_JIT && strcmp(image->path, "[bpf]") == 0;
}

bool profiler_class_needs_procedures(const struct profile_image *image, enum profiler_probes probes,
				     const struct included_samples *include)
{
	if (image->kind == PROFILE_IMAGE_KERNEL)
		return !include->idle || (!include->profiler && probes_in_all(probes));
	return is_bpf(image) && !include->profiler;
}

enum profiler_class profiler_class_of(const struct profile_image *image, const char *procedure,
				      enum profiler_probes probes)
{
	const char *slash = strrchr(image->path, '/');
	const char *name = slash != NULL ? slash + 1 : image->path;

	switch (image->kind) {
	case PROFILE_IMAGE_KERNEL:
		return class_in_kernel(image->path, procedure, probes);
	case PROFILE_IMAGE_MODULE:
		return fnmatch("dcpi.ko*", name, 0) == 0 ? PROFILER_WHOLE : PROFILER_NONE;
	case PROFILE_IMAGE_FILE:
		return profiler_file_is_program(name) || strcmp(name, "libdcpi-audit.so") == 0
			       ? PROFILER_WHOLE
			       : PROFILER_NONE;
	case PROFILE_IMAGE_JIT:
		if (procedure == NULL || !is_bpf(image))
			return PROFILER_NONE;
		if (fnmatch(own_bpf, procedure, 0) == 0)
			return PROFILER_WHOLE;
		return matches(procedure, sampling_procedures, COUNT(sampling_procedures))
			       ? PROFILER_PART
			       : PROFILER_NONE;
	default:
		return PROFILER_NONE;
	}
}

const char *profiler_class_mark(enum profiler_class class)
{
	static const char *const marks[] = {
		[PROFILER_NONE] = "",
		[PROFILER_PART] = " [profiler, in part]",
		[PROFILER_WHOLE] = " [profiler]",
		[PROFILER_IDLE] = " [idle]",
	};

	return marks[class];
}

struct probe_walk {
	struct profile_reader *reader;
	struct error *err;
	size_t epochs;
	size_t with_probes;
	size_t apart;
	bool found;
	bool found_apart;
};

static int take_counter(void *context, const struct profile_counter *counter)
{
	struct probe_walk *walk = context;

	if (strcmp(counter->group, "stat") == 0 && strcmp(counter->name, "probes") == 0 &&
	    counter->count > 0)
		walk->found = true;
	if (strcmp(counter->group, "stat") == 0 && strcmp(counter->name, "probe_samples") == 0)
		walk->found_apart = true;
	return 0;
}

static int take_epoch(void *context, const struct profile_epoch *epoch)
{
	struct probe_walk *walk = context;
	int r;

	walk->found = walk->found_apart = false;
	r = profile_reader_counters(walk->reader, epoch, take_counter, walk, walk->err);
	walk->epochs++;
	walk->with_probes += walk->found;
	walk->apart += walk->found && walk->found_apart;
	return r;
}

int profiler_probes_load(enum profiler_probes *ret, struct profile_reader *reader,
			 const struct profile_filter *filter, struct error *err)
{
	struct probe_walk walk = {.reader = reader, .err = err};
	int r = profile_reader_epochs(reader, filter, take_epoch, &walk, err);

	if (r < 0)
		return r;
	*ret = PROFILER_PROBES_NONE;
	if (walk.with_probes == 0)
		return 0;
	if (walk.with_probes == walk.epochs)
		*ret = walk.apart == walk.epochs ? PROFILER_PROBES_ALL_APART : PROFILER_PROBES_ALL;
	else
		*ret = walk.apart == walk.with_probes ? PROFILER_PROBES_SOME_APART
						      : PROFILER_PROBES_SOME;
	return 0;
}
