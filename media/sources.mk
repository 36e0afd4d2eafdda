# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The media core's objects, without their ending: read by media/Makefile and by the kernel module's Kbuild.
FB_CORE := counters disk disk_arm disk_buffer disk_cache disk_geometry disk_seek flash ftl ftl_verify medium params timeline
