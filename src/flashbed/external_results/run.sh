#!/bin/sh
# Runs the jobs of one folder: sh run.sh 01 /media/stick
# What is there already is not run again. See README.txt.
set -u
if [ $# -ne 2 ]; then
	echo "usage: sh run.sh FOLDER PLACE   (a folder of jobs, such as 01; where the file system is mounted)" >&2
	exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)/$1
if [ ! -d "$here/jobs" ]; then
	echo "run.sh: $here has no jobs" >&2
	exit 2
fi
place=$(cd "$2" && pwd) || exit 2
command -v fio >/dev/null || { echo "run.sh: fio is not installed" >&2; exit 3; }
case $(uname) in
Linux) FLASHBED_ENGINE=libaio ;;
*) FLASHBED_ENGINE=posixaio ;;
esac
export FLASHBED_ENGINE
mkdir -p "$here/results" || exit 4

# Nothing of the file may be in memory when the job begins. Nobody may stand in the file system meanwhile.
cold() {
	sync
	cd /
	if [ -n "${FLASHBED_COLD:-}" ]; then
		sh -c "$FLASHBED_COLD" || exit 1
	elif [ -w /proc/sys/vm/drop_caches ]; then
		echo 3 > /proc/sys/vm/drop_caches
	else
		printf 'Take the medium out of %s and put it in again, then press Enter: ' "$place"
		read -r _
	fi
	cd "$place/flashbed-work" || exit 1
}

failed=0
for job in "$here"/jobs/*.measure.fio; do
	name=$(basename "$job" .measure.fio)
	[ -s "$here/results/$name.json" ] && continue
	echo "$name"
	rm -rf "$place/flashbed-work"
	mkdir "$place/flashbed-work" && cd "$place/flashbed-work" || exit 4
	if [ -f "$here/jobs/$name.prepare.fio" ]; then
		fio --eta=never --output="$here/results/prepare.txt" "$here/jobs/$name.prepare.fio" || { failed=1; continue; }
	fi
	cold
	if fio --output-format=json+ --eta=never --output="$here/results/$name.part" "$job"; then
		mv "$here/results/$name.part" "$here/results/$name.json"
	else
		failed=1
	fi
	cd / && rm -rf "$place/flashbed-work"
	rm -f "$here/results/prepare.txt"
done
exit $failed
