#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# fbmedia as its users call it: what it says, how it ends, what it leaves behind.
#	fbmedia.sh PROGRAM
fbmedia=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
state=$folder/state.bin
null="kind=null capacity_bytes=1048576 queue_depth=8 command_ns=0"
flash="kind=flash capacity_bytes=65536 queue_depth=1 command_ns=0 link_ps_per_byte=0 page_bytes=2048 pages_per_block=4
blocks_per_die=16 dies=1 channels=1 read_ns=1 program_ns=2 erase_ns=3 bus_ps_per_byte=0 gc_reserve_blocks=2"

fail() {
	echo "fbmedia.sh: $*" >&2
	exit 1
}

# expect CODE WORDS COMMAND...: how it ends, and what its messages must contain
expect() {
	code=$1 words=$2
	shift 2
	"$@" >"$folder/out" 2>"$folder/err"
	[ $? -eq "$code" ] || fail "$*: did not end with $code: $(cat "$folder/err")"
	[ -z "$words" ] || grep -qF -- "$words" "$folder/err" ||
		fail "$*: does not say \"$words\": $(cat "$folder/err")"
}

json() {
	python3 -m json.tool <"$folder/out" >/dev/null || fail "$*: no JSON"
}

expect 2 "usage" "$fbmedia"
expect 2 "usage" "$fbmedia" create
expect 0 "" "$fbmedia" params
json params
expect 0 "" "$fbmedia" counters
json counters

expect 2 "kind: missing" "$fbmedia" create --state "$state"
expect 2 "kind=tape: must be one of flash, disk, null, nand" "$fbmedia" create --state "$state" kind=tape
expect 2 "ftl=none: must be one of page, bast, fast, dftl" "$fbmedia" create --state "$state" $flash ftl=none
expect 2 "colour: unknown parameter" "$fbmedia" create --state "$state" $null colour=1
expect 2 "queue_depth: given twice" "$fbmedia" create --state "$state" $null queue_depth=1
expect 2 "queue_depth: missing; allowed: 1 to 1024" "$fbmedia" create --state "$state" kind=null capacity_bytes=4096
expect 2 "queue_depth=9999: allowed: 1 to 1024" \
	"$fbmedia" create --state "$state" kind=null capacity_bytes=4096 command_ns=0 \
	queue_depth=9999
expect 2 "rpm: not a parameter of kind null" "$fbmedia" create --state "$state" $null rpm=5400
expect 2 "queue_depth=many: must be a whole number" "$fbmedia" create --state "$state" kind=null queue_depth=many
expect 2 "queue_depth=-1: must be a whole number" "$fbmedia" create --state "$state" kind=null queue_depth=-1
expect 2 "dies * (blocks_per_die - bad and spare ones - planes * (gc_reserve_blocks + open blocks + blocks of the SLC cache)) blocks" \
	"$fbmedia" create --state "$state" $(echo $flash | sed s/65536/131072/)
[ "$(ls "$folder" | grep -c state)" -eq 0 ] || fail "a refused medium left a file"

for medium in "$null" "$flash"; do
	expect 0 "" "$fbmedia" create --state "$state" $medium
	[ "$(ls "$folder" | grep -c state)" -eq 1 ] || fail "create left a temporary file"
	size=$(stat -c %s "$state")
	[ $((size & (size - 1))) -eq 0 ] || fail "$size bytes are no power of two"
	expect 0 "" "$fbmedia" inspect --state "$state"
	json inspect
	grep -q '"fault": null' "$folder/out" || fail "a new medium has a fault"
	cp "$state" "$folder/again"
	expect 0 "" "$fbmedia" create --state "$state" $medium
	cmp -s "$state" "$folder/again" || fail "the same parameters made another state"
	rm "$folder/again"
done

expect 0 "" "$fbmedia" inspect --state "$state" $flash
digest=$("$fbmedia" digest $flash)
grep -q "\"digest\": \"$digest\"" "$folder/out" || fail "inspect and digest differ"
[ "$("$fbmedia" digest $(echo $flash | sed s/read_ns=1/read_ns=2/))" != "$digest" ] || fail "two media have one digest"
expect 1 "another medium: its read_ns is 1, not 2" \
	"$fbmedia" inspect --state "$state" $(echo $flash | sed s/read_ns=1/read_ns=2/)
expect 1 "another medium: its kind is flash, not null" "$fbmedia" inspect --state "$state" $null
expect 2 "colour: unknown parameter" "$fbmedia" inspect --state "$state" $null colour=1

expect 1 "No such file" "$fbmedia" inspect --state "$folder/none"
expect 1 "No such file" "$fbmedia" create --state "$folder/none/state.bin" $null
: >"$folder/empty"
expect 1 "not a medium's state" "$fbmedia" inspect --state "$folder/empty"
head -c 100 "$state" >"$folder/short"
expect 1 "truncated" "$fbmedia" inspect --state "$folder/short"
head -c 4096 "$state" >"$folder/short"
expect 1 "truncated" "$fbmedia" inspect --state "$folder/short"
cp "$state" "$folder/old"
printf '\001' | dd of="$folder/old" bs=1 seek=8 conv=notrunc 2>/dev/null	# the version, behind 8 bytes of magic
expect 1 "made by another version of the media core" "$fbmedia" inspect --state "$folder/old"
expect 0 "" "$fbmedia" create --state "$state" $flash factory_bad_blocks=2
expect 2 "usage" "$fbmedia" age --state "$state"
expect 2 "--days: must be a whole number" "$fbmedia" age --state "$state" --days -1
expect 2 "--days: must be 36500 or less" "$fbmedia" age --state "$state" --days 36501
expect 1 "No such file" "$fbmedia" age --state "$folder/none" --days 1
expect 0 "" "$fbmedia" age --state "$state" --days 365
expect 0 "" "$fbmedia" age --state "$state" --days 36
expect 0 "" "$fbmedia" inspect --state "$state"
json inspect
grep -q '"age_days": 401.000000' "$folder/out" || fail "401 days did not pass"
grep -q '"blocks": 14, "factory_bad_blocks": 2, "grown_bad_blocks": 0' "$folder/out" || fail "no bad blocks"
grep -q '"fault": null' "$folder/out" || fail "age brought a fault"

chip="kind=nand capacity_bytes=65536 page_bytes=512 spare_bytes=16 pages_per_block=16 blocks_per_die=8 read_ns=15000
program_ns=200000 erase_ns=2000000 bus_ps_per_byte=50000 manufacturer_id=236 device_id=118 factory_bad_blocks=2"
expect 2 "capacity_bytes=65536: allowed: 131072 to 131072" "$fbmedia" create --state "$state" $(echo $chip | sed s/block=16/block=32/)
expect 2 "queue_depth: not a parameter of kind nand" "$fbmedia" create --state "$state" $chip queue_depth=1
expect 0 "" "$fbmedia" create --state "$state" $chip
expect 0 "" "$fbmedia" age --state "$state" --days 10
expect 0 "" "$fbmedia" inspect --state "$state" $chip
json inspect
grep -q '"blocks": 6, "factory_bad_blocks": 2, "grown_bad_blocks": 0' "$folder/out" || fail "no bad blocks on a chip"
grep -q '"fault": null' "$folder/out" || fail "a new chip has a fault"
expect 2 "usage" "$fbmedia" content --state "$state"
expect 0 "" "$fbmedia" content --state "$state" --data "$folder/data"
[ "$(stat -c %s "$folder/data")" -eq $((128 * 528)) ] || fail "a chip's content is not as large as its pages"
# Zeros are the marks alone, in the sixth byte of the spare area of a block's first page
marks=$(cmp -l "$folder/data" /dev/zero 2>/dev/null | wc -l)
[ "$marks" -eq $((128 * 528 - 2)) ] || fail "$marks bytes are not zero, with two marks"
[ "$(tr '\000\377' '\001\000' <"$folder/data" | cmp -l - /dev/zero 2>/dev/null | awk '$1 % 8448 != 518' | wc -l)" -eq 0 ] ||
	fail "a mark is where no data sheet has it"
echo "fbmedia.sh passed"
