// SPDX-License-Identifier: Apache-2.0
/* Kernel modules */
#include "modules.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"

void module_load(const char *path, const char *parameters)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0 || (syscall(SYS_finit_module, file, parameters, 0) && errno != EEXIST))
		log_line("module %s: %s", path, strerror(errno));
	if (file >= 0)
		close(file);
}
