// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define BTF_BYTES_MAX (256U << 20)
#define KIND_TYPE_TAG 18
#define RESOLVE_MAX 16

/*
 * struct types - a validated BTF file
 * @offsets: of the types in @data, indexed by type number - 1
 */
struct types {
	const uint8_t *data;
	uint32_t bytes;
	const char *strings;
	uint32_t string_bytes;
	uint32_t *offsets;
	uint32_t count;
};

/* Return the number of bytes after the common part of a type; -1 if the kind is unknown. */
static int64_t type_extra(uint32_t info)
{
	/* Indexed by kind. The size is per element if the kind's bit in @elements is set. */
	static const uint8_t sizes[] = {0, 4, 0, 12, 12, 12, 8, 0, 0, 0,
					0, 0, 0, 8,  4,	 12, 0, 4, 0, 12};
	static const uint32_t elements = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 13 | 1 << 15 | 1 << 19;
	uint32_t kind = BTF_INFO_KIND(info);

	if (kind == 0 || kind >= sizeof(sizes))
		return -1;
	return (int64_t)sizes[kind] * ((elements >> kind & 1) != 0 ? BTF_INFO_VLEN(info) : 1);
}

static const struct btf_type *type_at(const struct types *types, uint32_t number)
{
	if (number == 0 || number > types->count)
		return NULL;
	return (const void *)(types->data + types->offsets[number - 1]);
}

static const char *string_at(const struct types *types, uint32_t offset)
{
	return offset < types->string_bytes ? types->strings + offset : "";
}

static int types_index(struct types *types)
{
	uint32_t at = 0;

	types->offsets = malloc((types->bytes / sizeof(struct btf_type) + 1) * sizeof(uint32_t));
	if (types->offsets == NULL)
		return -ENOMEM;
	while (types->bytes - at >= sizeof(struct btf_type)) {
		const struct btf_type *type = (const void *)(types->data + at);
		int64_t extra = type_extra(type->info);

		if (extra < 0 || extra > types->bytes - at - (int64_t)sizeof(*type))
			return -EINVAL;
		types->offsets[types->count++] = at;
		at += (uint32_t)(sizeof(*type) + (size_t)extra);
	}
	return at == types->bytes ? 0 : -EINVAL;
}

/* @data must be at least as aligned as a uint32_t. */
static int types_check(struct types *types, const uint8_t *data, size_t bytes)
{
	const struct btf_header *header = (const void *)data;
	uint64_t begin;

	if (bytes < sizeof(*header) || header->magic != BTF_MAGIC ||
	    header->version != BTF_VERSION || header->hdr_len < sizeof(*header))
		return -EINVAL;
	begin = header->hdr_len;
	if ((begin + header->type_off) % 4 != 0 ||
	    begin + header->type_off + header->type_len > bytes || header->str_len == 0 ||
	    begin + header->str_off + header->str_len > bytes)
		return -EINVAL;
	types->data = data + begin + header->type_off;
	types->bytes = header->type_len;
	types->strings = (const char *)data + begin + header->str_off;
	types->string_bytes = header->str_len;
	if (types->strings[types->string_bytes - 1] != '\0')
		return -EINVAL;
	return types_index(types);
}

static const struct btf_type *struct_find(const struct types *types, const char *name)
{
	for (uint32_t i = 1; i <= types->count; i++) {
		const struct btf_type *type = type_at(types, i);

		if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT &&
		    strcmp(string_at(types, type->name_off), name) == 0)
			return type;
	}
	return NULL;
}

static const struct btf_member *member_find(const struct types *types, const struct btf_type *type,
					    const char *name)
{
	const struct btf_member *members = (const void *)(type + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		if (strcmp(string_at(types, members[i].name_off), name) == 0)
			return &members[i];
	}
	return NULL;
}

/* Follow typedefs and qualifiers, which do not change the layout. */
static const struct btf_type *type_resolve(const struct types *types, uint32_t number)
{
	const struct btf_type *type = type_at(types, number);

	for (int i = 0; type != NULL && i < RESOLVE_MAX; i++) {
		uint32_t kind = BTF_INFO_KIND(type->info);

		if (kind != BTF_KIND_TYPEDEF && kind != BTF_KIND_VOLATILE &&
		    kind != BTF_KIND_CONST && kind != KIND_TYPE_TAG)
			return type;
		type = type_at(types, type->type);
	}
	return NULL;
}

/* Return: the number of a member's type in @ret; -ENOENT if the type is not supported. */
static int member_type(struct btf *ret, const struct types *types, uint32_t number)
{
	const struct btf_type *type = type_resolve(types, number);
	const char *name;

	if (type == NULL)
		return -ENOENT;
	name = string_at(types, type->name_off);
	if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT)
		return btf__find_by_name_kind(ret, name, BTF_KIND_STRUCT);
	if (BTF_INFO_KIND(type->info) != BTF_KIND_INT)
		return -ENOENT;
	return btf__add_int(ret, name, type->size,
			    (int)BTF_INT_ENCODING(*(const uint32_t *)(const void *)(type + 1)));
}

static int struct_add(struct btf *ret, const struct types *types,
		      const struct kernel_struct *wanted)
{
	const struct btf_type *type = struct_find(types, wanted->name);
	const struct btf_member *members[KERNEL_STRUCT_MEMBERS];
	int numbers[KERNEL_STRUCT_MEMBERS], count, r;

	if (type == NULL)
		return -ENOENT;
	for (count = 0; count < KERNEL_STRUCT_MEMBERS && wanted->members[count] != NULL; count++) {
		members[count] = member_find(types, type, wanted->members[count]);
		if (members[count] == NULL)
			return -ENOENT;
		numbers[count] = member_type(ret, types, members[count]->type);
		if (numbers[count] < 0)
			return numbers[count];
	}
	/* The members must be added directly after the structure. */
	r = btf__add_struct(ret, wanted->name, type->size);
	for (int i = 0; r >= 0 && i < count; i++) {
		bool bits = BTF_INFO_KFLAG(type->info) &&
			    BTF_MEMBER_BITFIELD_SIZE(members[i]->offset) != 0;
		uint32_t offset = BTF_INFO_KFLAG(type->info)
					  ? BTF_MEMBER_BIT_OFFSET(members[i]->offset)
					  : members[i]->offset;

		r = bits ? -ENOENT : btf__add_field(ret, wanted->members[i], numbers[i], offset, 0);
	}
	return r < 0 ? r : 0;
}

/* Return: 0 or -errno. */
static int file_read(int fd, uint8_t *data, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t more = read(fd, data + done, bytes - done);

		if (more <= 0)
			return more < 0 ? -errno : -EINVAL;
		done += (size_t)more;
	}
	return 0;
}

/*
 * Since Linux 6.16 the kernel's types can be mapped, which takes no time. On earlier kernels, huge
 * pages avoid a thousand page faults. Return: 0 or -errno; @ret is for munmap().
 */
static int file_map(const char *path, uint8_t **ret, size_t *bytes)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *data;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (status.st_size <= 0 || status.st_size > BTF_BYTES_MAX)
		return -EINVAL;
	*bytes = (size_t)status.st_size;
	data = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data != MAP_FAILED) {
		*ret = data;
		return 0;
	}
	data = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return -ENOMEM;
	madvise(data, *bytes, MADV_HUGEPAGE);
	r = file_read(fd, data, *bytes);
	if (r < 0)
		munmap(data, *bytes);
	else
		*ret = data;
	return r;
}

static int types_write(const struct btf *btf)
{
	_cleanup_close_ int fd = memfd_create("kernel types", MFD_CLOEXEC);
	const void *data;
	uint32_t bytes;

	if (fd < 0)
		return -errno;
	data = btf__raw_data(btf, &bytes);
	if (data == NULL)
		return -ENOMEM;
	if (write(fd, data, bytes) != (ssize_t)bytes)
		return -EIO;
	return take_fd(fd);
}

static int types_take(const struct types *types, const struct kernel_struct *wanted, size_t count)
{
	struct btf *btf = btf__new_empty();
	int r = btf == NULL ? -ENOMEM : 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = struct_add(btf, types, &wanted[i]);
	if (r == 0)
		r = types_write(btf);
	btf__free(btf);
	return r;
}

int kernel_types_open(const char *path, const struct kernel_struct *wanted, size_t count)
{
	struct types types = {.count = 0};
	uint8_t *data = NULL;
	size_t bytes = 0;
	int r = file_map(path, &data, &bytes);

	if (r < 0)
		return r;
	r = types_check(&types, data, bytes);
	if (r == 0)
		r = types_take(&types, wanted, count);
	free(types.offsets);
	munmap(data, bytes);
	return r;
}
