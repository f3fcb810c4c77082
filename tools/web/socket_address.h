/* SPDX-License-Identifier: GPL-2.0-only */
/* The address of a TCP socket, of either version of IP. */
#ifndef DCPI_SOCKET_ADDRESS_H
#define DCPI_SOCKET_ADDRESS_H

#include <netinet/in.h>

union socket_address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

#endif
