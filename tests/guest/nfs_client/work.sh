# SPDX-License-Identifier: Apache-2.0
# What a person does in a tree of sources: it is unpacked, looked through, edited, processed, packed, removed.
#
#	sh work.sh HERE THERE	a folder, and the same one as the other mount shows it
set -e
here=$1 there=$2
mkdir "$here" "$here/src" && cd "$here/src"
for part in a b c d; do
	mkdir $part
	awk -v part=$part 'BEGIN { for (file = 0; file < 6; file++) {
		name = part "/" file ".c"
		for (line = 0; line < 40 + file; line++) print "int " part file "_" line " = OLD;" > name
		close(name) } }'
done
test "$(find . -name '*.c' | wc -l)" = 24

cd .. && tar cf src.tar src && mkdir unpacked && tar xf src.tar -C unpacked
(cd src && find . -type f | sort | xargs md5sum) > sums
(cd "$there/unpacked/src" && md5sum -c -s "$here/sums")

cd unpacked/src
sed -i 's/OLD/NEW/' */*.c                                            # writes another file, and renames it into place
test "$(cat */*.c | grep -c NEW)" = 1020 && ! grep -q OLD */*.c
for file in a/*.c; do cp $file $file.new && echo "/* end */" >> $file.new && mv $file.new $file; done
grep -l '/. end' */*.c > changed && test "$(wc -l < changed)" = 6

for file in */*.c; do awk '{ print length($0), $2 }' $file | sort -n > ${file%.c}.o & test "${file##*/}" != 5.c || wait; done
wait
cat */*.o | sort | uniq > whole && test "$(wc -l < whole)" = 1021
test "$(cat "$there"/unpacked/src/*/*.o | md5sum)" = "$(cat */*.o | md5sum)"
ln whole hard && ln -s whole soft && cmp hard soft && test "$(readlink soft)" = whole

cp /bin/busybox busybox-here && ./busybox-here cmp busybox-here /bin/busybox    # a program that lies there runs
cd / && rm -r "$here/unpacked/src/a" && test ! -e "$there/unpacked/src/a" && rm -r "$here" && test ! -e "$there"
