// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power cuts. "N SEED" written to /sys/devices/platform/media_nand/cut: the power goes during the N-th program or erase
 * from then on, at a moment within it that SEED decides, and what it was about is torn as fb_bus_cut() says. From then
 * on reads fail and nothing changes, until the module is loaded again, which is when the power comes back. Read, the
 * file says which it is: none, armed, off.
 *
 * Failures. "N" written to fail_programs beside it: the next N programs report that they failed, as on a worn block,
 * whatever they are about. For tests of what a file system does then.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/math64.h>

#include "../../media/src/random.h"
#include "media_nand.h"

static u64 programs(const struct media_nand *mn)
{
	return fb_medium_counters(mn->medium)->flash_programmed_pages;
}

static u64 changes(const struct media_nand *mn)
{
	return programs(mn) + fb_medium_counters(mn->medium)->flash_erased_blocks;
}

static void cut(struct media_nand *mn, u8 command, u64 now_ns)
{
	u64 busy_ns = mn->bus.ready_ns - now_ns, after_ns;

	div64_u64_rem(mn->cut_seed * FB_SPLITMIX_STEP >> 16, busy_ns + 1, &after_ns);
	fb_bus_cut(&mn->bus, now_ns + after_ns, mn->cut_seed);
	mn->off = true;
	pr_info("the power went %llu ns after command %02xh, of %llu ns, at address %*ph\n", after_ns, command, busy_ns,
		(int)mn->bus.cycles, mn->bus.address);
}

void media_nand_command(struct media_nand *mn, u8 command, u64 now_ns)
{
	u64 before = changes(mn), programs_before = programs(mn);

	fb_bus_command(&mn->bus, command, now_ns);
	if (mn->fail_programs && programs(mn) != programs_before) {
		mn->fail_programs--;
		mn->program_failed = true;
	}
	if (mn->cut_in && changes(mn) != before && !--mn->cut_in)
		cut(mn, command, now_ns);
}

static ssize_t cut_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct media_nand *mn = dev_get_drvdata(dev);

	return sysfs_emit(text, "%s\n", mn->off ? "off" : mn->cut_in ? "armed" : "none");
}

static ssize_t cut_store(struct device *dev, struct device_attribute *attribute, const char *text, size_t count)
{
	struct media_nand *mn = dev_get_drvdata(dev);
	u64 in, seed;

	if (sscanf(text, "%llu %llu", &in, &seed) != 2 || !in)
		return -EINVAL;
	mn->cut_seed = seed;
	mn->cut_in = in;
	return count;
}

static DEVICE_ATTR_RW(cut);

static ssize_t fail_programs_store(struct device *dev, struct device_attribute *attribute, const char *text,
				   size_t count)
{
	struct media_nand *mn = dev_get_drvdata(dev);
	int err = kstrtou32(text, 0, &mn->fail_programs);

	return err ? err : count;
}

static DEVICE_ATTR_WO(fail_programs);

static struct attribute *files[] = { &dev_attr_cut.attr, &dev_attr_fail_programs.attr, NULL };

const struct attribute_group power_group = { .attrs = files };
