// SPDX-License-Identifier: Apache-2.0
/* One program under two names: shared code is in the image once */
#include <stdio.h>
#include <string.h>

#include "exportd.h"
#include "init.h"

int main(int count, char **arguments)
{
	const char *slash = count ? strrchr(arguments[0], '/') : NULL;
	const char *name = slash ? slash + 1 : count ? arguments[0] : "";

	if (!strcmp(name, "exportd"))
		return exportd_main(count, arguments);
	if (!strcmp(name, "init"))
		return init_main(count, arguments);
	fputs("call this as init or exportd\n", stderr);
	return 2;
}
