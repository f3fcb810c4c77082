// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/opt_ranked.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/opt/opt_folder.h"
#include "tools/opt/opt_prepare.h"
#include "tools/opt/rank_listing.h"
#include "tools/report/cli.h"

/* A ranking has some hundred bytes for each image. */
#define RANKING_BYTES_MAX ((size_t)64 << 20)
#define BUILD_ID_DIGITS 8

/* struct ranked - a row of the ranking; texts belong to the JSON object */
struct ranked {
	const char *image;
	const char *build_id;
	const char *advice;
};

/* Start the ranking. Return: a stream of its output; NULL with errno. */
static FILE *ranking_start(int (*rank)(void *context), void *context, pid_t *child)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	fflush(stdout);
	*child = fork();
	if (*child == 0) {
		if (dup2(ends[1], STDOUT_FILENO) < 0)
			_exit(CLI_FAILED);
		close(ends[0]);
		close(ends[1]);
		exit(rank(context));
	}
	close(ends[1]);
	if (*child < 0) {
		close(ends[0]);
		return NULL;
	}
	return fdopen(ends[0], "r");
}

/* Read all of a stream. Return: malloc'd text; NULL: it is too long, or out of memory. */
static char *read_text(FILE *stream)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	char buffer[4096];
	size_t got;

	if (memory == NULL)
		return NULL;
	while ((got = fread(buffer, 1, sizeof(buffer), stream)) > 0 && bytes <= RANKING_BYTES_MAX) {
		fwrite(buffer, 1, got, memory);
		fflush(memory);
	}
	if (fclose(memory) != 0 || bytes > RANKING_BYTES_MAX)
		return NULL;
	return take_ptr(text);
}

/* Return: CLI_OK with the ranking in @ret, or the status of the process that made it. */
static int ranking_load(struct json_object **ret, int (*rank)(void *context), void *context,
			struct error *err)
{
	_cleanup_file_ FILE *stream = NULL;
	_cleanup_free_ char *text = NULL;
	int status = 0;
	pid_t child;

	stream = ranking_start(rank, context, &child);
	if (stream == NULL)
		return error_set_errno(err, ERROR_PROCESS);
	text = read_text(stream);
	fclose(take_ptr(stream));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != CLI_OK)
		return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
	if (text != NULL)
		*ret = json_tokener_parse(text);
	return *ret != NULL ? CLI_OK : error_set(err, EBADMSG, "the ranking cannot be read");
}

static const char *member_text(struct json_object *row, const char *key)
{
	struct json_object *member;

	return json_object_object_get_ex(row, key, &member) ? json_object_get_string(member) : NULL;
}

/* Return true if the folder has a copy of the present file. */
static bool is_prepared(const char *folder)
{
	struct opt_state state;
	char copy[PATH_MAX];

	return opt_folder_load(&state, folder, NULL) == 0 &&
	       opt_folder_verify(copy, &state, folder, NULL) == 0;
}

/* Return: the status of the preparation. */
static int prepare_row(struct cli *cli, const struct ranked *row, const char *folder)
{
	char path[PATH_MAX];
	int length;

	length = snprintf(path, sizeof(path), "%s%s%s-%.*s.opt", folder != NULL ? folder : "",
			  folder != NULL ? "/" : "", text_last_part(row->image), BUILD_ID_DIGITS,
			  row->build_id != NULL ? row->build_id : "");
	if (length >= (int)sizeof(path))
		return CLI_FAILED;
	if (is_prepared(path)) {
		printf("%s: prepared earlier\n", path);
		return CLI_OK;
	}
	return opt_prepare(cli, OPT_PREPARE_BOLT, row->image, path);
}

/* Return: the number of images that were prepared. */
static size_t prepare_rows(struct cli *cli, struct json_object *rows, const char *folder)
{
	size_t count = json_object_array_length(rows), prepared = 0;
	size_t limit = cli->limit > 0 ? cli->limit : OPT_RANKED_LIMIT;

	for (size_t i = 0; i < count; i++) {
		struct json_object *object = json_object_array_get_idx(rows, i);
		const struct ranked row = {
			.image = member_text(object, "image"),
			.build_id = member_text(object, "build_id"),
			.advice = member_text(object, "advice"),
		};

		if (row.image == NULL || row.advice == NULL)
			continue;
		if (strcmp(row.advice, RANK_ADVICE_PREPARE) != 0)
			printf("%s: %s\n", row.image, row.advice);
		else if (prepared == limit)
			printf("%s: not prepared: the limit is %zu\n", row.image, limit);
		else
			prepared += prepare_row(cli, &row, folder) == CLI_OK;
	}
	return prepared;
}

int opt_ranked_prepare(struct cli *cli, int (*rank)(void *context), void *context,
		       const char *folder)
{
	struct json_object *ranking = NULL, *rows = NULL;
	size_t prepared = 0;
	struct error err;
	int r;

	if (folder != NULL && mkdir(folder, 0777) < 0 && errno != EEXIST) {
		error_set_errno(&err, ERROR_CREATE, folder);
		return cli_fail(cli, &err);
	}
	r = ranking_load(&ranking, rank, context, &err);
	if (r == CLI_OK && json_object_object_get_ex(ranking, "rows", &rows) &&
	    json_object_is_type(rows, json_type_array))
		prepared = prepare_rows(cli, rows, folder);
	json_object_put(ranking);
	if (r < 0)
		return cli_fail(cli, &err);
	if (r == CLI_OK && prepared == 0)
		return CLI_NOTHING;
	return r;
}
