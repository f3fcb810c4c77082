// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/code/code_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"

#define READS_MAX 4

static const struct code_source_ops *const suppliers[] = {
	&code_source_bpf_ops,
	&code_source_kcore_ops,
};

static int supplier_open(struct code_source **ret, const struct code_source_ops *ops,
			 uint64_t address, struct error *err)
{
	struct code_source *source = NULL;
	uint8_t byte;
	int r = ops->open(&source, err);

	if (r < 0)
		return r;
	r = ops->read(source, address, &byte, sizeof(byte));
	if (r < 0) {
		ops->close(source);
		return error_set(err, -r, "%s", strerror(-r));
	}
	*ret = source;
	return 0;
}

int code_source_open(struct code_source **ret, uint64_t address, struct error *err)
{
	char reasons[384] = "";
	size_t length = 0;

	for (size_t i = 0; i < sizeof(suppliers) / sizeof(suppliers[0]); i++) {
		struct error why = {.message = ""};
		int n;

		if (supplier_open(ret, suppliers[i], address, &why) == 0)
			return 0;
		n = snprintf(reasons + length, sizeof(reasons) - length, "%s%s: %s",
			     i > 0 ? "; " : "", suppliers[i]->name, why.message);
		if (n > 0 && (size_t)n < sizeof(reasons) - length)
			length += (size_t)n;
	}
	return error_set(err, EACCES, "%s", reasons);
}

void code_source_close(struct code_source *source)
{
	if (source != NULL)
		source->ops->close(source);
}

int code_source_read(struct code_source *source, uint64_t address, void *buffer, size_t bytes)
{
	_cleanup_free_ void *again = malloc(bytes);
	int r = again != NULL ? source->ops->read(source, address, buffer, bytes) : -ENOMEM;

	for (int i = 1; r == 0 && i < READS_MAX; i++) {
		r = source->ops->read(source, address, again, bytes);
		if (r == 0 && memcmp(buffer, again, bytes) == 0)
			return 0;
		memcpy(buffer, again, bytes);
	}
	return r < 0 ? r : -EAGAIN;
}
