#!/bin/sh
# krc txns: every transaction of the fixtures, against what Kafka's own tools show of them.

me=tests/cmd/txns.sh
. tests/cmd/common
DUMP=tests/golden/dump/kafka-4.3.1

# ---- usage
expect 2 '' "krc: txns: where from? Name a cluster with -b or a log folder with -d$more" txns
expect 2 '' "krc: txns --all: a cluster tells only of transactions that are open$more" \
    txns -b localhost:9092 --all
expect 1 '' 'krc: the cluster is out of reach: 127.0.0.1:1: it does not take the connection: connection refused' \
    txns -b 127.0.0.1:1
expect 2 '' "krc: txns: what is \"x\"? Topics are named with -t$more" txns -d "$LOGS" x
expect 1 '' 'krc: cannot find DIR/none: No such file or directory' txns -d "$dir/none"
run 0 txns --help
same 'help names its own flag' 1 "$(grep -c -e '--all' "$dir/out")"

# from_dump TOPIC PARTITION: the transactions that DumpLogSegments shows, a line each:
# state, producer id, first and last offset, marker, records
from_dump() {
    zcat "$DUMP/$1-$2"/*.gz | awk '
        /^baseOffset:/ {
            for (i = 1; i < NF; i += 2) field[$i] = $(i + 1)
            producer = field["producerId:"]
            control = field["isControl:"] == "true"
            if (control || field["isTransactional:"] != "true") next
            if (!(producer in first)) { first[producer] = field["baseOffset:"]; records[producer] = 0 }
            last[producer] = field["lastOffset:"]
            records[producer] += field["count:"]
        }
        /endTxnMarker: / && control {
            state = /endTxnMarker: COMMIT/ ? "committed" : "aborted"
            if (producer in first)
                print state, producer, first[producer], last[producer], field["baseOffset:"], records[producer]
            else
                print state, producer, "null", "null", field["baseOffset:"], 0
            delete first[producer]
        }
        END { for (p in first) print "open", p, first[p], last[p], "null", records[p] }'
}

for partition in txns:0 txns:1 txns-open:0 txns-segments:0 compacted:0 logappend:0 codec-none:0; do
    topic=${partition%:*} p=${partition#*:}
    run 0 txns -d "$LOGS" -t "$topic" -p "$p" -J
    jq -r '"\(.state) \(.producerId) \(.firstOffset) \(.lastOffset) \(.markerOffset) \(.records)"' \
        "$dir/out" >"$dir/got"
    from_dump "$topic" "$p" >"$dir/wanted"
    same "transactions of $partition" "$(cat "$dir/wanted")" "$(cat "$dir/got")"
    run 0 txns -d "$LOGS" -t "$topic" -p "$p"
    same "counts of $partition" \
        "$(grep -c '^committed' "$dir/wanted") $(grep -c '^aborted' "$dir/wanted")" \
        "$(awk 'NR == 2 { print $3, $4 }' "$dir/out")"
    [ "$topic" = codec-none ] || [ -s "$dir/wanted" ] || same "$partition has transactions" yes no
done

# .txnindex: version int16, producer id, first, last and last stable offset int64
for log in txns-0 txns-segments-0; do
    for index in "$LOGS/$log"/*.txnindex; do
        od -A n -v -t u1 -w34 "$index"
    done | awk '{
        for (n = 0; n < 3; n++) { v[n] = 0; for (i = 0; i < 8; i++) v[n] = v[n] * 256 + $(3 + n * 8 + i) }
        print v[0], v[1], v[2] }' >"$dir/wanted"
    run 0 txns -d "$LOGS/$log" -J
    jq -r 'select(.state == "aborted") | "\(.producerId) \(.firstOffset) \(.markerOffset)"' \
        "$dir/out" >"$dir/got"
    same "$log.txnindex" "$(cat "$dir/wanted")" "$(cat "$dir/got")"
    [ -s "$dir/wanted" ] || same "$log has aborted transactions" yes no
done

# ---- what holds the last stable offset
run 0 txns -d "$LOGS" -t txns-open -J
same 'the holder' '4 136 txns-open-tx-0 true' "$(jq -r 'select(.holdsLastStableOffset) |
    "\(.producerId) \(.firstOffset) \(.transactionalId) \(.ageMs > 0)"' "$dir/out")"
same 'the others are of known transactional ids' 'txns-open-tx-0 txns-open-tx-1 txns-open-tx-2' \
    "$(jq -r .transactionalId "$dir/out" | sort -u | tr '\n' ' ' | sed 's/ $//')"
same 'none else has an age' 1 "$(jq 'select(.ageMs)' "$dir/out" | jq -s length)"
start=$(jq 'select(.holdsLastStableOffset) | .startTime' "$dir/out")
since=$(date -u -d "@$((start / 1000))" +%Y-%m-%dT%H:%M:%S).$(printf %03d $((start % 1000)))Z
run 0 txns -d "$LOGS" -t txns-open
same 'the tables' "TOPIC PARTITION COMMITTED ABORTED OPEN LOG-START LAST-STABLE LOG-END HELD-BY SINCE
txns-open 0 7 5 1 0 136 199 4 $since

TOPIC PARTITION STATE PRODUCER-ID EPOCH FIRST LAST MARKER RECORDS SINCE AGE-MS TRANSACTIONAL-ID
txns-open 0 open 4 3 136 193 - 20 $since AGE txns-open-tx-0" \
    "$(sed -E 's/ +/ /g; s/[0-9]+ (txns-open-tx-0)$/AGE \1/' "$dir/out")"
run 0 txns -d "$LOGS" -t txns-open --all
same '--all' "$(from_dump txns-open 0 | wc -l)" "$(grep -c -- '-tx-' "$dir/out")"

# a cluster that does not answer keeps nothing of the folder back
run 1 txns -d "$LOGS" -b 127.0.0.1:1 -t txns-open -J
same 'names of the folder' txns-open-tx-0 \
    "$(jq -r 'select(.holdsLastStableOffset) | .transactionalId' "$dir/out")"
same 'and no coordinator' null "$(jq .coordinator "$dir/out" | sort -u)"
same 'the reason' 1 "$(grep -c 'out of reach' "$dir/err")"

# a folder alone says nothing of transactional ids
run 0 txns -d "$LOGS/txns-open-0" -J
same 'no transaction log' null "$(jq -r .transactionalId "$dir/out" | sort -u)"

# ---- all but one can be read
mkdir "$dir/data"
cp -r "$LOGS/txns-0" "$LOGS/txns-1" "$dir/data"
damage "$dir/data/txns-0/00000000000000000000.log" 8
run 1 txns -d "$dir/data"
same 'the other partition' "1 $(from_dump txns 1 | grep -c '^committed')" \
    "$(awk 'NR == 2 { print $2, $3 }' "$dir/out")"
same 'the error' 1 "$(grep -c 'txns-0' "$dir/err")"
