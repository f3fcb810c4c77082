// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/peer_user.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/web/socket_address.h"

/* An address and a port in hexadecimal, as in the tables: the words of the address as in memory. */
#define END_BYTES 48

static void end_format(char text[END_BYTES], const union socket_address *address)
{
	uint32_t words[4];

	if (address->any.sa_family == AF_INET) {
		snprintf(text, END_BYTES, "%08" PRIX32 ":%04X", address->four.sin_addr.s_addr,
			 ntohs(address->four.sin_port));
		return;
	}
	memcpy(words, &address->six.sin6_addr, sizeof(words));
	snprintf(text, END_BYTES, "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 ":%04X",
		 words[0], words[1], words[2], words[3], ntohs(address->six.sin6_port));
}

/* Parse a line of the table: "0: LOCAL REMOTE STATE QUEUES TIMER RETRANSMITS UID ...". */
static bool line_matches(const char *line, const char *local, const char *remote, uid_t *ret)
{
	char ends[2][END_BYTES];
	unsigned int user;

	if (sscanf(line, " %*d: %47s %47s %*x %*x:%*x %*x:%*x %*x %u", ends[0], ends[1], &user) !=
		    3 ||
	    strcmp(ends[0], local) != 0 || strcmp(ends[1], remote) != 0)
		return false;
	*ret = (uid_t)user;
	return true;
}

int peer_user(int fd, uid_t *ret, struct error *err)
{
	union socket_address own = {.any.sa_family = AF_UNSPEC}, peer = own;
	socklen_t own_bytes = sizeof(own), peer_bytes = sizeof(peer);
	char local[END_BYTES], remote[END_BYTES], line[512];
	_cleanup_file_ FILE *table = NULL;
	const char *path;

	if (getsockname(fd, &own.any, &own_bytes) < 0 ||
	    getpeername(fd, &peer.any, &peer_bytes) < 0)
		return error_set_errno(err, "cannot read the addresses of a connection");
	path = own.any.sa_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6";
	table = fopen(path, "re");
	if (table == NULL)
		return error_set_errno(err, ERROR_OPEN, path);
	/* The peer's socket has the same addresses in the other order. */
	end_format(local, &peer);
	end_format(remote, &own);
	while (fgets(line, sizeof(line), table) != NULL) {
		if (line_matches(line, local, remote, ret))
			return 0;
	}
	return error_set(err, ENOENT, "the peer of a connection is unknown");
}
