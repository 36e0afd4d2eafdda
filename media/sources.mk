# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The media core's objects, without their ending: read by media/Makefile and by the kernel module's Kbuild.
FB_CORE := chip chip_before chip_bus chip_onfi chip_state chip_torn counters disk disk_arm disk_buffer \
	disk_cache disk_geometry disk_seek flash ftl ftl_bast ftl_dftl ftl_fast ftl_log ftl_log_group ftl_log_merge \
	ftl_log_shared ftl_log_verify ftl_page ftl_page_gc ftl_page_slc ftl_page_verify ftl_page_victim kind \
	medium nand nand_blocks nand_faults nand_health nand_verify null params power power_cut \
	power_unreadable read_ahead timeline undo write_buffer
