// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/jit_hint.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/u64_map.h"

#define PATTERNS 5
#define COMMAND_BYTES 64

/*
 * struct runtime - @commands: names of processes; @files: last parts of paths, patterns for
 * fnmatch(3)
 */
struct runtime {
	const char *name;
	const char *commands[PATTERNS];
	const char *files[PATTERNS];
	const char *advice;
};

static const struct runtime runtimes[JIT_HINT_RUNTIMES] = {
	{"Node.js",
	 {"node", "nodejs*", "node[0-9]*", "node-[0-9M]*", "MainThread"},
	 {"node", "nodejs*", "node[0-9]*", "node-[0-9]*", "libnode.so*"},
	 "for names, run 'node --perf-basic-prof'; for interpreted functions, add "
	 "'--interpreted-frames-native-stack'"},
	{"Deno", {"deno"}, {"deno"}, "for names, run 'deno run --v8-flags=--perf-basic-prof'"},
	{"Java",
	 {"java"},
	 {"java", "libjvm.so"},
	 "for names, run 'jcmd PID Compiler.perfmap' (JDK 17 or later) before the process ends, or "
	 "use a perf-map agent; '-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit' writes the "
	 "names only when the process ends"},
	{"Python",
	 {"python*"},
	 {"python[0-9]*", "libpython*"},
	 "for names of trampolines, run 'python3 -X perf' or set PYTHONPERFSUPPORT=1 (Python 3.12 "
	 "or later); for code of numba, set NUMBA_ENABLE_PROFILING=1"},
	{"Ruby",
	 {"ruby*"},
	 {"ruby*", "libruby*"},
	 "for names, run 'ruby --yjit --yjit-perf' (Ruby 3.3 or later)"},
	{".NET",
	 {"dotnet", ".NET*"},
	 {"dotnet", "libcoreclr.so", "libclrjit.so"},
	 "for names, set DOTNET_PerfMapEnabled=1 in its environment"},
	{"PHP",
	 {"php*"},
	 {"php*", "libphp*", "opcache.so"},
	 "for names, run 'php -d opcache.jit_debug=16'"},
	{"Erlang", {"beam.smp", "erl*"}, {"beam.smp"}, "for names, run 'erl +JPperf true'"},
	{"LuaJIT",
	 {"luajit*"},
	 {"luajit*", "libluajit*"},
	 "for names, build LuaJIT with LUAJIT_USE_PERFTOOLS"},
	{"Julia",
	 {"julia*"},
	 {"julia*", "libjulia*"},
	 "for names, set ENABLE_JITPROFILING=1 in its environment; Julia must be built with "
	 "USE_PERF_JITEVENTS"},
	{"Mono",
	 {"mono", "mono-*"},
	 {"mono", "mono-*", "libmono*"},
	 "for names, run 'mono --jitmap'"},
	{"Wasmtime", {"wasmtime"}, {"wasmtime"}, "for names, run 'wasmtime --profile=perfmap'"},
};

/* Return: the runtime of a command or file name, or -1. */
static int runtime_of(const char *name, bool command)
{
	for (int i = 0; i < JIT_HINT_RUNTIMES; i++) {
		const char *const *patterns = command ? runtimes[i].commands : runtimes[i].files;

		for (int k = 0; k < PATTERNS && patterns[k] != NULL; k++) {
			if (fnmatch(patterns[k], name, 0) == 0)
				return i;
		}
	}
	return -1;
}

/*
 * @image: image of the next profiles; @kind, @runtime: its kind, and the runtime that contains this
 *         file, or -1
 * @other: by epoch and process: samples of unknown code in processes whose command is not a
 *         runtime's
 * @known: by epoch and process: number of the runtime whose files the process uses, plus 1
 */
struct jit_walk {
	struct jit_hint *hint;
	struct profile_reader *reader;
	struct error *err;
	int64_t image;
	enum profile_image_kind kind;
	int runtime;
	struct u64_map other;
	struct u64_map known;
};

static uint64_t process_key(const struct profile *profile)
{
	return (uint64_t)profile->epoch << 32 | (uint32_t)profile->pid;
}

static int look_at_image(struct jit_walk *walk, int64_t id)
{
	struct profile_image image;
	int r = profile_reader_image(walk->reader, id, &image, walk->err);
	const char *name;

	if (r < 0)
		return r;
	name = strrchr(image.path, '/');
	walk->image = id;
	walk->kind = image.kind;
	walk->runtime = image.kind == PROFILE_IMAGE_FILE
				? runtime_of(name != NULL ? name + 1 : image.path, false)
				: -1;
	return 0;
}

static int count_unknown(struct jit_walk *walk, const struct profile *profile)
{
	char command[COMMAND_BYTES];
	uint64_t *other;
	int r, runtime;

	r = profile_reader_command(walk->reader, profile->epoch, profile->pid, command,
				   sizeof(command), walk->err);
	if (r < 0)
		return r;
	runtime = runtime_of(command, true);
	if (runtime >= 0) {
		walk->hint->unknown[runtime] += profile->total;
		return 0;
	}
	other = u64_map_insert(&walk->other, process_key(profile));
	if (other == NULL)
		return -ENOMEM;
	*other += profile->total;
	return 0;
}

static int take_total(void *context, const struct profile *profile)
{
	struct jit_walk *walk = context;
	uint64_t *known;

	if (profile->image != walk->image) {
		int r = look_at_image(walk, profile->image);

		if (r < 0)
			return r;
	}
	if (walk->kind == PROFILE_IMAGE_UNKNOWN)
		return profile->pid >= 0 ? count_unknown(walk, profile) : 0;
	if (walk->runtime < 0)
		return 0;
	walk->hint->images[walk->runtime] += profile->total;
	if (profile->pid < 0)
		return 0;
	known = u64_map_insert(&walk->known, process_key(profile));
	if (known == NULL)
		return -ENOMEM;
	*known = (uint64_t)walk->runtime + 1;
	return 0;
}

static void add_others(struct jit_walk *walk)
{
	size_t cursor = 0;
	uint64_t key, samples;

	while (u64_map_next(&walk->other, &cursor, &key, &samples)) {
		const uint64_t *known = u64_map_find(&walk->known, key);

		if (known != NULL)
			walk->hint->unknown[*known - 1] += samples;
	}
}

int jit_hint_load(struct jit_hint *hint, struct profile_reader *reader,
		  const struct profile_filter *filter, struct error *err)
{
	struct jit_walk walk = {.hint = hint, .reader = reader, .err = err};
	struct profile_filter all = filter != NULL ? *filter : (struct profile_filter){0};
	int r;

	/* The advice covers the whole epochs, as the rest of the header does. */
	all.event = NULL;
	all.image = 0;
	all.has_pid = 0;
	all.unit = all.container = NULL;
	all.ranges = NULL;
	r = profile_reader_totals(reader, &all, take_total, &walk, err);
	if (r == 0)
		add_others(&walk);
	u64_map_deinit(&walk.other);
	u64_map_deinit(&walk.known);
	return r;
}

int jit_hint_text(const struct jit_hint *hint, size_t runtime, uint64_t all, char **ret)
{
	uint64_t unknown = hint->unknown[runtime], images = hint->images[runtime];

	*ret = NULL;
	if (unknown == 0 || unknown < all / 100 ||
	    (double)unknown < 0.1 * ((double)unknown + (double)images))
		return 0;
	if (asprintf(ret,
		     "%" PRIu64 " samples, %.1f%%, are in code that %s generated at run time: %s",
		     unknown, all > 0 ? 100 * (double)unknown / (double)all : 0,
		     runtimes[runtime].name, runtimes[runtime].advice) < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}
