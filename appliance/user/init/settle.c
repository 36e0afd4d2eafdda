// SPDX-License-Identifier: Apache-2.0
/* Executes the lines of the settings in order */
#include "settle.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dhcp.h"
#include "disks.h"
#include "forward.h"
#include "keyboard.h"
#include "log.h"
#include "mirror.h"
#include "modules.h"
#include "network.h"
#include "nfsd.h"
#include "services.h"
#include "volume.h"
#include "words.h"

enum { WORD = 256, INTERFACE_MS = 3000, DISK_MS = 5000 };

static char interface[16] = "eth0", hostname[65] = "nas";
static uint32_t syslog_server;
static int address_told[2] = { -1, -1 };

static void run_dhcp(void)
{
	dhcp_run(interface, address_told[1]);
}

static void run_forward(void)
{
	forward_log(syslog_server, hostname);
}

/* "INTERFACE dhcp" or "INTERFACE ADDRESS/BITS [GATEWAY]" */
static void set_network(const char *line)
{
	char address[WORD], gateway[WORD] = "";
	struct network network;

	if (words_next(&line, interface, sizeof interface) <= 0 || words_next(&line, address, sizeof address) <= 0)
		return;
	words_next(&line, gateway, sizeof gateway);
	if (!network_up(interface, INTERFACE_MS))
		return;
	if (!strcmp(address, "dhcp")) {
		if (pipe2(address_told, O_CLOEXEC)) /* not inherited by programs */
			return;
		service_add_function("dhcp", run_dhcp);
		services_start();
	} else if (network_of(address, gateway, &network)) {
		network_set(interface, &network);
	} else {
		log_line("network %s %s: not understood", address, gateway);
	}
}

/* "DEVICE FOLDER KIND rw|ro [OPTIONS]" */
static void set_disk(const char *line)
{
	char device[WORD], folder[WORD], kind[WORD], how[WORD], options[WORD] = "";

	if (words_next(&line, device, WORD) <= 0 || words_next(&line, folder, WORD) <= 0 ||
	    words_next(&line, kind, WORD) <= 0 || words_next(&line, how, WORD) <= 0)
		return;
	words_next(&line, options, WORD);
	if (disk_wait(device, DISK_MS))
		disk_mount(device, folder, kind, options, !strcmp(how, "ro"));
	else
		log_line("%s: is not there; nothing is at %s", device, folder);
}

static void load(const char *line)
{
	char path[WORD];

	if (words_next(&line, path, sizeof path) > 0)
		module_load(path, line + strspn(line, " "));
}

static void set_hostname(const char *line)
{
	if (words_next(&line, hostname, sizeof hostname) > 0 && sethostname(hostname, strlen(hostname)))
		log_line("hostname %s: is refused", hostname);
}

/* "ADDRESS" of the server */
static void set_syslog(const char *line)
{
	struct network server;
	char address[WORD], all[WORD + 4];

	if (words_next(&line, address, sizeof address) <= 0)
		return;
	snprintf(all, sizeof all, "%s/32", address);
	if (!network_of(all, "", &server))
		return;
	syslog_server = server.address;
	service_add_function("syslog", run_forward);
}

static void set_mirror(const char *line)
{
	static int before;

	mirror_start(line);
	if (!before++)
		service_add_function("mirrors", mirror_watch);
}

static void set_volume(const char *line)
{
	volume_start(line);
}

static void set_nfsd(const char *line)
{
	services_start(); /* from here on exportd answers the kernel */
	if (!nfsd_start(line))
		log_line("the NFS server does not run");
}

static void set_service(const char *line)
{
	service_add(line, false);
}

static void set_keyboard(const char *line)
{
	(void)line;
	service_add_function("keyboard", keyboard_run);
}

static void set_console(const char *line)
{
	service_add(line, true);
}

static const struct {
	const char *word;
	void (*carry_out)(const char *line);
} known[] = {
	{ "hostname", set_hostname }, { "module", load },	    { "network", set_network },
	{ "syslog", set_syslog },     { "mirror", set_mirror },	    { "disk", set_disk },
	{ "nfsd", set_nfsd },	      { "service", set_service },   { "console", set_console },
	{ "keyboard", set_keyboard }, { "volume", set_volume },
};

void settle_line(void *unused, const char *line)
{
	char word[WORD];

	(void)unused;
	if (words_next(&line, word, sizeof word) <= 0)
		return;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].word, word)) {
			known[i].carry_out(line);
			return;
		}
	if (strcmp(word, "export")) /* exportd reads the exports */
		log_line("the settings have a line of an unknown kind: %s", word);
}

int settle_wait_address(int wait_ms)
{
	struct pollfd polled = { address_told[0], POLLIN, 0 };

	return address_told[0] < 0 || poll(&polled, 1, wait_ms) > 0;
}
