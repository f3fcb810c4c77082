// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/debug_server.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <unistd.h>

#include "analysis/image/debug_file.h"

typedef int (*find_fn)(void *client, const unsigned char *id, int id_bytes, char **path);

/* The client library is loaded on demand: few want it, and it loads curl. */
struct debuginfod_api {
	void *(*begin)(void);
	find_fn find[2]; /* by enum debug_server_kind */
	void (*end)(void *client);
};

static bool load_debuginfod(struct debuginfod_api *api)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return false;
	/* POSIX's method to get a function from a void pointer. */
	*(void **)&api->begin = dlsym(library, "debuginfod_begin");
	*(void **)&api->find[DEBUG_SERVER_EXECUTABLE] =
		dlsym(library, "debuginfod_find_executable");
	*(void **)&api->find[DEBUG_SERVER_DEBUGINFO] = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&api->end = dlsym(library, "debuginfod_end");
	return api->begin != NULL && api->find[0] != NULL && api->find[1] != NULL &&
	       api->end != NULL;
}

char *debug_server_find(enum debug_server_kind kind, const uint8_t *id, size_t bytes)
{
	struct debuginfod_api api = {0};
	char *path = NULL;
	void *client;
	int fd;

	if (bytes == 0 || bytes > DEBUG_FILE_BUILD_ID_BYTES_MAX || !load_debuginfod(&api))
		return NULL;
	client = api.begin();
	if (client == NULL)
		return NULL;
	fd = api.find[kind](client, id, (int)bytes, &path);
	api.end(client);
	if (fd < 0)
		return NULL;
	close(fd);
	return path;
}
