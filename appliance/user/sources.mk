# SPDX-License-Identifier: Apache-2.0
# What the appliance's program is made of; src/flashbed_appliance/nas/ reads this too. XDR is the load generator's.
SOURCES = main.c \
	common/log.c common/settings.c common/words.c ../../sfsload/src/xdr.c \
	exportd/caches.c exportd/connection.c exportd/exportd.c exportd/exports.c exportd/kernel.c exportd/mount.c \
	exportd/portmap.c exportd/root.c exportd/rpc.c exportd/served.c exportd/statd.c exportd/transport.c \
	init/dhcp.c init/dhcp_message.c init/disks.c init/forward.c init/init.c init/keyboard.c init/mirror.c init/mirror_watch.c \
	init/modules.c init/network.c init/nfsd.c init/program.c init/services.c init/settle.c \
	init/superblock.c init/volume.c
INCLUDES = common exportd init ../../sfsload/src
