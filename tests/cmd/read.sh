#!/bin/sh
# krc read: what it prints, judged by what Apache Kafka's own consumer read from the same logs, and
# how it accounts, commits and refuses.  jq, zcat, perl and
# sqlite3 judge.

me=tests/cmd/read.sh
. tests/cmd/common
db=$dir/krc.db

# ---- JSON lines against the reference, for both isolation levels
shape='select(.offset != null) | [.partition, .offset, .timestamp, .timestampType, .leaderEpoch,
       .key, .value, [.headers[] | if type == "object" then [.key, .value] else . end]]'
for level in read_committed read_uncommitted; do
    for file in "$EXPECTED"/*."$level".jsonl.gz; do
        topic=$(basename "$file" ".$level.jsonl.gz")
        run 0 read -q -d "$LOGS" -t "$topic" -J --encoding base64 --isolation-level "$level"
        same "$topic, $level" "$(zcat "$file" | jq -c "$shape" | sort)" \
            "$(jq -c "$shape" "$dir/out" | sort)"
    done
done
old='select(.control | not) | [.offset, .timestamp, .timestampType, .key, .value]'
for folder in kafka-0.8.2 kafka-0.11-upgraded-from-0.10; do
    for file in "$FIXTURES/expected/$folder"/*.jsonl.gz; do
        topic=$(basename "$file" .jsonl.gz)
        run 0 read -q -d "$FIXTURES/$folder" -t "$topic" -J --encoding base64
        same "$folder, $topic" "$(zcat "$file" | jq -c "$old")" "$(jq -c "$old" "$dir/out")"
    done
done

# without --encoding: text where it is UTF-8, else ...Base64, and nothing is lost
run 0 read -q -d "$LOGS" -t txns -J
"$KRC" read -q -d "$LOGS" -t txns -J --encoding base64 >"$dir/base64"
text='[.offset, if has("valueBase64") then .valueBase64 elif .value == null then null else
      .value | @base64 end, [.headers[] | if has("valueBase64") then .valueBase64
      elif .value == null then null else .value | @base64 end]]'
same 'text and base64' "$(jq -c '[.offset, .value, [.headers[].value]]' "$dir/base64")" \
    "$(jq -c "$text" "$dir/out")"
same 'some values are no text' true "$(jq -s 'any(has("valueBase64"))' "$dir/out")"
same 'a line' '{"topic":"v0-gzip","partition":0,"offset":0,"timestamp":-1,"timestampType":"NoTimestampType","leaderEpoch":null,"key":"k1","value":"{\"id\":1040772936760,\"pkg\":\"0.0.0.0\",\"event\":\"cart\",\"ts\":1760000000000,\"qty\":7,\"ok\":true}","headers":[]}' \
    "$("$KRC" read -q -d $FIXTURES/kafka-0.8.2 -t v0-gzip -J -c 1)"

# ---- kcat's formats; the reference in the same shape
run 0 read -q -d "$LOGS" -t txns -f '%t %p %o %T %S %K %%\x41\65\n'
same 'format' "$(zcat "$EXPECTED/txns.read_committed.jsonl.gz" | jq -r 'def size: if . == null then
    -1 else gsub("="; "") | length * 3 / 4 | floor end; select(.offset != null) |
    "txns \(.partition) \(.offset) \(.timestamp) \(.value | size) \(.key | size) %AA"' | sort)" \
    "$(sort "$dir/out")"
one="$KRC read -q -d $LOGS -t txns -p 0 -o 3 -c 1"
value='ln53u5:g 3m6eg9lz:5bqv6lssmuu3f,0qt1h78jiq29}:st"1osms9r,l,ysstjxc:yr,cpqrw3vfk{,:1, 88zyqcsabiewn sxp,rh73l8uiwl{}7,ch"6zqq94dmxu60"n2y6dg3m1ne5u'
same 'value' "$value" "$($one)"
same '-f' "k32|$value|h2=ztf8pkc" "$($one -f '%k|%s|%h')"
same '-K -D' "k32	$value;A" "$($one -K '\t' -D ';\x41')"
same '%R' '000000920a' "$($one -f '%R\n' | od -An -tx1 | tr -d ' ')"
same '-f with a NUL' '6b333200' "$($one -f '%k\x00' | od -An -tx1 | tr -d ' ')"
same '-u' "$($one)" "$($one -u)"
nulls=$(zcat "$EXPECTED/txns.read_committed.jsonl.gz" | jq -s '[.[] | select(.offset != null and
    .value == null)] | length')
run 0 read -q -d "$LOGS" -t txns -f '%s|%k\n' -Z
same '-Z' "$nulls" "$(grep -c '^NULL|' "$dir/out")"
run 0 read -q -d "$LOGS" -t txns -f '%S %s\n'
same 'null without -Z' "$nulls" "$(grep -c '^-1 $' "$dir/out")"
run 0 read -q -d "$LOGS" -t txns -f '%h\n'
same 'null headers' "$(zcat "$EXPECTED/txns.read_committed.jsonl.gz" | jq -s '[.[].headers // [] |
    .[] | select(.[1] == null)] | length')" "$(grep -ao '=NULL' "$dir/out" | wc -l)"
expect 0 '' '' read -q -d "$LOGS" -f ''

# ---- digests: CRC-32C worked out here, bit by bit, from the reference
expect 0 'trimmed 0 52 90 38 42bf2972' '' read -q -d "$LOGS" -t trimmed --digest
expect 0 'emptied 0 25 25 0 00000000
never 0 0 0 0 00000000' '' read -q -d "$LOGS" -t emptied -t never --digest
run 0 read -q -d "$LOGS" -t txns -p 0 --digest
same 'digest' "$(zcat "$EXPECTED/txns.read_committed.jsonl.gz" |
    jq -r 'select(.partition == 0 and .offset != null) |
        "\(.offset),\(.timestamp),\(.key // "-"),\(.value // "-")"' |
    perl -ne '
        BEGIN {
            $crc = 0xffffffff;
            for $i (0 .. 255) {
                $c = $i;
                $c = $c >> 1 ^ ($c & 1 ? 0x82f63b78 : 0) for 1 .. 8;
                push @table, $c;
            }
        }
        sub part {
            my $text = shift;
            return pack("l>", -1) if $text eq "-";
            $text =~ tr|A-Za-z0-9+/||cd;
            $text =~ tr|A-Za-z0-9+/| -_|; # as uuencode has it
            my $data = join "", map { unpack "u", chr(32 + int(length($_) * 3 / 4)) . $_ }
                $text =~ /.{1,60}/g;
            return pack("l>", length $data) . $data;
        }
        chomp;
        ($offset, $time, $key, $value) = split /,/, $_, -1;
        $crc = $crc >> 8 ^ $table[($crc ^ $_) & 255]
            for unpack "C*", pack("q>q>", $offset, $time) . part($key) . part($value);
        END { printf "txns 0 0 189 %d %08x\n", $., $crc ^ 0xffffffff }')" "$(cat "$dir/out")"

# ---- which partitions
topics() {
    "$KRC" read -q -d "$LOGS" "$@" --digest | cut -d' ' -f1,2 | tr '\n' ','
}
same 'all but __*' "$(cd "$LOGS" && ls -d *-[0-9] | grep -v '^__' |
    sed -E 's/-([0-9]+)$/ \1/' | LC_ALL=C sort | tr '\n' ',')" "$(topics)"
same '^REGEX' '__consumer_offsets 0,__consumer_offsets 1,' "$(topics -t '^__con')"
same '-p' 'txns 1,' "$(topics -t txns -p 1-1)"
same '-t TOPIC:LIST' 'trimmed 0,txns 1,' "$(topics -t txns:1 -t trimmed)"
same 'several -d' "trimmed 0,txns 1," "$("$KRC" read -q -d "$LOGS/txns-1" -d \
    "$LOGS/trimmed-0/00000000000000000000.log" --digest | cut -d' ' -f1,2 | tr '\n' ',')"

# ---- where to start and to stop
offsets() {
    "$KRC" read -q -d "$LOGS" -t trimmed -f '%o ' "$@"
}
all=$(seq 52 89 | tr '\n' ' ')
for where in earliest beginning @0 s@0 -38 -1000 52 @2020-01-01T00:00:00Z @2020-01-01 @-9999d; do
    same "-o $where" "$all" "$(offsets -o $where)"
done
same '--from-beginning' "$all" "$(offsets --from-beginning)"
for where in latest @now @+10m @-1s; do
    same "-o $where" '' "$(offsets -o $where)"
done
expect 0 '' "krc: warning: @1760000000 is in milliseconds, and so 1970-01-21T08:53:20.000Z; if these \
are seconds, write @1760000000000" read -q -d "$LOGS" -t trimmed -o @1760000000 --until 52
same '-o end' '' "$(offsets -o end)"
same '-o -3' '87 88 89 ' "$(offsets -o -3)"
same '-o N --until N' '60 61 ' "$(offsets -o 60 --until 62)"
same '--until end' '89 ' "$(offsets -o 89 --until end)"
same '-e beside another end' '88 ' "$(offsets -o 88 --until 89 -e)"
same '-e beside another end' '88 ' "$(offsets -o 88 -e --until 89)"
same '-e' '89 ' "$(offsets -o 89 -e)"
same '-c' '52 53 54 ' "$(offsets -c 3)"
same '-c over batches and partitions' 130 \
    "$("$KRC" read -q -d "$LOGS" -t txns -c 130 -f '\n' | wc -l)"
same '-o -1 in read_uncommitted' '198 ' "$("$KRC" read -q -d "$LOGS" -t txns-open -o -1 -f '%o ' \
    --isolation-level read_uncommitted)"
same '-o -1 in read_committed' '135 ' \
    "$("$KRC" read -q -d "$LOGS" -t txns-open -o -1 -f '%o ')"

# the first offset at or after a time is one whose record is: by the reference's timestamps
at=$(zcat "$EXPECTED/codec-none.read_committed.jsonl.gz" | jq -s -r '[.[] | select(.offset != null)] |
    .[400].timestamp')
first=$(zcat "$EXPECTED/codec-none.read_committed.jsonl.gz" | jq -s -r --argjson at "$at" '[.[] |
    select(.offset != null and .timestamp >= $at)] | .[0].offset')
for where in "@$at" "s@$at"; do
    same "-o $where" "$first" "$("$KRC" read -q -d "$LOGS" -t codec-none -o "$where" -c 1 -f %o)"
done
for until in "--until @$at" "--until e@$at" "-o e@$at"; do
    same "$until" "$first" "$("$KRC" read -q -d "$LOGS" -t codec-none $until -f '\n' | wc -l)"
done

# the high watermark, of a copy whose checkpoint says less than the log has
cp -r "$LOGS" "$dir/hwm"
sed 's/^trimmed 0 .*/trimmed 0 80/' "$LOGS/replication-offset-checkpoint" \
    >"$dir/hwm/replication-offset-checkpoint"
same '--until hwm' '78 79 ' "$("$KRC" read -q -d "$dir/hwm" -t trimmed -o 78 --until hwm -f '%o ')"
run 0 read -d "$dir/hwm" -t trimmed -f ''
same 'beyond the high watermark' 'krc: trimmed-0: 10 records lie at or beyond the checkpointed high watermark 80: the broker may not have shown them to consumers yet (--until hwm stops before them)' \
    "$(grep krc: "$dir/err")"
expect 0 '' '' read -q -d "$dir/hwm" -t trimmed -f ''
printf '0\n1\ntrimmed 0 95\n' >"$dir/hwm/replication-offset-checkpoint"
run 3 read -q -d "$dir/hwm" -t trimmed --until hwm -f '' --account json
same 'a high watermark beyond the end' '52 95 38 0 0 0 5 0 0' "$(account trimmed 0)"
run 0 read -d "$dir/hwm" -t trimmed -f ''
same 'is told' 1 "$(grep -c 'the log ends at offset 90, and by its checkpoints it had offsets up to 95' "$dir/err")"
rm "$dir/hwm/replication-offset-checkpoint"
expect 1 '' 'krc: trimmed-0: no high watermark is checkpointed for it (replication-offset-checkpoint beside DIR/hwm/trimmed-0): choose another --until' \
    read -q -d "$dir/hwm" -t trimmed --until hwm

# ---- segments are missing: no record is delivered that was not, and none is gone uncounted
"$KRC" read -q -d "$LOGS" -t txns-segments -f '%o\n' | sort >"$dir/whole"
for log in "$LOGS"/txns-segments-0/*.log; do
    base=$(basename "$log" .log)
    [ "$base" -gt 0 ] && [ "$base" -lt 894 ] || continue
    mkdir -p "$dir/holes"
    cp -r "$LOGS/txns-segments-0" "$dir/holes"
    rm "$dir/holes/txns-segments-0/$base".*
    run 3 read -q -d "$dir/holes" -f '%o\n' --account json
    sort -o "$dir/out" "$dir/out"
    same "without $base, more" '' "$(comm -13 "$dir/whole" "$dir/out")"
    gone=$(comm -23 "$dir/whole" "$dir/out" | wc -l)
    same "without $base, less" true "$(tail -n 1 "$dir/err" | jq --argjson gone "$gone" \
        '.partitions[0] | .to == 980 and $gone > .skipped and $gone <= .lost + .skipped')"
    rm -r "$dir/holes"
done

# ---- accounts
run 0 read -d "$LOGS" -f '' --account json
same 'txns-open' '0 136 78 48 10 0 0 0 63' "$(account txns-open 0)"
same 'compacted' '0 566 26 0 27 513 0 0 0' "$(account compacted 0)"
same 'trimmed' '52 90 38 0 0 0 0 0 0' "$(account trimmed 0)"
same 'the sum' true "$(tail -n 1 "$dir/err" | jq '[.partitions[] | .to - .from == .delivered +
    .aborted + .control + .absent + .lost + .skipped] | all')"
expect 0 '' 'TOPIC   PARTITION FROM TO DELIVERED ABORTED CONTROL ABSENT LOST SKIPPED UNDECIDED
trimmed         0   52 90        38       0       0      0    0       0         0' \
    read -d "$LOGS" -t trimmed -f ''
run 0 read -q -d "$LOGS" -t trimmed -c 2 -f '' --account json
same 'inside the first batch' '52 54 2 0 0 0 0 0 0' "$(account trimmed 0)"
expect 0 '' 'krc: trimmed-0: the end, at offset 90' \
    read --log-level debug -q -d "$LOGS" -t trimmed -f ''

# ---- resets, by policy
below='krc: trimmed-0: the offset lies below the log start offset: reset from 3 to'
run 3 read -q -d "$LOGS" -t trimmed -o 3 -f '%o ' --account json
same 'nearest' "$all" "$(cat "$dir/out")"
same 'nearest tells' "$below 52; offsets 3 to 51 are lost" "$(head -n 1 "$dir/err")"
same 'nearest accounts' '3 90 38 0 0 0 49 0 0' "$(account trimmed 0)"
run 3 read -q -d "$LOGS" -t trimmed -o 3 -c 2 -f '%o ' --account json
same 'lost, and inside the first batch' '3 54 2 0 0 0 49 0 0' "$(account trimmed 0)"
run 3 read -q -d "$LOGS" -t trimmed -o 3 -f '%o ' --auto-offset-reset latest
same 'latest' '' "$(cat "$dir/out")"
run 3 read -q -d "$LOGS" -t trimmed -o 1000 -f '%o ' --auto-offset-reset earliest
same 'earliest' "$all" "$(cat "$dir/out")"
run 3 read -q -d "$LOGS" -t trimmed -o 3 -f '%o ' --auto-offset-reset by_duration:PT1H
for policy in none error; do
    expect 1 '' 'krc: trimmed-0 at offset 3: the offset lies below the log start offset (the log is 52 to 90), and auto.offset.reset is none; choose an offset, or another policy' \
        read -q -d "$LOGS" -t trimmed -o 3 --auto-offset-reset "$policy"
done

# ---- -O
expect 0 'trimmed 0 52 - 90 90 90 90
txns-open 0 0 - 136 136 199 199' '' read -q -d "$LOGS" -t trimmed -t txns-open -f '' -O
expect 0 '{"topic":"trimmed","partition":0,"logStartOffset":52,"committedOffset":null,"position":90,"lastStableOffset":90,"highWatermark":90,"logEndOffset":90}' \
    '' read -q -d "$LOGS" -t trimmed -J -o latest -O

# ---- with a store: to the end in pieces, each record once
pieces=
while piece=$("$KRC" read -q -d "$LOGS" -t txns -c 17 --store "$db" -f '%p-%o ') &&
    [ -n "$piece" ]; do
    pieces=$pieces$piece
done
same 'in pieces' "$("$KRC" read -q -d "$LOGS" -t txns -f '%p-%o ')" "$pieces"
same 'what is committed' 'default|0|189|106|59|24
default|1|212|122|64|26' "$(sqlite3 "$db" 'SELECT o.group_id, o.partition, o.offset, delivered,
    aborted, control FROM offsets o JOIN histories USING (group_id, topic, partition, history)
    ORDER BY o.partition')"
expect 0 'txns 0 0 189 189 189 189 189
txns 1 0 212 212 212 212 212' '' read -q -d "$LOGS" -t txns --store "$db" -f '' -O
same 'another group' 3 "$("$KRC" read -q -d "$LOGS" -t txns -p 0 --store "$db" -g other -c 1 -f %o)"
same 'its next' 4 "$("$KRC" read -q -d "$LOGS" -t txns -p 0 --store "$db" -g other -c 1 -f %o)"
same '-o goes before what is stored' 60 \
    "$("$KRC" read -q -d "$LOGS" -t trimmed --store "$db" -o 60 -c 1 -f %o)"
same 'stored' 61 "$("$KRC" read -q -d "$LOGS" -t trimmed --store "$db" -o stored -c 1 -f %o)"

# a store remembers which cluster a group's rows were read from
mkdir "$dir/other"
cp -r "$LOGS/txns-0" "$LOGS/meta.properties" "$dir/other"
sed -i 's/^cluster.id=.*/cluster.id=elsewhere/' "$dir/other/meta.properties"
run 0 read -q -d "$LOGS" -t txns --store "$dir/mine.db" -g one -f ''
expect 1 '' 'krc: the offsets of group "one" in the offset store were read from cluster "MkU3OEVBNTcwNTJENDM2Qg", and this is cluster "elsewhere": use another store or group; if the topics moved here with their offsets, say so (--moved-cluster, offset.store.moved.cluster=true)' \
    read -q -d "$dir/other" -t txns --store "$dir/mine.db" -g one
run 1 offsets lag --store "$dir/mine.db" -d "$dir/other" -g one
run 0 offsets lag --store "$dir/mine.db" -d "$LOGS" -g one
run 0 read -q -d "$dir/other" -t txns --store "$dir/mine.db" -g two -f ''
expect 0 'txns 0 0 189 189 189 - 189' '' \
    read -q -d "$dir/other" -t txns --store "$dir/mine.db" -g one -f '' -O --moved-cluster
same 'whose rows they are' 'one|elsewhere
two|elsewhere' "$(sqlite3 "$dir/mine.db" 'SELECT * FROM clusters')"
run 1 read -q -d "$LOGS" -t txns --store "$dir/mine.db" -g one
same 'the epochs that were read' '0|0' \
    "$(sqlite3 "$dir/mine.db" "SELECT leader_epoch, first_offset FROM epochs WHERE group_id = 'two'")"

# what stdout did not take is not committed
full='krc: cannot write to standard output: No space left on device'
"$KRC" read -q -d "$LOGS" -t codec-none --store "$db" >/dev/full 2>"$dir/err"
same 'exit status of a full disk' 1 $?
same 'a full disk' "$full" "$(cat "$dir/err")"
same 'nothing is committed' '' "$(sqlite3 "$db" "SELECT * FROM offsets WHERE topic = 'codec-none'")"
("$KRC" read -q -d "$LOGS" --store "$db" 2>"$dir/err"; echo $? >"$dir/status") | true
same 'exit status of a closed pipe' 1 "$(cat "$dir/status")"
same 'a closed pipe' '' "$(cat "$dir/err")"
# whatever writes: a pipe whose reader has gone
mkfifo "$dir/gone"
exec 7<>"$dir/gone" 8>"$dir/gone" 7<&-
for command in 'verify' 'verify --records' txns topics 'topics -J' 'offsets list' 'read --digest' \
    'read -f %o -O' 'read -X list' 'read --help'; do
    set -- $command
    name=$1
    shift
    [ "$name" != offsets ] || { name="offsets list" && shift; }
    "$KRC" $name -d "$LOGS" "$@" >&8 2>"$dir/err" 8>&-
    same "$command: a closed pipe" '1 ' "$? $(cat "$dir/err")"
done
"$KRC" replay -q -d "$LOGS" -t never --to "$dir/gone-to" >&8 2>"$dir/err" 8>&-
same 'what does not write: a closed pipe' '0 ' "$? $(cat "$dir/err")"
exec 8>&-
same 'nothing is committed' '' "$(sqlite3 "$db" "SELECT * FROM offsets WHERE topic = 'codec-none'")"

# Kafka 0.7 gives all of a compressed set one offset: what -c cuts in two comes again as a whole
mkdir "$dir/seven-0"
messages() { # messages ATTRIBUTES: a message of each line, or of all that comes where compressed
    perl -e '
        sub message {
            my ($attributes, $data) = @_;
            my $crc = 0xffffffff;
            for (unpack "C*", $data) {
                $crc ^= $_;
                $crc = $crc >> 1 ^ ($crc & 1 ? 0xedb88320 : 0) for 1 .. 8;
            }
            my $body = pack("CCN", 1, $attributes, $crc ^ 0xffffffff) . $data;
            print pack("N", length $body) . $body;
        }
        $/ = undef if $ARGV[0];
        while (<STDIN>) { chomp unless $ARGV[0]; message($ARGV[0], $_) }' "$1"
}
seven() {
    "$KRC" read -q -d "$dir/seven-0" --log-format 0.7 --store "$dir/seven.db" -f '%s ' "$@"
}
echo zero | messages 0 >"$dir/seven-0/00000000000000000000.kafka"
seq 1 4 | messages 0 | gzip -c | messages 1 >>"$dir/seven-0/00000000000000000000.kafka"
same 'as far as -c' 'zero 1 2 ' "$(seven -c 3)"
same 'the set again' '1 2 3 4 ' "$(seven)"
same 'and no more' '' "$(seven)"

# a store that is none
printf 'no database at all, but long enough to be looked at' >"$dir/foreign.db"
run 1 read -q -d "$LOGS" -t trimmed --store "$dir/foreign.db"
same 'a foreign store is named' 1 "$(grep -c "$dir/foreign.db" "$dir/err")"
same 'and left alone' 'no database at all, but long enough to be looked at' \
    "$(cat "$dir/foreign.db")"

# ---- damage: told, the others go on; or skipped, and accounted for
cp -r "$LOGS" "$dir/damaged"
damage "$dir/damaged/codec-zstd-0/00000000000000000000.log" 3000
broken='codec-zstd-0 is corrupt at offsets 19 to 32, byte 2587 of DIR/damaged/codec-zstd-0/00000000000000000000.log: the batch'"'"'s checksum 0x53e6f7ee is not that of its bytes'
expect 1 '' "krc: $broken" read -q -d "$dir/damaged" -f ''
run 1 read -d "$dir/damaged" -f '' --account json
same 'holds before it' '0 19 19 0 0 0 0 0 0' "$(account codec-zstd 0)"
same 'others are read' '0 980 600 321 59 0 0 0 0' "$(account txns-segments 0)"
expect 3 '' "krc: codec-zstd-0: skipped up to offset 33: $broken" \
    read -q -d "$dir/damaged" -f '' --skip-corrupt
run 3 read -d "$dir/damaged" -t codec-zstd -f '' --skip-corrupt --account json
same 'skipped' '0 750 736 0 0 0 0 14 0' "$(account codec-zstd 0)"
run 3 read -d "$dir/damaged" -t codec-zstd -f '' -X skip.corrupt.batches=true

# ---- closed standard streams
"$KRC" read -q -d "$LOGS" -t txns -p 0 -c 1 -f %o <&- >"$dir/closed"
same 'without standard input' '0 3' "$? $(cat "$dir/closed")"
"$KRC" read -q -d "$LOGS" -t txns -p 0 -c 1 -f %o 2>&- >"$dir/closed"
same 'without standard error' '0 3' "$? $(cat "$dir/closed")"
"$KRC" read -q -d "$LOGS" -t txns -c 1 >&- 2>"$dir/closed"
same 'without standard output' '1 krc: cannot write to standard output: Bad file descriptor' \
    "$? $(cat "$dir/closed")"

# ---- usage
expect 2 '' "krc: read: where from? Name a cluster with -b or a log folder with -d$more" read
expect 2 '' "krc: bootstrap.servers: \"x\" has no port: give HOST:PORT; most brokers listen at 9092$more" read -b x
expect 2 '' "krc: read: which topic? Name it with -t; a leading ^ makes it a regular expression$more" \
    read -b 127.0.0.1:1
expect 2 '' "krc: -b and -d: records come from a cluster or from log folders, not both$more" \
    read -b 127.0.0.1:1 -d "$LOGS"
for names in fetch msg,fetch all; do
    expect 2 '' "krc: -d \"$names\": -d names a log folder here, and there is none of that name; it is no debug flag, --log-level debug is$more" \
        read -d $names
done
expect 1 '' 'krc: cannot find /nowhere/at/all: No such file or directory' read -d /nowhere/at/all
expect 2 '' "krc: read: what is \"txns\"? Topics are named with -t$more" read -d "$LOGS" txns
member() { # member MESSAGE ARGUMENTS...
    message=$1
    shift
    expect 2 '' "krc: read: $message$more" read -b 127.0.0.1:1 -t t --join "$@"
}
member "--join is about a cluster's group: name both with -b and -g"
expect 2 '' "krc: read: --commit is about a cluster's group: name both with -b and -g$more" \
    read -d "$LOGS" -t txns -g g --commit
member "with --join the group's committed offsets decide: leave out --store" -g g --store "$dir/x"
member 'with --join the group says where partitions begin, and it is followed: leave out -o, -e and --until' \
    -g g -e
member 'with --join the group says which partitions: leave out -p' -g g -p 0
expect 2 '' "krc: there is no property \"isolation.levl\"; the nearest is isolation.level$more" \
    read -d "$LOGS" -X isolation.levl=read_committed
expect 2 '' "krc: isolation.level cannot be \"some\": it is one of: read_committed, read_uncommitted$more" \
    read -d "$LOGS" --isolation-level some
expect 2 '' "krc: log.format cannot be \"0.6\": it is one of: current, 0.7$more" \
    read -d "$LOGS" --log-format 0.6
expect 2 '' "krc: -X \"isolation.level\": give a property as NAME=VALUE, or say -X list$more" \
    read -d "$LOGS" -X isolation.level
for where in x -x --1 1x '' @ @x s@ @2026-13-01T00:00 @-10 @10m; do
    expect 2 '' "krc: -o \"$where\": say stored, earliest, latest, N, -N, @MS, @YYYY-MM-DD[Thh:mm:ss], @now \
or @-10m$more" \
        read -d "$LOGS" -o "$where"
done
for where in x -3 @x e@ ''; do
    expect 2 '' "krc: --until \"$where\": say an offset, @TIME, end or hwm$more" \
        read -d "$LOGS" --until "$where"
done
for count in 0 -1 x 1x 99999999999999999999; do
    expect 2 '' "krc: -c \"$count\": give a number from 1 to 9223372036854775807$more" read -d "$LOGS" -c "$count"
done
expect 2 '' "krc: -o \"5\": is after --until \"2\"; begin at or before where reading stops$more" \
    read -d "$LOGS" -o 5 --until 2
expect 2 '' "krc: -o \"@1970-01-01T00:00:05.000Z\": is after --until \"@1970-01-01T00:00:02.000Z\"; \
begin at or before when reading stops$more" read -d "$LOGS" -o @5000 --until @2000
expect 0 '' '' read -q -d "$LOGS" -t codec-none -o 5 --until 5
expect 2 '' "krc: --timeout-ms \"x\": give a number from 0 to 2147483647$more" read -d "$LOGS" --timeout-ms x
expect 2 '' "krc: --account \"xml\": say json$more" read -d "$LOGS" --account xml
expect 2 '' "krc: --log-level \"x\": say warn, info or debug$more" read -d "$LOGS" --log-level x
expect 2 '' "krc: --encoding \"x\": say base64$more" read -d "$LOGS" -J --encoding x
expect 2 '' "krc: read: --encoding base64 goes with --json$more" read -d "$LOGS" --encoding base64
expect 2 '' "krc: read: --json, --digest and -f exclude each other$more" read -d "$LOGS" -J -f %s
expect 2 '' "krc: -f \"%x\": behind a % there is one of: t p o k s h T S K R %$more" \
    read -d "$LOGS" -f %x
expect 2 '' "krc: -f \"%\": behind a % there is one of: t p o k s h T S K R %$more" read -d "$LOGS" -f %
expect 2 '' "krc: read: -o stored needs an offset store: name it with --store$more" \
    read -d "$LOGS" -o stored
expect 2 '' "krc: read: a group's offsets lie in an offset store: name it with --store$more" \
    read -d "$LOGS" -g g
expect 2 '' "krc read: unrecognized option '--nope'" read --nope
source="-d $LOGS" called='the log folders have'
for command in read topics txns verify "offsets list" "replay --to $dir/none"; do
    missing 'topic "nope"' -t nope
    missing 'topic "txn"; the nearest is "txns"' -t txn -p 0
    missing 'topic "codec-noen"; the nearest is "codec-none"' -t codec-noen
    [ "$command" = 'offsets list' ] && continue
    missing 'topics that match "^nope"' -t '^nope'
    missing 'partition 7-9 of topics that match "^txns"' -t '^txns' -p 7-9
    missing 'partition 7-9 of topic "txns"; there are partitions 0 to 1' -t txns:7-9
done
expect 1 '0' 'krc: the log folders have no topic "nope"' \
    read -q -d "$LOGS" -t never -t nope -t codec-none -c 1 -f '%o'
expect 1 '' 'krc: the log folders have no partition 5 of topic "never"; there is partition 0' read -q -d "$LOGS" -t never:0,5
expect 1 '' 'krc: the log folders have no such partition (topics named __* are read only where -t names them)' \
    read -q -d "$LOGS/__consumer_offsets-1"
expect 0 '' '' read -q -d "$LOGS" -t never --timeout-ms 0

run 0 read --help
same 'help' 1 "$(grep -c 'value  *payload' "$dir/out")"
run 0 read -X list
same '-X list' 1 "$(grep -c '^isolation.level = read_committed$' "$dir/out")"
