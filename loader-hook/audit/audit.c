// SPDX-License-Identifier: GPL-2.0-only
/*
 * libdcpi-audit.so: reports to the daemon which objects the dynamic loader maps and where, through
 * LD_AUDIT (rtld-audit(7)).
 *
 * The library runs in foreign processes. It has no C library, because the loader would load a
 * second one: no malloc, no errno, no thread-local memory. It reads no memory that may fault, never
 * blocks, and makes no system call for which seccomp might kill the process. A descriptor is open
 * only while a datagram is sent.
 *
 * The objects that a dlopen() or the start of a program loads form one batch. It is sent when all
 * of them are loaded, before any of their code runs. Without a daemon a batch costs one system
 * call.
 */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader-hook/audit/audit_message.h"
#include "loader-hook/audit/datagram.h"
#include "loader-hook/audit/host_process.h"
#include "loader-hook/audit/loaded_object.h"
#include "loader-hook/build_id.h"

#define HOOK __attribute__((visibility("default")))

/*
 * Cookie of an object: its page range, or COOKIE_PROGRAM. COOKIE_NONE: its range was not reported.
 */
#define COOKIE_NONE 0
#define COOKIE_PROGRAM 1
#define COOKIE_PAGE_SHIFT 12
#define COOKIE_START_BITS 36
#define COOKIE_PAGES_BITS 28

/* ELF header of this library. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

enum batch {
	BATCH_NONE,	  /* nothing has been loaded or unloaded */
	BATCH_REPORTED,	  /* the batch is being put into the datagram */
	BATCH_UNREPORTED, /* no daemon listens, or sending is not safe */
};

/*
 * The loader calls one hook at a time, except while the process exits.
 *
 * @busy:     a hook is active
 * @program:  link map of the program, after it was seen
 * @ended:    the program ends: objects closed now stay mapped
 * @begun_ns: time when this library was loaded
 */
static struct {
	bool busy;
	bool ended;
	enum batch batch;
	const struct link_map *program;
	uint64_t begun_ns;
	struct host_process host;
	struct datagram datagram;
} audit;

/*
 * Return: false if another hook is active. The skipped sequence number makes the daemon notice that
 * an event was not reported.
 */
static bool enter(void)
{
	if (!__atomic_test_and_set(&audit.busy, __ATOMIC_ACQUIRE))
		return true;
	__atomic_fetch_add(&audit.datagram.sequence, 1, __ATOMIC_RELAXED);
	return false;
}

static void leave(void)
{
	__atomic_clear(&audit.busy, __ATOMIC_RELEASE);
}

/* Return true if the current batch is to be reported; decided at its first event. */
static bool is_reporting(void)
{
	bool silent;

	if (audit.batch == BATCH_NONE) {
		silent = audit.datagram.socket[0] == '\0' ||
			 !host_process_has_file(audit.datagram.socket) ||
			 host_process_is_filtered();
		audit.batch = silent ? BATCH_UNREPORTED : BATCH_REPORTED;
	}
	return audit.batch == BATCH_REPORTED;
}

static void batch_end(void)
{
	struct audit_message *head = &audit.datagram.message.head;

	if (audit.batch == BATCH_UNREPORTED)
		audit.datagram.sequence++;
	else if (audit.datagram.used > 0 && (head->flags & AUDIT_MESSAGE_BEGINS))
		head->age_ns = host_process_now_ns() - audit.begun_ns;
	datagram_send(&audit.datagram);
	audit.batch = BATCH_NONE;
}

/* Report one segment. Return: NULL if the path is too long. */
static const struct audit_record *text_report(const ElfW(Phdr) * segment, uintptr_t bias,
					      const struct build_id *build_id, const char *path)
{
	struct audit_record *record = datagram_record(&audit.datagram, AUDIT_RECORD_MAP, path);
	uint64_t mask = audit.host.page_bytes - 1;

	if (record == NULL)
		return NULL;
	/* The loader maps whole pages. */
	record->start = (bias + segment->p_vaddr) & ~mask;
	record->length =
		((bias + segment->p_vaddr + segment->p_memsz + mask) & ~mask) - record->start;
	record->file_offset = segment->p_offset & ~mask;
	record->build_id_bytes = (uint8_t)build_id->bytes;
	__builtin_memcpy(record->build_id, build_id->data, build_id->bytes);
	return record;
}

/*
 * Return the cookie of an object whose first executable page is at @start and whose last one ends
 * at @end.
 */
static uintptr_t cookie_of(uint64_t start, uint64_t end)
{
	uint64_t page = start >> COOKIE_PAGE_SHIFT;
	uint64_t pages = (end >> COOKIE_PAGE_SHIFT) - page;

	if (page >> COOKIE_START_BITS != 0 || pages >> COOKIE_PAGES_BITS != 0)
		return COOKIE_NONE;
	return page << COOKIE_PAGES_BITS | pages;
}

/* Report the executable segments of an object. Return: its cookie. */
static uintptr_t object_report(const struct loaded_object *object, const char *path)
{
	uint64_t start = UINT64_MAX, end = 0;
	const ElfW(Phdr) * segment;
	struct build_id build_id;
	size_t i = 0;

	if (!loaded_object_build_id(object, &build_id)) {
		datagram_flag(&audit.datagram, AUDIT_MESSAGE_INCOMPLETE);
		return COOKIE_NONE;
	}
	while ((segment = loaded_object_text(object, &i)) != NULL) {
		const struct audit_record *record =
			text_report(segment, object->bias, &build_id, path);

		if (record == NULL) {
			datagram_flag(&audit.datagram, AUDIT_MESSAGE_INCOMPLETE);
			return COOKIE_NONE;
		}
		start = record->start < start ? record->start : start;
		end = record->start + record->length;
	}
	return end > start ? cookie_of(start, end) : COOKIE_NONE;
}

static void header_report(uintptr_t header, const char *path)
{
	struct loaded_object object;

	if (loaded_object_at_header(&object, header, header))
		object_report(&object, path);
	else
		datagram_flag(&audit.datagram, AUDIT_MESSAGE_INCOMPLETE);
}

static void program_report(const struct link_map *map)
{
	struct loaded_object object;
	char path[4096], command[16];

	if (host_process_program(path, sizeof(path)) == 0)
		path[0] = '\0';
	host_process_command(command);
	datagram_record(&audit.datagram, AUDIT_RECORD_PROGRAM, path);
	datagram_record(&audit.datagram, AUDIT_RECORD_COMMAND, command);
	datagram_flag(&audit.datagram, AUDIT_MESSAGE_BEGINS);
	/* In "ld.so PROGRAM" the kernel knows only the loader. */
	if (path[0] != '\0' && audit.host.interpreter != 0 &&
	    loaded_object_at_segments(&object, audit.host.segments, audit.host.segment_count,
				      map->l_addr))
		object_report(&object, path);
	else
		datagram_flag(&audit.datagram, AUDIT_MESSAGE_INCOMPLETE);
	/* Some loaders call a hook for the vDSO, others do not; none does for this library. */
	if (audit.host.vdso != 0)
		header_report(audit.host.vdso, "[vdso]");
	if (audit.host.audit != NULL)
		header_report((uintptr_t)&__ehdr_start, audit.host.audit);
}

HOOK unsigned int la_version(unsigned int version)
{
	if (!host_process_read(&audit.host) || audit.host.secure || audit.host.page_bytes == 0)
		return 0;
	datagram_set_socket(&audit.datagram,
			    audit.host.socket != NULL ? audit.host.socket : AUDIT_SOCKET);
	audit.begun_ns = host_process_now_ns();
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* The first object is the program. */
HOOK unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	struct loaded_object object;
	bool is_program = false;

	(void)lmid;
	*cookie = COOKIE_NONE;
	if (!enter())
		return 0;
	if (audit.program == NULL) {
		audit.program = map;
		is_program = true;
		*cookie = COOKIE_PROGRAM;
	}
	if (is_reporting()) {
		if (is_program)
			program_report(map);
		else if (map->l_addr == audit.host.vdso)
			; /* reported with the program, by its name */
		else if (loaded_object_at_header(&object, map->l_addr, map->l_addr))
			*cookie = object_report(&object, map->l_name);
		else
			datagram_flag(&audit.datagram, AUDIT_MESSAGE_INCOMPLETE);
	}
	leave();
	return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as the loader declares it */
HOOK unsigned int la_objclose(uintptr_t *cookie)
{
	struct audit_record *record;

	if (!enter())
		return 0;
	audit.ended |= *cookie == COOKIE_PROGRAM;
	if (audit.ended || !is_reporting()) {
		/* no event to report, or no daemon */
	} else if (*cookie == COOKIE_NONE) {
		datagram_flag(&audit.datagram, AUDIT_MESSAGE_INCOMPLETE);
	} else {
		record = datagram_record(&audit.datagram, AUDIT_RECORD_UNMAP, NULL);
		record->start = (uint64_t)*cookie >> COOKIE_PAGES_BITS << COOKIE_PAGE_SHIFT;
		record->length = ((uint64_t)*cookie & ((1ULL << COOKIE_PAGES_BITS) - 1))
				 << COOKIE_PAGE_SHIFT;
	}
	leave();
	return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as the loader declares it */
HOOK void la_activity(uintptr_t *cookie, unsigned int flag)
{
	(void)cookie;
	if (flag != LA_ACT_CONSISTENT || !enter())
		return;
	if (audit.batch != BATCH_NONE)
		batch_end();
	leave();
}
