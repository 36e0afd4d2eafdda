#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An image from mkyaffs2, unpacked by unyaffs (a Debian package of other authors), is the folder it was made from; and the
# core finds the same in it.	image.sh MKYAFFS2 MOUNT_IMAGE
set -eu
mkyaffs2=$1 mount_image=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
from=$work/from
mkdir -p "$from/d/e"
i=1
while [ $i -le 40 ]; do
	seq $i $((i * i * 7)) >"$from/d/f$i"
	i=$((i + 1))
done
ln "$from/d/f1" "$from/hard"
ln "$from/d/f1" "$from/d/e/harder"
ln -s d/f2 "$from/soft"
mkfifo "$from/fifo"
if [ "$(id -u)" = 0 ]; then
	# Some containers let nobody make one
	mknod "$from/device" c 5 44 2>/dev/null || echo "image tests: without a device, which mknod may not make here"
	chown 7:8 "$from/d/f4"
fi
: >"$from/empty"
head -c 2048 /dev/zero >"$from/zero"
head -c 2047 /dev/zero >"$from/less"
touch "$from/d/e/$(head -c 255 /dev/zero | tr '\0' n)"
chmod 4711 "$from/d/f3"
find "$from" -depth -exec touch -h -d '2001-02-03 04:05:06' {} +

# type, mode, owner, links, size of files, time, target of links
list() {
	(cd "$1" && find . -mindepth 1 \( -type f -printf '%p %y %m %U:%G %n %s %T@ %l\n' -o -printf '%p %y %m %U:%G %T@ %l\n' \) | sort)
}

for options in "-p 2048 -s 64" "-p 4096 -s 128 -b 32" "-p 8192 -s 256 -o 0"; do
	"$mkyaffs2" $options "$from" "$work/image"
	rm -rf "$work/to"
	mkdir "$work/to"
	unyaffs "$work/image" "$work/to"
	list "$from" >"$work/list-from"
	list "$work/to" >"$work/list-to"
	diff "$work/list-from" "$work/list-to"
	diff -r --no-dereference "$from/d" "$work/to/d"
	cmp "$from/zero" "$work/to/zero"
	cmp "$from/less" "$work/to/less"
done

# By the core, one line a file: path, type and mode, owner, links, size, time, sum of its contents
check() {
	(cd "$from" && find . -mindepth 1 | sort | while read -r path; do
		set -- $(stat -c '%f %u %g %h %s %Y' "$path")
		sum=-
		[ -f "$path" ] && [ ! -L "$path" ] && sum=$(cksum <"$path" | cut -d' ' -f1)
		size=0
		[ "$sum" != - ] && size=$5
		links=$4
		[ -d "$path" ] && [ ! -L "$path" ] && links=1
		echo "$path $1 $2:$3 $links $size $6 $sum"
	done) >"$work/expected"
	"$mount_image" "$@" "$work/image" | sort >"$work/found"
	LC_ALL=C sort "$work/expected" >"$work/expected-sorted"
	LC_ALL=C sort "$work/found" | diff "$work/expected-sorted" -
}

for options in "-p 2048 -s 64" "-p 2048 -s 64 -e" "-p 2048 -s 0 -i" "-p 4096 -s 128 -b 32" "-p 1024 -s 32 -b 32" "-p 512 -s 16 -b 32"; do
	"$mkyaffs2" $options "$from" "$work/image"
	check $options
done
# A torn last page: the file that it belongs to is shorter, all else is there
"$mkyaffs2" -p 2048 -s 64 "$from" "$work/image"
"$mount_image" -t -p 2048 -s 64 "$work/image" | LC_ALL=C sort >"$work/torn"
[ "$(LC_ALL=C comm -3 "$work/expected-sorted" "$work/torn" | wc -l)" -le 2 ]
echo "image tests passed"
