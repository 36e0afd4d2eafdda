// SPDX-License-Identifier: Apache-2.0
/* Network interfaces */
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/route.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"

static bool control(unsigned long request, void *with)
{
	int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool done = handle >= 0 && !ioctl(handle, (int)request, with);
	int kept = errno;

	if (handle >= 0)
		close(handle);
	errno = kept;
	return done;
}

static struct ifreq named(const char *interface)
{
	struct ifreq request;

	memset(&request, 0, sizeof request);
	strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
	return request;
}

static void put_address(struct sockaddr *to, uint32_t address)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };

	memcpy(to, &in, sizeof in);
}

bool network_up(const char *interface, int wait_ms)
{
	struct ifreq request = named(interface);

	while (!control(SIOCGIFFLAGS, &request)) {
		if (errno != ENODEV || wait_ms <= 0) {
			log_line("network interface %s: %s", interface, strerror(errno));
			return false;
		}
		usleep(10000);
		wait_ms -= 10;
	}
	request.ifr_flags |= IFF_UP | IFF_RUNNING;
	return control(SIOCSIFFLAGS, &request);
}

static bool set_default_route(uint32_t gateway)
{
	struct rtentry route;

	memset(&route, 0, sizeof route);
	put_address(&route.rt_dst, 0);
	put_address(&route.rt_genmask, 0);
	put_address(&route.rt_gateway, gateway);
	route.rt_flags = RTF_UP | RTF_GATEWAY;
	return control(SIOCADDRT, &route) || errno == EEXIST;
}

bool network_set(const char *interface, const struct network *network)
{
	struct ifreq request = named(interface);
	bool done;

	put_address(&request.ifr_addr, network->address);
	done = control(SIOCSIFADDR, &request);
	if (done && network->address) {
		request = named(interface);
		put_address(&request.ifr_netmask, network->mask);
		done = control(SIOCSIFNETMASK, &request);
	}
	if (!done)
		log_line("network interface %s: the address is refused: %s", interface, strerror(errno));
	else if (network->address && network->gateway && !set_default_route(network->gateway))
		log_line("network interface %s: the gateway is refused: %s", interface, strerror(errno));
	return done;
}

bool network_hardware(const char *interface, uint8_t address[6])
{
	struct ifreq request = named(interface);

	if (!control(SIOCGIFHWADDR, &request))
		return false;
	memcpy(address, request.ifr_hwaddr.sa_data, 6);
	return true;
}

void network_loopback(void)
{
	static const struct network own = { 0x7f000001, 0xff000000, 0 };

	if (network_up("lo", 0))
		network_set("lo", &own);
}

static bool get_address(const char *text, uint32_t *address)
{
	struct in_addr found;

	if (inet_pton(AF_INET, text, &found) != 1)
		return false;
	*address = ntohl(found.s_addr);
	return true;
}

bool network_of(const char *address, const char *gateway, struct network *network)
{
	char text[24];
	char *bits;
	int length;

	memset(network, 0, sizeof *network);
	strncpy(text, address, sizeof text - 1);
	text[sizeof text - 1] = '\0';
	bits = strchr(text, '/');
	if (!bits)
		return false;
	*bits++ = '\0';
	length = atoi(bits);
	if (length < 1 || length > 32 || !get_address(text, &network->address))
		return false;
	network->mask = UINT32_MAX << (32 - length);
	return !*gateway || get_address(gateway, &network->gateway);
}
