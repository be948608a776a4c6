#!/bin/sh
# krc verify: real logs are clean, what Kafka's DumpLogSegments shows of them is the account's
# measure, and faults are told.  jq and grep judge.

me=tests/cmd/verify.sh
. tests/cmd/common
DUMP=tests/golden/dump
export LC_ALL=C

# ---- clean, one line for each partition
for folder in kafka-4.3.1 kafka-0.8.2 kafka-0.11-upgraded-from-0.10; do
    run 0 verify -d "$FIXTURES/$folder" -t '^.*' --account json
    cp "$dir/err" "$dir/$folder"
    same "$folder" '' "$(grep -v ', faults 0, notes 0$' "$dir/out")"
    same "partitions of $folder" "$(ls "$DUMP/$folder" | wc -l)" "$(wc -l <"$dir/out")"
done
expect 0 'txns-0: offsets 0 to 189; segments 1, bytes 31871, batches 127, records 189, markers 24, faults 0, notes 0' \
    "$(printf '%s\n%s' \
    'TOPIC PARTITION FROM  TO DELIVERED ABORTED CONTROL ABSENT LOST SKIPPED UNDECIDED' \
    'txns          0    0 189       106      59      24      0    0       0         0')" \
    verify -d "$LOGS" -t txns -p 0

# ---- the account against the batches that Kafka's tool shows
# offsets of the dump's batches below the end: control batches', and all that are in a batch
dumped() {
    zcat "$DUMP/$1"/*.txt.gz | grep -a '^baseOffset: ' | awk -v from="$2" -v to="$3" '
        $2 < to && $4 >= from {
            n = ($4 < to ? $4 : to - 1) - ($2 > from ? $2 : from) + 1
            if ($20 == "true") control += n; else if ($6 > 0) data += n
        }
        END { print control + 0, data + 0 }'
}
for folder in "$DUMP"/kafka-4.3.1/*; do
    partition=${folder##*/}
    numbers=$(jq -r --arg t "${partition%-*}" --argjson p "${partition##*-}" '.partitions[] |
        select(.topic == $t and .partition == $p) | "\(.from) \(.to) \(.control) \(.delivered + .aborted) \(.delivered + .aborted + .control + .absent)"' \
        "$dir/kafka-4.3.1")
    set -- $numbers
    same "range of $partition" "$(($2 - $1))" "$5"
    case $partition in
    compacted-0) # holes inside batches are absent where these are not aborted
        same "control of $partition" "$3" "$(dumped "kafka-4.3.1/$partition" "$1" "$2" | cut -d' ' -f1)" ;;
    *)
        same "account of $partition" "$3 $4" "$(dumped "kafka-4.3.1/$partition" "$1" "$2")" ;;
    esac
done

# ---- batches and records; findings go to stderr then
run 0 verify -q -d "$LOGS" -t logappend --records
same 'records' "$(zcat "$DUMP/kafka-4.3.1/logappend-0/00000000000000000000.txt.gz" | tail -n +2 | cksum)" \
    "$(tail -n +2 "$dir/out" | cksum)"
same 'the path' "Dumping $LOGS/logappend-0/00000000000000000000.log" "$(head -n 1 "$dir/out")"
same 'summary' 'logappend-0: offsets 0 to 99; segments 1, bytes 14536, batches 41, records 99, markers 8, faults 0, notes 0' \
    "$(cat "$dir/err")"
run 0 verify -q -d "$LOGS" -t logappend --batches
same 'batches' "$(zcat "$DUMP/kafka-4.3.1/logappend-0/00000000000000000000.txt.gz" | grep -a '^base' | cksum)" \
    "$(tail -n +3 "$dir/out" | cksum)"

# ---- faults
cp -r "$LOGS/txns-segments-0" "$dir/"
log=$dir/txns-segments-0/00000000000000000233
damage "$log.log" 500
run 1 verify -d "$dir" --account json
same 'a broken batch' 'fault: txns-segments-0 is corrupt at offsets 236 to 240, byte 268 of DIR/txns-segments-0/00000000000000000233.log: the batch'\''s checksum 0x3cb7737d is not that of its bytes
txns-segments-0: offsets 0 to 980; segments 7, bytes 152969, batches 376, records 975, markers 59, faults 1, notes 0' \
    "$(sed "s#$dir#DIR#g" "$dir/out")"
same 'skipped' 5 "$(account txns-segments 0 | cut -d' ' -f8)"
run 1 verify -q -d "$dir" --batches
same 'a fault beside the dump' 1 "$(grep -c '^fault: ' "$dir/err")"
same 'the dump beside a fault' 376 "$(grep -c '^baseOffset: ' "$dir/out")"
cp "$LOGS/txns-segments-0/00000000000000000233.log" "$log.log"
damage "$log.index" 10
run 1 verify -q -d "$dir"
same 'a lying index' 1 "$(grep -c '^fault: .*: entry 1, byte 8 of .*00233.index$' "$dir/out")"
cp "$LOGS/txns-segments-0/00000000000000000233.index" "$log.index"
run 0 verify -q -d "$dir"

# ---- missing segments are the account's to tell, and what reaches into them cannot be decided
rm "$dir"/txns-segments-0/00000000000000000412.*
run 3 verify -q -d "$dir"
same 'a segment is missing' 'txns-segments-0: offsets 0 to 980; segments 6, bytes 129970, batches 316, records 835, markers 49, faults 0, notes 0' \
    "$(cat "$dir/out")"
same 'what is lost' "krc: txns-segments-0: offsets 412 to 556 are in no batch and in no file of $dir/txns-segments-0, and compaction does not explain it: segments are missing" \
    "$(grep -v ' skipped up to ' "$dir/err")"
same 'what is in doubt' 16 "$(grep -c ' whose end is not to be told: what lies before its next marker is corrupt or missing$' "$dir/err")"

# ---- a partition that cannot be opened keeps no other from being verified
cp -r "$LOGS/txns-0" "$dir/"
echo junk >"$dir/txns-segments-0/leader-epoch-checkpoint"
expect 1 'txns-0: offsets 0 to 189; segments 1, bytes 31871, batches 127, records 189, markers 24, faults 0, notes 0
fault: a checkpoint that does not begin with version 0: DIR/txns-segments-0/leader-epoch-checkpoint' '' \
    verify -q -d "$dir"

# ---- usage
expect 2 '' "krc: verify: where from? Name a log folder with -d$more" verify
expect 2 '' "krc: verify: what is \"txns\"? Topics are named with -t$more" verify -d "$LOGS" txns
for flag in '-e' '-o 5' '--until 5' '-c 1'; do
    expect 2 '' "krc: verify: everything is read: -o, --until, -e and -c mean nothing here$more" \
        verify -d "$LOGS" $flag
done
for flag in '-g a' "--store $dir/krc.db"; do
    expect 2 '' "krc: verify: no offsets are stored: --store and -g mean nothing here$more" \
        verify -d "$LOGS" $flag
done
expect 1 '' 'krc: cannot find DIR/nowhere: No such file or directory' verify -d "$dir/nowhere"
run 0 verify --help
same 'help' 'krc verify -d DIR [flags]' "$(head -n 1 "$dir/out")"
if [ -c /dev/full ]; then
    "$KRC" verify -q -d "$LOGS" -t txns >/dev/full 2>"$dir/err"
    same 'a full disk' 1 $?
    same 'a full disk' 'krc: cannot write to standard output: No space left on device' \
        "$(cat "$dir/err")"
fi
