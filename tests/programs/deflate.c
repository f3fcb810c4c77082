// SPDX-License-Identifier: GPL-2.0-only
/* Compress the beginning of a file with zlib and decompress it again. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static unsigned char in[200000], packed[300000], out[200000];

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	uLongf packed_bytes = sizeof(packed), out_bytes = sizeof(out);
	size_t bytes = file != NULL ? fread(in, 1, sizeof(in), file) : 0;

	if (bytes == 0 || compress2(packed, &packed_bytes, in, bytes, 9) != Z_OK ||
	    uncompress(out, &out_bytes, packed, packed_bytes) != Z_OK || out_bytes != bytes ||
	    memcmp(in, out, bytes) != 0)
		return 1;
	printf("%zu %lu %lx\n", bytes, packed_bytes, crc32(0, packed, (uInt)packed_bytes));
	fclose(file);
	return 0;
}
