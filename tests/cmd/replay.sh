#!/bin/sh
# krc replay: that its files hold what `krc read` prints (which is judged elsewhere), each record
# once, however often it was stopped; and how it accounts and refuses.  jq, zstd, gzip and sqlite3
# judge.

me=tests/cmd/replay.sh
. tests/cmd/common
to=$dir/to

# the files of a folder without the store's
files() {
    (cd "$1" && find . -type f ! -name 'krc.*' | LC_ALL=C sort | xargs cksum)
}

# ---- every format holds what was read
partitions=$("$KRC" read -q -d "$LOGS" --digest | cut -d' ' -f1,2 | tr ' ' -)
records() { # records TOPIC-PARTITION READ-ARGUMENTS...
    partition=$1
    shift
    "$KRC" read -q -d "$LOGS" -t "${partition%-*}" -p "${partition##*-}" "$@"
}
each() { # each SUFFIX FILTER READ-ARGUMENTS...: all files of $to against what is read
    suffix=$1 filter=$2
    shift 2
    for partition in $partitions; do
        records "$partition" "$@" >"$dir/want"
        [ -s "$dir/want" ] || [ -e "$to/$partition$suffix" ] || continue
        $filter <"$to/$partition$suffix" >"$dir/got"
        cmp "$dir/want" "$dir/got" >&2
        same "$partition$suffix" 0 $?
    done
    rm -rf "$to"
}
expect 0 '' '' replay -q -d "$LOGS" --to "$to"
each .jsonl cat -J
run 0 replay -q -d "$LOGS" --to "$to" --jobs 4
each .jsonl cat -J
run 0 replay -q -d "$LOGS" --to "$to" --encoding base64 --compress gzip
each .jsonl.gz 'gzip -dc' -J --encoding base64
run 0 replay -q -d "$LOGS" --to "$to" --compress zstd -X commit.interval.bytes=4000
each .jsonl.zst 'zstd -qdc' -J
run 0 replay -q -d "$LOGS" --to "$to" --format raw -D '\x00|'
each .raw cat -D '\x00|'

# rotated: the parts in the order of their names are the whole
run 0 replay -q -d "$LOGS" --to "$to" --rotate 10KiB -t txns-segments
"$KRC" read -q -d "$LOGS" -t txns-segments -J >"$dir/want"
same 'by size' true "$([ "$(ls "$to"/*.jsonl | wc -l)" -gt 5 ] && echo true)"
same 'by size' "$(cksum <"$dir/want")" "$(cat "$to"/*.jsonl | cksum)"
rm -rf "$to"
run 0 replay -q -d "$LOGS" --to "$to" --rotate 1h -t txns -p 0
same 'by the hour' 'txns-0.00000000000000000003.jsonl txns-0.00000000000000000004.jsonl' \
    "$(cd "$to" && echo *.jsonl)"
for span in 40000h 100000h 4166d; do # which begin with 1970
    rm -rf "$to"
    run 0 replay -q -d "$LOGS" --to "$to" --rotate $span -t txns -p 0
    ls "$to" | grep -c jsonl
done >"$dir/spans"
same 'by spans of hours and days' '2 1 1' "$(xargs <"$dir/spans")"
rm -rf "$to"
run 0 replay -q -d "$LOGS" --to "$to" --rotate 1h -t txns -p 0
same 'by the hour' 3 "$(jq .offset "$to/txns-0.00000000000000000003.jsonl")"

# segments: krc reads the same records from them; first and next differ, for what was aborted and
# left out at the ends is no offset of theirs
counts() {
    "$KRC" read -q -d "$1" --digest | grep -v ' 0 00000000$' | cut -d' ' -f1,2,5,6
}
rm -rf "$to"
run 0 replay -q -d "$LOGS" --to "$to" --format segment
same 'segments' "$(counts "$LOGS")" "$(counts "$to")"
run 0 replay -q -d "$to" --to "$dir/again" --format segment
same 'segments of segments' "$(counts "$LOGS")" "$(counts "$dir/again")"
rm -rf "$to" "$dir/again"

# SQLite, against the JSON lines in base64
db=$dir/records.db
expect 0 '' '' replay -q -d "$LOGS" --to "sqlite:$db"
"$KRC" read -q -d "$LOGS" -J >"$dir/text"
"$KRC" read -q -d "$LOGS" -J --encoding base64 | jq -r '[.topic, .partition, 1, .offset, .timestamp,
    .timestampType, .leaderEpoch, (.key // "null"), (.value // "null")] | map(tostring) |
    join(",")' >"$dir/want"
jq -r '[.topic, .partition, .offset, (.headers | tojson)] | map(tostring) | join(" ")' \
    "$dir/text" >"$dir/headers"
sqlite3 "$db" "SELECT topic, partition, history, offset, timestamp, timestamp_type, leader_epoch,
    CASE WHEN key IS NULL THEN 'null' ELSE lower(hex(key)) END,
    CASE WHEN value IS NULL THEN 'null' ELSE lower(hex(value)) END FROM records" -separator , \
    >"$dir/rows"
perl -ne '
    sub hex_of {
        my $text = shift;
        return $text if $text eq "null";
        $text =~ tr|A-Za-z0-9+/||cd;
        $text =~ tr|A-Za-z0-9+/| -_|;
        return unpack "H*", join "", map { unpack "u", chr(32 + int(length($_) * 3 / 4)) . $_ }
            $text =~ /.{1,60}/g;
    }
    chomp;
    @f = split /,/, $_, -1;
    print join(",", @f[0 .. 6], hex_of($f[7]), hex_of($f[8])), "\n"' "$dir/want" >"$dir/hex"
cmp "$dir/hex" "$dir/rows" >&2
same 'rows' 0 $?
sqlite3 "$db" 'SELECT topic, partition, offset, headers FROM records' -separator ' ' >"$dir/got"
cmp "$dir/headers" "$dir/got" >&2
same 'headers' 0 $?
same 'blobs' 0 "$(sqlite3 "$db" "SELECT count(*) FROM records WHERE typeof(key) NOT IN ('blob', 'null')
    OR typeof(value) NOT IN ('blob', 'null')")"
sqlite3 "$db" .dump >"$dir/whole"
run 0 replay -q -d "$LOGS" --to "sqlite:$db"
same 'again changes nothing' "$(cksum <"$dir/whole")" "$(sqlite3 "$db" .dump | cksum)"

# ---- stopped and started again, the result is that of one run
# a limit counts what the output holds: again changes nothing, and without it the rest follows
limited=$dir/limited
whole=$dir/unlimited
run 0 replay -q -d "$LOGS" -t txns --to "$whole"
for n in 7 7 150 150; do
    run 0 replay -q -d "$LOGS" -t txns -c "$n" --to "$limited"
    same "records with -c $n" "$n" "$(cat "$limited"/*.jsonl | wc -l)"
done
run 0 replay -q -d "$LOGS" -t txns --to "$limited"
for p in 0 1; do
    same "txns-$p after limits" "$(cksum <"$whole/txns-$p.jsonl")" "$(cksum <"$limited/txns-$p.jsonl")"
done
run 0 replay -q -d "$LOGS" -t txns -c 100 --format segment --to "$dir/limited-segment"
run 0 read -q -d "$dir/limited-segment" -f '%t %p %o\n'
same 'segments end before a batch that holds too many' \
    "$(jq -r '"\(.topic) \(.partition) \(.offset)"' "$whole/txns-0.jsonl" | head -n "$(wc -l <"$dir/out")")" \
    "$(cat "$dir/out")"
[ "$(wc -l <"$dir/out")" -gt 90 ] || same 'nearly 100 records' more "$(wc -l <"$dir/out")"

for flags in '--format jsonl' '--format raw' '--format segment' '--compress zstd' '--compress gzip' \
    '--rotate 1h' '--rotate 9KiB --compress zstd'; do
    rm -rf "$to" "$dir/whole"
    for until in 4 40 41 53 140 141 1000; do
        run 0 replay -q -d "$LOGS" -t txns -t trimmed --to "$to" $flags --until "$until"
    done
    run 0 replay -q -d "$LOGS" -t txns -t trimmed --to "$dir/whole" $flags
    case $flags in
    *zstd*) # frames end where each run ended
        same "$flags, in steps" "$(cd "$dir/whole" && cat *.zst | zstd -qdc | cksum)" \
            "$(cd "$to" && cat *.zst | zstd -qdc | cksum)" ;;
    *gzip*)
        same "$flags, in steps" "$(cd "$dir/whole" && cat *.gz | gzip -dc | cksum)" \
            "$(cd "$to" && cat *.gz | gzip -dc | cksum)" ;;
    *) same "$flags, in steps" "$(files "$dir/whole")" "$(files "$to")" ;;
    esac
done

# killed, wherever that comes: each batch is committed, so that there is much to kill
size() {
    cat $1 2>/dev/null | wc -c
}
killed() { # killed TARGET FILES: three times, when the files have grown, then to the end
    for round in 1 2 3; do
        begun=$(size "$2")
        "$KRC" replay -q -d "$LOGS" --to "$1" -X commit.interval.bytes=1 &
        pid=$!
        while kill -0 $pid 2>/dev/null && [ "$(size "$2")" -lt $((begun + 500000)) ]; do
            :
        done
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    run 0 replay -q -d "$LOGS" --to "$1" -X commit.interval.bytes=1
}
rm -rf "$to" "$dir/whole"
run 0 replay -q -d "$LOGS" --to "$dir/whole"
killed "$to" "$to/*.jsonl" 2>/dev/null
same 'killed: files' "$(files "$dir/whole")" "$(files "$to")"
same 'killed: positions and accounts' "$(sqlite3 "$dir/whole/krc.db" .dump)" \
    "$(sqlite3 "$to/krc.db" .dump)"
rm -f "$db"*
run 0 replay -q -d "$LOGS" --to "sqlite:$dir/whole.db"
killed "sqlite:$db" "$db*" 2>/dev/null
same 'killed: tables' "$(sqlite3 "$dir/whole.db" .dump | cksum)" "$(sqlite3 "$db" .dump | cksum)"

# ---- where it starts, and accounts
rm -rf "$to"
run 3 replay -d "$LOGS" -t trimmed -o 3 --until 55 --to "$to" --account json
same 'lost' '3 55 3 0 0 0 49 0 0' "$(account trimmed 0)"
run 3 replay -d "$LOGS" -t trimmed -o 80 --to "$to" --account json
same 'goes on where it was' '3 90 38 0 0 0 49 0 0' "$(account trimmed 0)"
same 'all from there' "$(seq 52 89)" "$(jq .offset "$to/trimmed-0.jsonl")"
run 3 replay -d "$LOGS" --to "$to" --account json
same 'undecided' '0 136 78 48 10 0 0 0 63' "$(account txns-open 0)"
same 'sorted' true "$(tail -n 1 "$dir/err" | jq '[.partitions[] | [.topic, .partition]] | . == sort')"
rm -rf "$to"
expect 0 '' 'TOPIC   PARTITION FROM TO DELIVERED ABORTED CONTROL ABSENT LOST SKIPPED UNDECIDED
trimmed         0   85 90         5       0       0      0    0       0         0' \
    replay -d "$LOGS" -t trimmed -o -5 --to "$to" --jobs 2
rm -rf "$to"
run 0 replay -q -d "$LOGS" -t trimmed --to "$to" --store "$dir/else.db" -g mine
same '--store' 'mine|90' "$(sqlite3 "$dir/else.db" 'SELECT group_id, offset FROM offsets')"
same 'no other store' '' "$(ls "$to" | grep 'krc\.db')"

# ---- damage
rm -rf "$to"
cp -r "$LOGS" "$dir/damaged"
damage "$dir/damaged/codec-zstd-0/00000000000000000000.log" 3000
damage "$dir/damaged/codec-none-0/00000000000000000000.log" 3000
run 1 replay -d "$dir/damaged" --to "$to" --account json
same 'each is told' 'krc: codec-none-0 is corrupt
krc: codec-zstd-0 is corrupt' "$(grep -o '^krc: .* is corrupt' "$dir/err")"
same 'what lies before is written' 19 "$(wc -l <"$to/codec-zstd-0.jsonl")"
same 'and accounted for' '0 19 19 0 0 0 0 0 0' "$(account codec-zstd 0)"
same 'others are' 600 "$(wc -l <"$to/txns-segments-0.jsonl")"
run 3 replay -d "$dir/damaged" --to "$to" --skip-corrupt --account json
same 'skipped' '0 750 736 0 0 0 0 14 0' "$(account codec-zstd 0)"
same 'the rest' "$("$KRC" read -q -d "$dir/damaged" -t codec-zstd --skip-corrupt -J 2>/dev/null |
    cksum)" "$(cksum <"$to/codec-zstd-0.jsonl")"

# ---- another history
rm -rf "$to"
mkdir "$dir/cut"
cp -r "$LOGS/codec-none-0" "$LOGS/trimmed-0" "$LOGS"/*checkpoint "$dir/cut"
run 0 replay -q -d "$dir/cut" --to "$to"
cksum <"$to/codec-none-0.jsonl" >"$dir/want"
truncate -s 2387 "$dir/cut/codec-none-0/00000000000000000000.log" # behind offset 13
run 1 replay -d "$dir/cut" --to "$to" --account json
same 'truncated' 'krc: codec-none-0 was truncated to an offset before that after offsets up to 750 were replayed: --new-history goes on into new files, and leaves what was written' \
    "$(grep 'was truncated' "$dir/err")"
same 'and the end before the high watermark' 1 "$(grep -c 'it had offsets up to 750' "$dir/err")"
same 'the account stays' '0 750 750 0 0 0 0 0 0' "$(account codec-none 0)"
same 'the others go on' '52 90 38 0 0 0 0 0 0' "$(account trimmed 0)"
run 3 replay -q -d "$dir/cut" --to "$to" --new-history
cp "$LOGS/codec-none-0/00000000000000000000.log" "$dir/cut/codec-none-0"
run 0 replay -q -d "$dir/cut" --to "$to" --new-history
same 'the old files stay' "$(cat "$dir/want")" "$(cksum <"$to/codec-none-0.jsonl")"
same 'the new ones' "$(seq 14 749)" "$(jq .offset "$to/codec-none-0.h2.jsonl")"

# ---- another cluster
mkdir "$dir/moved"
cp -r "$LOGS/trimmed-0" "$LOGS/meta.properties" "$dir/moved"
sed -i 's/^cluster.id=.*/cluster.id=elsewhere/' "$dir/moved/meta.properties"
rm -rf "$to"
run 0 replay -q -d "$LOGS" -t trimmed --until 70 --to "$to"
expect 1 '' 'krc: DIR/to was begun with cluster.id "MkU3OEVBNTcwNTJENDM2Qg", and this run has "elsewhere": change the source, or use another target; if the topics moved there with their offsets, --moved-cluster' \
    replay -q -d "$dir/moved" --to "$to"
run 0 replay -q -d "$dir/moved" --to "$to" --moved-cluster
same 'all of it' "$("$KRC" read -q -d "$LOGS" -t trimmed -J | cksum)" "$(cksum <"$to/trimmed-0.jsonl")"
run 0 replay -q -d "$dir/moved" --to "$to"

# ---- what does not go together
refused() { # refused NAME NOW ADVICE ARGUMENTS...
    was=$1 now=$2 advice=$3
    shift 3
    expect 1 '' "krc: DIR/to was begun with $was, and this run has \"$now\": change $advice, or use another target" \
        replay -q -d "$LOGS" -t trimmed --to "$to" "$@"
}
rm -rf "$to"
run 0 replay -q -d "$LOGS" -t trimmed --to "$to"
refused 'format "jsonl"' raw --format --format raw
refused 'compression "none"' zstd --compress --compress zstd
refused 'rotation "none"' 1024 --rotate --rotate 1KiB
refused 'rotation "none"' 2000000 --rotate --rotate 2MB
refused 'rotation "none"' 48h --rotate --rotate 2d
refused 'rotation "none"' '1024, 6h' --rotate --rotate 6h --rotate 1KiB
refused 'isolation.level "read_committed"' read_uncommitted --isolation-level \
    --isolation-level read_uncommitted
refused 'encoding "text"' base64 --encoding --encoding base64
echo 4711 >"$to/krc.lock"
flock "$to/krc.lock" "$KRC" replay -d "$LOGS" --to "$to" 2>"$dir/err"
same 'exit status of a busy target' 1 $?
same 'busy' "krc: process 4711 is writing to $to: wait until it has ended, or use another target" \
    "$(cat "$dir/err")"
mkdir "$dir/links"
ln -s links/real.db "$dir/link.db"
ln -s link.db "$dir/link2.db"
run 0 replay -q -d "$LOGS" -t trimmed --to "sqlite:$dir/link.db"
same 'the lock lies beside what a link leads to' 'real.db real.db-lock' \
    "$(cd "$dir/links" && echo * ../link*-lock | sed 's/ \.\.\/link\*-lock$//')"
for name in link.db link2.db links/real.db links/../links/real.db; do
    flock "$dir/links/real.db-lock" "$KRC" replay -q -d "$LOGS" --to "sqlite:$dir/$name" 2>"$dir/err"
    same "busy by the name $name" "1 1" "$? $(grep -c 'is writing to' "$dir/err")"
done
mkdir "$dir/full"
echo x >"$dir/full/x"
expect 1 "" "krc: DIR/full holds x, but no replay was begun there (DIR/full/krc.db has none, or krc.lock is missing): use an empty folder" \
    replay -d "$LOGS" --to "$dir/full"
same 'a folder of other things' 'x' "$(cd "$dir/full" && echo *)"
mv "$dir/full/x" "$dir/full/x-0.jsonl"
run 1 replay -q -d "$LOGS" --to "$dir/full" --store "$dir/else.db"
same 'though its store was begun for another' 'x-0.jsonl' "$(cd "$dir/full" && echo *)"
for time in first second; do
    run 0 replay -q -d "$LOGS" -t trimmed --to "$dir/own" --store "$dir/own/store.db"
done

# what fails before anything was written leaves nothing behind, and what was there stays
mkdir "$dir/empty"
cp -R "$LOGS/codec-none-0" "$dir/broken-0"
damage "$dir/broken-0/00000000000000000000.log" 17
before=$(ls -A "$dir")
for at in "$dir/new" "$dir/empty" "sqlite:$dir/new.db"; do
    run 1 replay -q -d "$dir/broken-0" --to "$at"
    same "left by $at" "$before" "$(ls -A "$dir")"
    same "left in $dir/empty" '' "$(ls -A "$dir/empty")"
done
: >"$dir/mine.db"
run 1 replay -q -d "$dir/broken-0" --to "sqlite:$dir/mine.db"
same 'an empty file' mine.db "$(cd "$dir" && ls mine.db)"
expect 1 '' 'krc: cannot open DIR/none/new.db: No such file or directory' \
    replay -q -d "$LOGS" --to "sqlite:$dir/none/new.db"
run 0 replay -q -d "$LOGS" -t never --to "$dir/new"
same 'what has succeeded' 'krc.db krc.lock' "$(cd "$dir/new" && echo *)"
run 1 replay -q -d "$dir/broken-0" --to "$dir/new"
same 'what was begun before' 'krc.db krc.lock' "$(cd "$dir/new" && echo *)"
rm -rf "$dir/new"

usage() { # usage MESSAGE ARGUMENTS...
    message=$1
    shift
    expect 2 '' "krc: $message$more" replay -d "$LOGS" "$@"
}
usage 'replay: where to? Name a folder or sqlite:FILE with --to'
usage 'replay: what is "x"? Topics are named with -t' --to "$to" x
usage '--format "csv": say jsonl, raw or segment' --format csv
usage '--compress "lz4": say zstd or gzip' --compress lz4
for value in 0 100 -1 -1h 0d 1m 1MiBx x 9999999TiB 99999999999h '' GiB 1gib; do
    usage "--rotate \"$value\": give a number from 1 with its unit: KiB, MiB, GiB, TiB, KB, MB, GB, \
TB, h or d, such as 1GiB, 6h or 1d" --rotate "$value"
done
for value in 0 -1 x 2000; do
    usage "--jobs \"$value\": give a number from 1 to 1024" --jobs "$value"
done
usage 'replay: -D goes with --format raw' --to "$to" -D x
usage 'replay: a delimiter has at most 32 bytes' --to "$to" --format raw -D "$(seq -s. 20)"
usage 'replay: --encoding base64 goes with --format jsonl' --to "$to" --format raw --encoding base64
usage 'replay: --encoding base64 goes with --format jsonl' --to sqlite:x --encoding base64
usage 'replay: a limit of records goes with one job: of several, which come first is left to chance' \
    --to "$to" -c 1 --jobs 2
usage '--follow: a log folder always ends, there is nothing to follow' --to "$to" --follow
together='a SQLite file keeps its own offsets and is written by one thread: neither another store nor more jobs go with it'
usage "replay: $together" --to "sqlite:$dir/no.db" --jobs 2
usage "replay: $together" --to "sqlite:$dir/no.db" --store "$dir/other.db"
usage 'replay: format, compression and rotation are of files: a SQLite table has none' \
    --to "sqlite:$dir/no.db" --compress zstd
usage 'replay: segments keep batches as they are: they are not compressed again, and Kafka 0.7'"'"'s are not the same format' \
    --to "$dir/no" --format segment --compress zstd
member() { # member MESSAGE ARGUMENTS...
    message=$1
    shift
    expect 2 '' "krc: replay: $message$more" \
        replay -b 127.0.0.1:1 -t t --to "$dir/no" --join "$@"
}
group='--join is about a cluster'"'"'s group: name both with -b and -g'
member "$group"
usage "replay: $group" --to "$dir/no" --join -g g
usage "replay: --commit is about a cluster's group: name both with -b and -g" \
    --to "$dir/no" --commit -g g
member '--join commits to the group: leave out --commit' -g g --commit
says='with --join the group says'
member "$says where partitions begin, and they are read to their end: leave out -o, -e and --until" \
    -g g -o 5
member "$says which partitions: leave out -p" -g g -p 0
member "the output of a group's member keeps its own offsets: another store does not go with it" \
    -g g --store "$dir/other.db"
member "segments do not go with a group: the marker that ends a transaction may lie in another \
member's output, and without it the segment reads as if the transaction were open" \
    -g g --format segment
member 'a member of a group is one job, which the group may end and begin: neither more jobs, nor a '\
'limit of records, nor a new history go with it' -g g --jobs 2
same 'nothing was made' '' "$(ls "$dir" | grep -e '^no' -e '^other')"
expect 2 '' "krc: replay: where from? Name a cluster with -b or a log folder with -d$more" replay --to "$to"
expect 2 '' "krc replay: unrecognized option '--nope'" replay --nope
expect 1 '' 'krc: the log folders have no topic "nope"' \
    replay -q -d "$LOGS" -t nope --to "$dir/new"
run 0 replay --help
