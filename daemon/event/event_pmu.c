// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event_pmu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/event/event_name.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define PATH_BYTES 512
#define FILE_BYTES 1024
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

/* The encoding under construction; @used: bits that a term has set already. */
struct encoding {
	const char *devices;
	const char *pmu;
	struct event_code code;
	uint64_t used[3];
};

/* A parsed "config1:0-7,32-35": the config word, and its bits from least to most significant. */
struct format {
	unsigned int word;
	unsigned int width;
	unsigned char bit[64];
};

static bool name_valid(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length < EVENT_PMU_NAME_BYTES && name[0] != '.' &&
	       strspn(name, NAME_LETTERS) == length;
}

/* Next to an event x there may be files x.unit etc. that describe x; these are not events. */
static bool event_name_valid(const char *name)
{
	static const char *const about[] = {".unit", ".scale", ".snapshot", ".per-pkg"};
	const char *dot = strrchr(name, '.');
	size_t i;

	for (i = 0; i < sizeof(about) / sizeof(about[0]) && dot != NULL; i++) {
		if (strcmp(dot, about[i]) == 0)
			return false;
	}
	return name_valid(name);
}

/* Read the first line of a small file. Return: 0; -ENOENT; -EINVAL if there is no such line. */
static int line_read(const struct encoding *encoding, const char *folder, const char *name,
		     char line[FILE_BYTES])
{
	char path[PATH_BYTES];
	_cleanup_close_ int fd = -1;
	struct stat status;
	ssize_t bytes;

	if (snprintf(path, sizeof(path), "%s/%s/%s%s", encoding->devices, encoding->pmu, folder,
		     name) >= (int)sizeof(path))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) < 0)
		return -ENOENT;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	bytes = read(fd, line, FILE_BYTES);
	if (bytes <= 0 || bytes == FILE_BYTES || memchr(line, '\0', (size_t)bytes) != NULL)
		return -EINVAL;
	line[bytes] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

/* Parse the whole text as digits, hexadecimal after "0x", otherwise decimal. */
static bool number_parse(const char *text, uint64_t *ret)
{
	bool hex = strncasecmp(text, "0x", 2) == 0;
	const char *digits = hex ? text + 2 : text;
	char *end;

	if (digits[0] == '\0' || digits[strspn(digits, "0123456789abcdefABCDEF")] != '\0')
		return false;
	errno = 0;
	*ret = strtoull(digits, &end, hex ? 16 : 10);
	return errno == 0 && *end == '\0';
}

static bool range_add(struct format *format, char *range)
{
	char *dash = strchr(range, '-');
	uint64_t first, last;

	if (dash != NULL)
		*dash = '\0';
	if (!number_parse(range, &first))
		return false;
	last = first;
	if (dash != NULL && !number_parse(dash + 1, &last))
		return false;
	if (first > last || last > 63)
		return false;
	for (; first <= last; first++) {
		if (format->width == 64)
			return false;
		format->bit[format->width++] = (unsigned char)first;
	}
	return true;
}

static bool word_parse(const char *name, unsigned int *word)
{
	static const char *const words[] = {"config", "config1", "config2"};

	for (*word = 0; *word < 3; ++*word) {
		if (strcmp(name, words[*word]) == 0)
			return true;
	}
	return false;
}

static bool format_parse(struct format *format, char *line)
{
	char *colon = strchr(line, ':'), *range, *rest;

	*format = (struct format){.width = 0};
	if (colon == NULL)
		return false;
	*colon = '\0';
	if (!word_parse(line, &format->word))
		return false;
	rest = colon + 1;
	while ((range = strsep(&rest, ",")) != NULL) {
		if (!range_add(format, range))
			return false;
	}
	return format->width > 0;
}

static int bits_set(struct encoding *encoding, const char *term, unsigned int word, uint64_t mask,
		    uint64_t value, struct error *err)
{
	if ((encoding->used[word] & mask) != 0)
		return error_set(err, EINVAL, "'%s/%s/' sets the same bits twice", encoding->pmu,
				 term);
	encoding->used[word] |= mask;
	encoding->code.config[word] |= value;
	return 0;
}

static int format_apply(struct encoding *encoding, const char *term, const struct format *format,
			uint64_t value, struct error *err)
{
	uint64_t mask = 0, scattered = 0;
	unsigned int i;

	if (format->width < 64 && value >> format->width != 0)
		return error_set(err, EINVAL, "'%s/%s/': the value is above %llu", encoding->pmu,
				 term, (1ULL << format->width) - 1);
	for (i = 0; i < format->width; i++) {
		mask |= 1ULL << format->bit[i];
		scattered |= (value >> i & 1) << format->bit[i];
	}
	return bits_set(encoding, term, format->word, mask, scattered, err);
}

/* Apply a term that is not an event. */
static int value_apply(struct encoding *encoding, const char *term, const char *text,
		       struct error *err)
{
	char line[FILE_BYTES];
	struct event_code raw;
	struct format format;
	uint64_t value = 1;
	unsigned int word;
	int rc;

	if (text != NULL && !number_parse(text, &value))
		return error_set(err, EINVAL, "'%s/%s=%s/': the value is not a number",
				 encoding->pmu, term, text);
	if (text != NULL && word_parse(term, &word))
		return bits_set(encoding, term, word, value, value, err);
	rc = name_valid(term) ? line_read(encoding, "format/", term, line) : -ENOENT;
	if (rc == 0)
		rc = format_parse(&format, line) ? 0 : -EINVAL;
	if (rc == 0)
		return format_apply(encoding, term, &format, value, err);
	if (rc == -EINVAL)
		return error_set(err, EINVAL, "the format of '%s/%s/' is malformed", encoding->pmu,
				 term);
	if (text == NULL && event_name_raw(term, &raw))
		return bits_set(encoding, term, 0, raw.config[0], raw.config[0], err);
	return error_set(err, EINVAL, "'%s/%s/': the PMU has no such %s", encoding->pmu, term,
			 text != NULL ? "term" : "event or term");
}

/* Apply the terms of an event's file. They may not be events, or an event could refer to itself. */
static int event_apply(struct encoding *encoding, const char *event, char *line, struct error *err)
{
	char *rest = line, *term;
	int rc = 0;

	while (rc == 0 && (term = strsep(&rest, ",")) != NULL) {
		char *value = strchr(term, '=');

		if (value != NULL)
			*value++ = '\0';
		if (value != NULL && strcmp(value, "?") == 0)
			return error_set(err, EINVAL, "'%s/%s/' needs parameters: use its terms",
					 encoding->pmu, event);
		rc = value_apply(encoding, term, value, err);
	}
	if (event_code_scale(event) == EVENT_RARE)
		encoding->code.scale = EVENT_RARE;
	return rc;
}

static int term_apply(struct encoding *encoding, char *term, struct error *err)
{
	char *value = strchr(term, '=');
	char line[FILE_BYTES];
	int rc;

	if (value != NULL) {
		*value++ = '\0';
		return value_apply(encoding, term, value, err);
	}
	rc = event_name_valid(term) ? line_read(encoding, "events/", term, line) : -ENOENT;
	if (rc == 0)
		return event_apply(encoding, term, line, err);
	if (rc == -EINVAL)
		return error_set(err, EINVAL, "event '%s/%s/' is malformed", encoding->pmu, term);
	return value_apply(encoding, term, NULL, err);
}

static int pmu_begin(struct encoding *encoding, const char *devices, const char *pmu,
		     struct error *err)
{
	char line[FILE_BYTES];
	uint64_t type;
	int rc;

	*encoding = (struct encoding){.devices = devices, .pmu = pmu};
	rc = name_valid(pmu) ? line_read(encoding, "type", "", line) : -ENOENT;
	if (rc == -ENOENT)
		return error_set(err, ENOENT, "this machine has no PMU '%s'", pmu);
	if (rc < 0 || !number_parse(line, &type) || type > UINT32_MAX)
		return error_set(err, EINVAL, "the type of PMU '%s' is malformed", pmu);
	encoding->code.type = (uint32_t)type;
	encoding->code.scale = EVENT_CLOCK;
	return 0;
}

int event_pmu_parse(const char *devices, const char *text, struct event_code *ret,
		    struct error *err)
{
	_cleanup_free_ char *copy = strdup(text);
	struct encoding encoding;
	char *terms, *end, *term;
	int rc;

	if (copy == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	terms = strchr(copy, '/');
	end = terms != NULL ? strchr(terms + 1, '/') : NULL;
	if (end == NULL || end[1] != '\0')
		return error_set(err, EINVAL, "'%s' is not of the form PMU/TERMS/", text);
	*terms++ = '\0';
	*end = '\0';
	if (pmu_begin(&encoding, devices, copy, err) < 0)
		return -EINVAL;
	while ((term = strsep(&terms, ",")) != NULL) {
		rc = term_apply(&encoding, term, err);
		if (rc < 0)
			return rc;
	}
	*ret = encoding.code;
	return 0;
}

/* Read the names in a directory in sorted order, so that the result is deterministic. */
static int names_read(const char *directory, struct dirent ***ret)
{
	int count = scandir(directory, ret, NULL, alphasort);

	if (count < 0)
		*ret = NULL;
	return count;
}

static void names_free(struct dirent **names, int count)
{
	int i;

	for (i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* Return: -ENOENT if the PMU does not have the event. */
static int event_of(const char *devices, const char *pmu, const char *name, struct event_code *ret,
		    struct error *err)
{
	struct encoding encoding;
	char line[FILE_BYTES];
	int rc;

	if (pmu_begin(&encoding, devices, pmu, NULL) < 0 ||
	    line_read(&encoding, "events/", name, line) == -ENOENT)
		return -ENOENT;
	/* Parse the event by its full name, so that error messages are the same. */
	rc = snprintf(line, sizeof(line), "%s/%s/", pmu, name);
	return rc < (int)sizeof(line) ? event_pmu_parse(devices, line, ret, err) : -ENOENT;
}

int event_pmu_find(const char *devices, const char *name, struct event_code *ret, struct error *err)
{
	struct dirent **pmus;
	int count, i, rc = -ENOENT;

	if (!event_name_valid(name))
		return -ENOENT;
	count = names_read(devices, &pmus);
	for (i = 0; i < count && rc == -ENOENT; i++)
		rc = event_of(devices, pmus[i]->d_name, name, ret, err);
	names_free(pmus, count);
	return rc;
}

static void events_visit(const char *devices, const char *pmu, event_visit_fn visit, void *context)
{
	char path[PATH_BYTES], name[PATH_BYTES];
	struct event_code code;
	struct dirent **events;
	int count, i;

	if (!name_valid(pmu) ||
	    snprintf(path, sizeof(path), "%s/%s/events", devices, pmu) >= (int)sizeof(path))
		return;
	count = names_read(path, &events);
	for (i = 0; i < count; i++) {
		if (!event_name_valid(events[i]->d_name))
			continue;
		if (snprintf(name, sizeof(name), "%s/%s/", pmu, events[i]->d_name) <
			    (int)sizeof(name) &&
		    event_pmu_parse(devices, name, &code, NULL) == 0)
			visit(context, name, &code, "described by the kernel");
	}
	names_free(events, count);
}

void event_pmu_visit(const char *devices, event_visit_fn visit, void *context)
{
	struct dirent **pmus;
	int count = names_read(devices, &pmus), i;

	for (i = 0; i < count; i++)
		events_visit(devices, pmus[i]->d_name, visit, context);
	names_free(pmus, count);
}

/* Core PMUs other than x86's have a "cpus" file; the kernel offers no more direct indication. */
static bool pmu_is_core(const char *devices, const char *pmu)
{
	struct encoding encoding = {.devices = devices, .pmu = pmu};
	char line[FILE_BYTES];

	return strcmp(pmu, "cpu") == 0 || line_read(&encoding, "cpus", "", line) == 0;
}

void event_pmu_of(const char *devices, uint32_t type, event_pmu_name_fn visit, void *context)
{
	bool generic =
		type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
	struct encoding encoding;
	struct dirent **pmus;
	int count, i;

	if (type == PERF_TYPE_SOFTWARE)
		return;
	count = names_read(devices, &pmus);
	for (i = 0; i < count; i++) {
		const char *pmu = pmus[i]->d_name;

		if (pmu_begin(&encoding, devices, pmu, NULL) < 0)
			continue;
		if (encoding.code.type == type || (generic && pmu_is_core(devices, pmu)))
			visit(context, pmu);
	}
	names_free(pmus, count);
}
