// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power cuts. "N SEED" written to the file cut of debugfs: the power goes during the N-th program
 * or erase from then on, at a moment within it that SEED decides, and what it was about is torn as
 * fb_bus_cut() says. From then on reads fail and nothing changes, until the module is loaded again,
 * which is when the power comes back. Read, the file says which it is: none, armed, off.
 *
 * Failures. "N" written to fail_programs beside it: the next N programs report that they failed, as
 * on a worn block, whatever they are about. For tests of what a file system does then.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "../../media/src/random.h"
#include "media_nand.h"

static u64 media_nand_programs(const struct media_nand *mn)
{
	return fb_medium_counters(mn->medium)->flash_programmed_pages;
}

static u64 media_nand_changes(const struct media_nand *mn)
{
	return media_nand_programs(mn) + fb_medium_counters(mn->medium)->flash_erased_blocks;
}

static void media_nand_cut(struct media_nand *mn, u8 command, u64 now_ns)
{
	u64 busy_ns = mn->bus.ready_ns - now_ns, after_ns;

	div64_u64_rem(mn->cut_seed * FB_SPLITMIX_STEP >> 16, busy_ns + 1, &after_ns);
	fb_bus_cut(&mn->bus, now_ns + after_ns, mn->cut_seed);
	mn->off = true;
	dev_info(&mn->pdev->dev,
		 "the power went %llu ns after command %02xh, of %llu ns, at address %*ph\n",
		 after_ns, command, busy_ns, (int)mn->bus.cycles, mn->bus.address);
}

/**
 * media_nand_command() - puts a command on the bus, and cuts the power if it is time
 * @mn: the chip
 * @command: its code
 * @now_ns: when its cycle is over
 */
void media_nand_command(struct media_nand *mn, u8 command, u64 now_ns)
{
	u64 before = media_nand_changes(mn), programs_before = media_nand_programs(mn);

	fb_bus_command(&mn->bus, command, now_ns);
	if (mn->fail_programs && media_nand_programs(mn) != programs_before) {
		mn->fail_programs--;
		mn->program_failed = true;
	}
	if (mn->cut_in && media_nand_changes(mn) != before && !--mn->cut_in)
		media_nand_cut(mn, command, now_ns);
}

static int media_nand_cut_show(struct seq_file *m, void *unused)
{
	const struct media_nand *mn = m->private;

	seq_puts(m, mn->off ? "off\n" : mn->cut_in ? "armed\n" : "none\n");
	return 0;
}

static int media_nand_cut_open(struct inode *inode, struct file *file)
{
	return single_open(file, media_nand_cut_show, inode->i_private);
}

static ssize_t media_nand_cut_write(struct file *file, const char __user *buffer, size_t count,
				    loff_t *at)
{
	struct media_nand *mn = ((struct seq_file *)file->private_data)->private;
	char text[48] = { };
	u64 in, seed;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, count))
		return -EFAULT;
	if (sscanf(text, "%llu %llu", &in, &seed) != 2 || !in)
		return -EINVAL;
	mn->cut_seed = seed;
	mn->cut_in = in;
	return count;
}

const struct file_operations media_nand_cut_fops = {
	.owner = THIS_MODULE,
	.open = media_nand_cut_open,
	.read = seq_read,
	.write = media_nand_cut_write,
	.llseek = seq_lseek,
	.release = single_release,
};
