#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sfsload against NFS-Ganesha, which nothing installs: Debian's packages are unpacked into FOLDER and run over this
# system's files in namespaces of their own (network, mounts, processes), so that nobody outside sees them.
#
#	ganesha.sh SFSLOAD FOLDER
#
# Needs root. Leaves in FOLDER: tcp.json and udp.json, the results; sizes, each file that is then on the server.
set -eu

PACKAGES="nfs-ganesha nfs-ganesha-vfs rpcbind libntirpc4.3 liburcu8 libnfsidmap1 libwbclient0 libwrap0 libtirpc3"
LOAD="--server 127.0.0.1 --export /srv/data --load 60 --warmup 1 --time 3 --scale 0.000001 --processes 2"

fetch() {
	mkdir -p "$folder/debs" "$folder/root"
	(cd "$folder/debs" && apt-get -q -o APT::Sandbox::User=root download $PACKAGES)
	for deb in "$folder"/debs/*.deb; do
		dpkg-deb -x "$deb" "$folder/root"
	done
	# Here / has links where these packages still have folders
	for part in lib bin sbin; do
		[ -d "$folder/root/$part" ] || continue
		mkdir -p "$folder/root/usr/$part"
		cp -a "$folder/root/$part/." "$folder/root/usr/$part/"
		rm -r "$folder/root/$part"
	done
}

# The system's files with the packages laid over them; changes stay in memory
lay_over() {
	mount -t tmpfs none /mnt
	cp -a "$folder/root" /mnt/packages
	mkdir /mnt/changes /mnt/work /mnt/all
	mount -t overlay none -o lowerdir=/mnt/packages:/,upperdir=/mnt/changes,workdir=/mnt/work /mnt/all
	mount --rbind /dev /mnt/all/dev
	mount -t proc proc /mnt/all/proc
	mount -t tmpfs none /mnt/all/run
	mkdir -p /mnt/all/run/rpcbind /mnt/all/run/ganesha /mnt/all/srv/data
	truncate -s 32M "$folder/disk.img"
	mkfs.ext4 -q -F "$folder/disk.img"
	mount -o loop "$folder/disk.img" /mnt/all/srv/data
	echo "_rpc:x:9999:65534::/run/rpcbind:/usr/sbin/nologin" >>/mnt/all/etc/passwd
	cat >/mnt/all/etc/export.conf <<-END
		NFS_CORE_PARAM { Protocols = 3; MNT_Port = 22050; Enable_NLM = false; Enable_RQUOTA = false; }
		NFSV4 { Graceless = true; Only_Numeric_Owners = true; RecoveryRoot = "/run/ganesha"; }
		EXPORT {
		  Export_Id = 1; Path = "/srv/data"; Pseudo = "/data"; Protocols = 3; Transports = TCP, UDP;
		  Access_Type = RW; Squash = No_Root_Squash; SecType = sys;
		  FSAL { Name = VFS; }
		}
	END
}

inside() {
	ip link set lo up
	lay_over
	chroot /mnt/all timeout 120 /usr/sbin/rpcbind -f -i &
	sleep 1
	chroot /mnt/all timeout 120 /usr/bin/ganesha.nfsd -F -f /etc/export.conf -L /run/log -p /run/pid &
	for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		grep -q "NFS SERVER INITIALIZED" /mnt/all/run/log 2>/dev/null && break
		sleep 1
	done
	cp /mnt/all/run/log "$folder/log"
	"$program" $LOAD --output "$folder/tcp.json" || echo "over TCP: ended with $?" >&2
	"$program" $LOAD --transport udp --only load --output "$folder/udp.json" || echo "over UDP: ended with $?" >&2
	(cd /mnt/all/srv/data/sfsload && find d* -type f -printf '%p %s\n') | sort >"$folder/sizes"
}

program=$(readlink -f "$1")
folder=$(readlink -f "$2")
if [ "${3:-}" = inside ]; then
	inside
else
	fetch
	unshare --mount --net --pid --fork --kill-child "$0" "$program" "$folder" inside
fi
