// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/opt_prepare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/image/elf_file.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "tools/base/text.h"
#include "tools/opt/bolt_candidate.h"
#include "tools/opt/bolt_run.h"
#include "tools/opt/opt_folder.h"
#include "tools/report/cli.h"

#define IDENTITY_DIGITS 8

/*
 * struct opt_input - a file for the build of a program
 * @format: of dcpiexport
 * @before, @after: text before and after its path: how to use the file
 */
struct opt_input {
	enum opt_prepare_for what;
	const char *format;
	const char *file;
	const char *before;
	const char *after;
};

static const struct opt_input inputs[] = {
	{OPT_PREPARE_AUTOFDO, "profgen", "profile.ranges",
	 "for clang: llvm-profgen --use-offset=0 --binary=PROGRAM --unsymbolized-profile=",
	 " --output=PROGRAM.prof && clang -fprofile-sample-use=PROGRAM.prof ..."},
	{OPT_PREPARE_AUTOFDO, "autofdo", "profile.autofdo",
	 "for GCC: create_gcov --profiler=text --gcov_version=2 --binary=PROGRAM --profile=",
	 " --gcov=PROGRAM.gcov && gcc -fauto-profile=PROGRAM.gcov ..."},
	{OPT_PREPARE_ORDER, "lld-order", "symbols.order",
	 "for lld: clang -ffunction-sections -fuse-ld=lld -Wl,--symbol-ordering-file=", " ..."},
	{OPT_PREPARE_ORDER, "gold-order", "sections.order",
	 "for gold: gcc -ffunction-sections -fuse-ld=gold -Wl,--section-ordering-file=", " ..."},
};

int opt_prepare_for_parse(enum opt_prepare_for *ret, const char *name, struct error *err)
{
	static const char *const names[] = {"bolt", "autofdo", "order"};
	size_t count = sizeof(names) / sizeof(*names);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum opt_prepare_for)i;
			return 0;
		}
	}
	return near_names_unknown(err, "optimizer", name, names, count);
}

/*
 * struct preparation - one program
 * @path:    of the program, without symbolic links
 * @pattern: selects this build of it in the database
 */
struct preparation {
	struct cli *cli;
	enum opt_prepare_for what;
	char path[PATH_MAX];
	char folder[PATH_MAX];
	char pattern[2 * PATH_MAX + IDENTITY_DIGITS + 4];
};

/* Make a pattern that matches only this path, and this build if it has a build-id. */
static void make_pattern(struct preparation *preparation, const struct elf_file *file)
{
	size_t length = 0, room = sizeof(preparation->pattern), bytes;
	const uint8_t *id;

	for (const char *c = preparation->path; *c != '\0'; c++) {
		if (strchr("*?[]\\", *c) != NULL)
			preparation->pattern[length++] = '\\';
		preparation->pattern[length++] = *c;
	}
	preparation->pattern[length] = '\0';
	bytes = elf_file_build_id(file, &id);
	if (bytes >= IDENTITY_DIGITS / 2)
		snprintf(preparation->pattern + length, room - length, " (%02x%02x%02x%02x)", id[0],
			 id[1], id[2], id[3]);
}

/* Return: 0; 1: it is not worth it, and the reason is printed; or -errno. */
static int inspect(struct preparation *preparation, struct error *err)
{
	struct elf_file file;
	const char *reason = NULL;
	int r = elf_file_open(&file, preparation->path, err);

	if (r < 0)
		return r;
	make_pattern(preparation, &file);
	if (preparation->what == OPT_PREPARE_BOLT)
		reason = bolt_candidate_reason(&file);
	elf_file_close(&file);
	if (reason != NULL)
		printf("%s: not worth it: %s\n", preparation->path, reason);
	return reason != NULL;
}

static int resolve(struct preparation *preparation, const char *image, const char *folder,
		   struct error *err)
{
	if (realpath(image, preparation->path) == NULL)
		return error_set_errno(err, ERROR_OPEN, image);
	for (const char *c = preparation->path; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == '\x7f')
			return error_set(err, EINVAL, "the path has control characters");
	}
	if (folder == NULL)
		snprintf(preparation->folder, PATH_MAX, "%.*s.opt", PATH_MAX - 5,
			 text_last_part(preparation->path));
	else if (snprintf(preparation->folder, PATH_MAX, "%s", folder) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, ERROR_CREATE, folder);
	return 0;
}

static int make_folder(const char *path, struct error *err)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return error_set_errno(err, ERROR_CREATE, path);
	return 0;
}

static int make_copy(struct preparation *preparation, struct bolt_run *run, struct error *err)
{
	struct opt_state state = {.pairs = 0};
	char copy[PATH_MAX];
	int r = opt_folder_path(copy, run->folder, OPT_FOLDER_COPY, err);

	memcpy(state.original, preparation->path, sizeof(state.original));
	if (r == 0)
		r = opt_file_digest(state.original_digest, preparation->path, err);
	if (r == 0)
		r = bolt_run_make(run, err);
	if (r == 0)
		r = opt_file_digest(state.copy_digest, copy, err);
	if (r == 0)
		r = opt_folder_store(&state, run->folder, err);
	if (r < 0)
		return r;
	printf("%s: optimised copy of '%s'\n", copy, preparation->path);
	if (run->skipped[0] != '\0' || run->unknown[0] != '\0')
		printf("functions that BOLT cannot rewrite: %s%s%s\n", run->skipped,
		       run->skipped[0] != '\0' && run->unknown[0] != '\0' ? "," : "", run->unknown);
	printf("next: dcpiopt check %s -- {} [ARGUMENT]...\n", run->folder);
	return 0;
}

static int make_inputs(const struct preparation *preparation, const struct bolt_run *run,
		       struct error *err)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(inputs) / sizeof(*inputs); i++) {
		if (inputs[i].what != preparation->what)
			continue;
		r = bolt_run_export(run, inputs[i].format, inputs[i].file, err);
		if (r == 0)
			r = opt_folder_path(path, run->folder, inputs[i].file, err);
		if (r < 0)
			break;
		printf("%s%s%s\n", inputs[i].before, path, inputs[i].after);
	}
	return r;
}

int opt_prepare(struct cli *cli, enum opt_prepare_for what, const char *image, const char *folder)
{
	struct preparation preparation = {.cli = cli, .what = what};
	struct bolt_run run = {
		.folder = preparation.folder,
		.database = cli->database,
		.image = preparation.path,
		.pattern = preparation.pattern,
	};
	struct error err = {0};
	int r = resolve(&preparation, image, folder, &err);

	if (r == 0)
		r = inspect(&preparation, &err);
	if (r > 0)
		return CLI_NOTHING;
	if (r == 0)
		r = make_folder(preparation.folder, &err);
	if (r == 0)
		r = what == OPT_PREPARE_BOLT ? make_copy(&preparation, &run, &err)
					     : make_inputs(&preparation, &run, &err);
	return r < 0 ? cli_fail(cli, &err) : CLI_OK;
}
