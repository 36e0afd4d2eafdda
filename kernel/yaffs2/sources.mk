# SPDX-License-Identifier: GPL-2.0-only
# The files of the core, for the module and for the host
Y2_CORE := append block checkpoint checkpoint_state checkpoint_stream dir file flash gc gc_victim header index mount \
	namei object object_header scan scan_chunk scan_fixup scan_foreign scan_pages scan_torn scan_yaffs1 summary \
	tags tags_ecc tags_yaffs1
