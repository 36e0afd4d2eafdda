# SPDX-License-Identifier: GPL-2.0-only
# The rooms of the core, for the module and for the host
Y2_CORE := append block checkpoint checkpoint_state checkpoint_stream collect collect_choose dir file flash header index \
	mount namei object object_header scan scan_chunk scan_doubt scan_foreign scan_pages scan_settle scan_small summary tags tags_ecc tags_small
