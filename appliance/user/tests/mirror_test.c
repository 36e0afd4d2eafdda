// SPDX-License-Identifier: Apache-2.0
/* Where superblocks of arrays are looked for */
#include "mirror.h"

#include <unistd.h>

#include "test.h"

static const uint64_t SIZE = 1000 * 1024 + 512;

static bool version_with_magic_at(uint64_t at, struct mirror_version *version)
{
	uint32_t magic = 0xa92b4efc;
	FILE *file = tmpfile();
	bool found;

	CHECK(file && !ftruncate(fileno(file), (off_t)SIZE));
	CHECK(pwrite(fileno(file), &magic, sizeof magic, (off_t)at) == sizeof magic);
	found = mirror_version_of(fileno(file), SIZE, version);
	fclose(file);
	return found;
}

/* Places as md(4) has them */
static void superblocks_are_found(void)
{
	struct mirror_version version;

	CHECK(version_with_magic_at(960 * 1024 - 65536, &version) && version.major == 0 && version.minor == 90);
	CHECK(version_with_magic_at(0, &version) && version.major == 1 && version.minor == 1);
	CHECK(version_with_magic_at(4096, &version) && version.major == 1 && version.minor == 2);
	CHECK(version_with_magic_at(1000 * 1024 - 8192, &version) && version.major == 1 && version.minor == 0);
	CHECK(!version_with_magic_at(8192, &version));
}

const struct test mirror_tests[] = {
	TEST(superblocks_are_found),
	END_OF_TESTS,
};
