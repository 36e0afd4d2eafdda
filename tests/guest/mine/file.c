// SPDX-License-Identifier: GPL-2.0-only
/* Regular files, whose pages are all there is of them. */
#include "mine.h"

struct address_space_operations mine_file_aops;

/* Passes on what a write has put into a page */
static int write_end(struct file *file, struct address_space *mapping, loff_t pos, unsigned int length,
		     unsigned int copied, struct page *page, void *data)
{
	return ram_aops.write_end(file, mapping, pos, length, copied, page, data);
}

const struct file_operations mine_file_operations = {
	.read_iter = generic_file_read_iter,
	.write_iter = generic_file_write_iter,
	.mmap = generic_file_mmap,
	.fsync = noop_fsync,
	.llseek = generic_file_llseek,
};

void mine_file_init(void)
{
	mine_file_aops = ram_aops;
	mine_file_aops.write_end = write_end;
}
