// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define FILE_BYTES 16384
#define CONTAINER_DIGITS 64

/** struct span - part of the text. */
struct span {
	const char *at;
	size_t bytes;
};

static bool starts(struct span span, const char *prefix)
{
	size_t bytes = strlen(prefix);

	return span.bytes >= bytes && memcmp(span.at, prefix, bytes) == 0;
}

static bool ends(struct span span, const char *suffix)
{
	size_t bytes = strlen(suffix);

	return span.bytes >= bytes && memcmp(span.at + span.bytes - bytes, suffix, bytes) == 0;
}

static bool is(struct span span, const char *text)
{
	return span.bytes == strlen(text) && starts(span, text);
}

static struct span without(struct span span, const char *prefix, const char *suffix)
{
	if (starts(span, prefix)) {
		span.at += strlen(prefix);
		span.bytes -= strlen(prefix);
	}
	if (ends(span, suffix))
		span.bytes -= strlen(suffix);
	return span;
}

/* Take the part of @rest before @separator, or all of @rest. Return: false if @rest was empty. */
static bool next_part(struct span *rest, char separator, struct span *part)
{
	const char *end;

	if (rest->bytes == 0)
		return false;
	end = memchr(rest->at, separator, rest->bytes);
	part->at = rest->at;
	part->bytes = end != NULL ? (size_t)(end - rest->at) : rest->bytes;
	rest->at += part->bytes + (end != NULL);
	rest->bytes -= part->bytes + (end != NULL);
	return true;
}

static void cgroup_append(char name[CGROUP_NAME_BYTES], struct span span)
{
	size_t used = strlen(name), i;

	for (i = 0; i < span.bytes && used < CGROUP_NAME_BYTES - 1; i++)
		name[used++] = iscntrl((unsigned char)span.at[i]) ? '?' : span.at[i];
	name[used] = '\0';
}

static void cgroup_set(char name[CGROUP_NAME_BYTES], struct span span)
{
	name[0] = '\0';
	cgroup_append(name, span);
}

/* systemd writes characters that are not allowed in unit names as \xHH. */
static void unescape(char *name)
{
	unsigned int byte;
	char *to = name;

	for (; *name != '\0'; name++) {
		if (name[0] == '\\' && name[1] == 'x' && isxdigit((unsigned char)name[2]) &&
		    isxdigit((unsigned char)name[3]) && sscanf(name + 2, "%2x", &byte) == 1) {
			*to++ = iscntrl((int)byte) ? '?' : (char)byte;
			name += 3;
		} else {
			*to++ = *name;
		}
	}
	*to = '\0';
}

static bool is_unit(struct span part)
{
	static const char *const suffixes[] = {".service", ".scope", ".socket", ".mount", ".swap"};
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (ends(part, suffixes[i]) && part.bytes > strlen(suffixes[i]))
			return true;
	}
	return false;
}

/*
 * Find 64 hexadecimal digits at the end of a name. Names of a container's monitor (conmon) do not
 * count.
 */
static bool digits_find(struct span part, struct span *id)
{
	struct span name = without(part, "", ".scope");
	size_t i, before;

	if (name.bytes < CONTAINER_DIGITS)
		return false;
	before = name.bytes - CONTAINER_DIGITS;
	id->at = name.at + before;
	id->bytes = CONTAINER_DIGITS;
	for (i = 0; i < CONTAINER_DIGITS; i++) {
		if (strchr("0123456789abcdef", id->at[i]) == NULL || id->at[i] == '\0')
			return false;
	}
	if (before == 0)
		return true;
	name.bytes = before;
	return strchr("-:_", name.at[before - 1]) != NULL && !ends(name, "conmon-");
}

/* @before: the preceding part of the path. */
static bool container_find(struct span part, struct span before, struct span *id)
{
	if (digits_find(part, id))
		return true;
	*id = part;
	if (is(before, "lxc") || is(before, "lxc.payload"))
		return true;
	if (starts(part, "lxc.payload."))
		*id = without(part, "lxc.payload.", "");
	else if (starts(part, "systemd-nspawn@") && ends(part, ".service"))
		*id = without(part, "systemd-nspawn@", ".service");
	else if (starts(part, "machine-") && ends(part, ".scope"))
		*id = without(part, "machine-", ".scope");
	else
		return false;
	return id->bytes > 0;
}

static void path_parse(struct cgroup *cgroup, struct span path)
{
	struct span part, id, before = {"", 0}, user = {"", 0}, unit = {"", 0};

	while (next_part(&path, '/', &part)) {
		if (part.bytes == 0 || is(part, ".."))
			continue;
		if (container_find(part, before, &id)) {
			cgroup_set(cgroup->container, id);
			unescape(cgroup->container);
			user.bytes = 0;
		}
		before = part;
		/* systemd puts a "_" before file names that are reserved in cgroupfs. */
		part = without(part, "_", "");
		/*
		 * init.scope belongs to a manager itself. In a user's manager, the unit is the
		 * manager's service.
		 */
		if (!is_unit(part) || (is(part, "init.scope") && unit.bytes > 0))
			continue;
		unit = part;
		if (starts(part, "user@"))
			user = part;
	}
	cgroup->unit[0] = '\0';
	if (user.bytes > 0 && user.at != unit.at) {
		cgroup_append(cgroup->unit, user);
		cgroup_append(cgroup->unit, (struct span){"/", 1});
	}
	cgroup_append(cgroup->unit, unit);
}

/* Parse "HIERARCHY:CONTROLLERS:PATH"; a path may contain colons. */
static bool line_parse(struct span line, struct span *controllers, struct span *path)
{
	struct span hierarchy;

	if (!next_part(&line, ':', &hierarchy) || !next_part(&line, ':', controllers))
		return false;
	*path = without(line, "", " (deleted)");
	return path->bytes > 0 && path->at[0] == '/';
}

/*
 * systemd's own hierarchy has precedence: the named one in version 1, the only one in version 2. In
 * hybrid mode both contain the same paths. The other hierarchies only supply a unit or container
 * that systemd's lacks: a container manager may use only some controllers.
 */
void cgroup_parse(struct cgroup *ret, const char *text, size_t bytes)
{
	struct span rest = {text, bytes}, line, controllers, path;
	struct cgroup other;

	memset(ret, 0, sizeof(*ret));
	while (next_part(&rest, '\n', &line)) {
		if (!line_parse(line, &controllers, &path) || is(path, "/"))
			continue;
		memset(&other, 0, sizeof(other));
		path_parse(&other, path);
		if (controllers.bytes == 0 || is(controllers, "name=systemd")) {
			if (other.unit[0] != '\0')
				memcpy(ret->unit, other.unit, sizeof(ret->unit));
			if (other.container[0] != '\0')
				memcpy(ret->container, other.container, sizeof(ret->container));
			continue;
		}
		if (ret->unit[0] == '\0')
			memcpy(ret->unit, other.unit, sizeof(ret->unit));
		if (ret->container[0] == '\0')
			memcpy(ret->container, other.container, sizeof(ret->container));
	}
}

int cgroup_read(struct cgroup *ret, uint32_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[64], text[FILE_BYTES];
	size_t bytes = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + bytes, sizeof(text) - bytes)) > 0)
		bytes += (size_t)n;
	if (n < 0)
		return -errno;
	cgroup_parse(ret, text, bytes);
	return 0;
}
