#!/bin/sh
# krc offsets: what it prints, what it leaves in the store, and how it refuses.
# KRC names the command; jq and sqlite3 judge.

me=tests/cmd/offsets.sh
. tests/cmd/common
db=$dir/krc.db

# expect STATUS OUT ERR ARGUMENTS...: what `krc offsets` with the arguments exits with and says.
# The folder's name, times and the width of columns are masked.
expect() {
    status=$1 out=$2 err=$3
    shift 3
    "$KRC" offsets "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    same "exit status of $*" "$status" "$got"
    same "output of $*" "$out" "$(sed -E "$mask" "$dir/out")"
    same "errors of $*" "$err" "$(sed "s#$dir#DIR#g" "$dir/err")"
}
mask='s/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z/TIME/; s/ +/ /g'

sql() {
    same "$1" "$2" "$(sqlite3 "$db" "$1")"
}

# ---- usage
expect 2 '' "krc: offsets: say list, lag, export, import, reset or migrate$more"
for action in list export; do
    expect 2 '' "krc: offsets $action: where are they? Name an offset store with --store, a cluster \
with -b, or a data folder with -d$more" $action
done
for action in import reset; do
    expect 2 '' "krc: offsets $action: where are they? Name an offset store with --store, a cluster \
with -b$more" $action
    expect 2 '' "krc: offsets $action: a broker's folder is only read: name an offset store with \
--store, or a cluster with -b$more" $action -d "$LOGS"
done
expect 2 '' "krc: offsets lag: needs the log: name its folder with -d, or the cluster \
with -b$more" lag --store "$db"
expect 2 '' "krc: offsets list: --exact means nothing here$more" list --store "$db" --exact
expect 2 '' "krc: offsets: there is no \"move\", say list, lag, export, import, reset or migrate$more" \
    move --store "$db"
expect 2 '' "krc: offsets list: what is \"x\"?$more" list x --store "$db"
expect 2 '' "krc: offsets reset: where to? Give a target such as --to-offset N$more" \
    reset --store "$db"
for target in --to-earliest --to-latest "--to-datetime 2026-01-31T12:00" "--by-duration PT1H"; do
    expect 2 '' "krc: offsets reset: ${target%% *} needs the log: name its folder with -d, or \
the cluster with -b$more" \
        reset --store "$db" $target
done
expect 2 '' "krc: --to-offset and --to-current: only one target can be$more" \
    reset --store "$db" --to-offset 1 --to-current
expect 2 '' "krc: --to-offset \"-1\": give a number from 0$more" reset --store "$db" --to-offset -1
expect 2 '' "krc: --shift-by \"1x\": give a number, such as -10 or +10$more" reset --store "$db" --shift-by 1x
for time in 2026-02-29T00:00:00 2026-01-01T 2026-01-01T24:00 2026-01-01T00:00+25:00 -10 -m now- \
    2026-01-01T00:00:00. 26-01-01T00:00 2026-01-01T00:00Zx 2026-01-01T00:00+5 2026-01-01Z -10mm; do
    expect 2 '' "krc: --to-datetime \"$time\": give a time such as 2026-01-31T12:00:00.000Z (UTC where \
it names no zone), 2026-01-31, or -10m$more" \
        reset --store "$db" --to-datetime $time
done
for duration in P PT 1H PT1D P1H PT1M1H PT1.5H P1DT -PT1H; do
    expect 2 '' "krc: --by-duration \"$duration\": give a duration such as P1D or PT2H30M$more" \
        reset --store "$db" --by-duration $duration
done
expect 2 '' "krc: -p \"3-1\": partitions are given as 0 or 0,3 or 0-7$more" list --store "$db" -p 3-1
expect 2 '' "krc: -t \"a:x\": a topic is given as TOPIC, TOPIC:0,3 or ^REGEX$more" \
    list --store "$db" -t a:x
expect 2 '' "krc: -t \"^(\": invalid regular expression: a ( without its )$more" list --store "$db" -t '^('
expect 2 '' "krc: offsets list: --execute means nothing here$more" list --store "$db" --execute
expect 2 '' "krc: offsets list: --dry-run means nothing here$more" list --store "$db" --dry-run
expect 2 '' "krc: offsets import: --to-offset means nothing here$more" \
    import --store "$db" --to-offset 1
expect 2 '' "krc: offsets reset: --json means nothing here$more" reset --store "$db" --json
expect 2 '' "krc offsets: unrecognized option '--nope'" list --nope
same 'nothing was made' '' "$(ls "$dir" | grep -v -e out -e err)"

# ---- import and export
unchecked='krc: no log was named with -b or -d: whether offsets are in its range was not checked'
none='krc: there is no offset store DIR/krc.db: nothing was committed to it yet'
expect 1 '' "$none" list --store "$db"
expect 1 '' "$none" export --store "$db"
expect 1 '' "$none" reset --store "$db" --to-offset 1 -t t:0
printf '\n' >"$dir/0.csv"
expect 1 '' 'krc: DIR/0.csv has no offsets that could be imported' import "$dir/0.csv" --store "$db"
printf 'trimmed,0,60\ntxns-open,0,100\n"a-topic-of-more-than-24-characters",3,7\n\n' >"$dir/3.csv"
expect 0 'GROUP TOPIC PARTITION CURRENT-OFFSET NEW-OFFSET
default a-topic-of-more-than-24-characters 3 - 7
default trimmed 0 - 60
default txns-open 0 - 100' "$unchecked
krc: a dry run, nothing was imported" \
    import "$dir/3.csv" --store "$db" --dry-run
same 'a dry run makes no store' '' "$(ls "$dir" | grep krc.db)"
expect 0 'GROUP TOPIC PARTITION CURRENT-OFFSET NEW-OFFSET
default a-topic-of-more-than-24-characters 3 - 7
default trimmed 0 - 60
default txns-open 0 - 100' "$unchecked" import "$dir/3.csv" --store "$db"
expect 0 '"a-topic-of-more-than-24-characters",3,7
trimmed,0,60
txns-open,0,100' '' export --store "$db" -g default
expect 0 'default,"a-topic-of-more-than-24-characters",3,7
default,trimmed,0,60
default,txns-open,0,100' '' export --store "$db"
sql "SELECT group_id, topic, partition, from_offset, to_offset, reason FROM resets ORDER BY topic" \
    'default|a-topic-of-more-than-24-characters|3||7|imported by the user
default|trimmed|0||60|imported by the user
default|txns-open|0||100|imported by the user'
sql 'SELECT DISTINCT settled, leader_epoch, commit_time_ms > 1700000000000 FROM offsets' '0||1'
"$KRC" offsets export --store "$db" | sed 's/^default/"my ""own"", group"/' >"$dir/4.csv"
run 0 offsets import "$dir/4.csv" --store "$db"
expect 0 'trimmed,0,60' '' export --store "$db" -t trimmed -g 'my "own", group'
"$KRC" offsets export --store "$db" -J >"$dir/all.json"
same 'export -J, as jq reads it' 'my "own", group trimmed 0 60 null' "$(jq -r '.[] |
    select(.group != "default" and .topic == "trimmed") |
    "\(.group) \(.topic) \(.partition) \(.offset) \(.leaderEpoch)"' "$dir/all.json")"
"$KRC" offsets export --store "$db" >"$dir/all.csv"
rm -f "$db"*
"$KRC" offsets import --store "$db" <"$dir/all.json" >"$dir/plan" 2>"$dir/err" || exit 1
same 'JSON there and back' "$(cat "$dir/all.csv")" "$("$KRC" offsets export --store "$db")"
expect 1 '' "krc: DIR/all.csv: line 4, column 1: group \"my \"own\", group\" after group \"default\": \
both cannot become group \"other\"" import "$dir/all.csv" --store "$db" -g other

# one group under another name, from a pipe; one JSON object a line
for file in '' -; do
    "$KRC" offsets export --store "$db" -J -g default | "$KRC" offsets import $file --store "$db" \
        -g other >"$dir/out" 2>"$dir/err"
    same 'a row for each' 'other trimmed 0 60' "$(awk '$2 == "trimmed" { print $1, $2, $3, $NF }' "$dir/out")"
    same 'under another name' "$("$KRC" offsets export --store "$db" -g default)" \
        "$("$KRC" offsets export --store "$db" -g other)"
done
jq -c '.[]' "$dir/all.json" >"$dir/lines.json"
rm -f "$db"*
run 0 offsets import "$dir/lines.json" --store "$db"
same 'JSON, a line each' "$(cat "$dir/all.csv")" "$("$KRC" offsets export --store "$db")"
(cat "$dir/lines.json" && echo '{"topic":"t","partition":0}') >"$dir/bad.json"
expect 1 '' "krc: DIR/bad.json: line 7: \"offset\" is missing or no number from 0 to \
9223372036854775807" import "$dir/bad.json" --store "$db"
expect 1 '' "krc: DIR/4.csv: offsets of group \"my \"own\", group\": name the group with -g" \
    reset --store "$db" --from-file "$dir/4.csv"
printf 't,0,1\nt,1,x\n' >"$dir/bad.csv"
expect 1 '' "krc: DIR/bad.csv: line 2, column 5: \"x\" is no offset, a number from 0 to \
9223372036854775807" import "$dir/bad.csv" --store "$db"
sql "SELECT count(*) FROM offsets WHERE topic = 't'" 0
expect 1 '' 'krc: cannot open DIR/none.csv: No such file or directory' \
    import "$dir/none.csv" --store "$db"
expect 1 '' 'krc: cannot read DIR: Is a directory' import "$dir" --store "$db"
echo 'not a store at all' >"$dir/text"
expect 1 '' "krc: DIR/text is no offset store: it is not even a SQLite file; it was left as it is, name \
another file" import "$dir/3.csv" --store "$dir/text"

# ---- list
title='GROUP TOPIC PARTITION LOG-START COMMITTED LAST-STABLE HIGH-WATERMARK LOG-END LAG UNDECIDED '\
'LEADER-EPOCH COMMIT-TIME HISTORY'
expect 0 "$title
default trimmed 0 - 60 - - - - - - TIME 1
default txns-open 0 - 100 - - - - - - TIME 1" '' list --store "$db" -g default -t '^t'
expect 0 "$title
default a-topic-of-more-than-24-characters 3 - 7 - - - - - - TIME 1
default trimmed 0 52 60 $(zcat "$EXPECTED/trimmed.read_committed.jsonl.gz" | tail -n 1 |
    jq -r '"\(.end) \(.end) \(.end) \(.end - 60)"') 0 - TIME 1
default txns-open 0 0 100 136 199 199 36 63 - TIME 1" '' list --store "$db" -g default -d "$LOGS"
"$KRC" offsets list --store "$db" -g default -d "$LOGS" -J >"$dir/list.json"
same 'list -J' '100 136 199 199 36 63 null 1' "$(jq -r 'select(.topic == "txns-open") |
    "\(.committedOffset) \(.lastStableOffset) \(.highWatermark) \(.logEndOffset) \(.lag) " +
    "\(.undecided) \(.leaderEpoch) \(.history)"' "$dir/list.json")"
expect 0 "$title" '' list --store "$db" -g nobody

# ---- lag
title='GROUP TOPIC PARTITION LOG-START COMMITTED LAST-STABLE HIGH-WATERMARK LOG-END LAG UNDECIDED'
expect 0 "$title
default txns-open 0 0 100 136 199 199 36 63" '' lag --store "$db" -g default -t txns-open -d "$LOGS"

# records TOPIC PARTITION FROM: how many Kafka's consumer read from there on
records() {
    zcat "$EXPECTED/$1.read_committed.jsonl.gz" |
        jq -s "map(select(.timestamp and .partition == $2 and .offset >= $3)) | length"
}

# last TOPIC PARTITION: the offset behind the last record that it read
last() {
    zcat "$EXPECTED/$1.read_committed.jsonl.gz" |
        jq -s "map(select(.timestamp and .partition == $2)) | .[-1].offset + 1"
}

# every number against what Kafka's consumer read: from the start, from the middle, from the last
# record, and from behind it, where nothing but markers and what was aborted is left
for partition in txns:0 txns:1 txns-open:0 txns-segments:0 compacted:0 trimmed:0; do
    topic=${partition%:*} p=${partition#*:}
    end=$(zcat "$EXPECTED/$topic.read_committed.jsonl.gz" |
        jq -s "map(select(.position and .partition == $p)) | .[0].end")
    behind=$(last $topic $p)
    for from in 0 60 $((behind - 1)) $behind; do
        rm -f "$dir/lag.db"*
        echo "$topic,$p,$from" | "$KRC" offsets import --store "$dir/lag.db" >"$dir/plan" 2>"$dir/err" || exit 1
        "$KRC" offsets lag --exact --store "$dir/lag.db" -d "$LOGS" -J >"$dir/out"
        start=$(jq .logStartOffset "$dir/out")
        count=$(records $topic $p $from)
        lag=$((count == 0 ? 0 : end - (from > start ? from : start)))
        same "lag of $topic-$p from $from" "$end $lag $count" \
            "$(jq -r '"\(.lastStableOffset) \(.lag) \(.lagRecords)"' "$dir/out")"
        same "lag of $topic-$p from $from, not exact" "$lag null" \
            "$("$KRC" offsets lag --store "$dir/lag.db" -d "$LOGS" -J 2>"$dir/err" |
                jq -r '"\(.lag) \(.lagRecords)"')"
    done
done

# groups that have a partition in common
printf 'a,txns,0,57\nb,txns,0,5\nc,txns,0,189\nd,nowhere,3,1\n' |
    "$KRC" offsets import --store "$dir/four.db" >"$dir/plan" 2>"$dir/err"
expect 0 "$title
a txns 0 0 57 189 189 189 132 0
b txns 0 0 5 189 189 189 184 0
c txns 0 0 189 189 189 189 0 0
d nowhere 3 - 1 - - - - -" '' lag --store "$dir/four.db" -d "$LOGS"

# offsets that are none: said, marked, and no lag of 0
printf 'txns,0,10070\ntrimmed,0,7\nnowhere,3,1\n' >"$dir/none.csv"
expect 0 'GROUP TOPIC PARTITION CURRENT-OFFSET NEW-OFFSET
default nowhere 3 - 1
default trimmed 0 - 52
default txns 0 - 189' "krc: nowhere-3: whether offset 1 is in the range of the log is not known: the log \
folders have no partition nowhere-3
krc: trimmed-0: offset 7 is out of range; using 52
krc: txns-0: offset 10070 is out of range; using 189" \
    import "$dir/none.csv" --store "$dir/inside.db" -d "$LOGS"
"$KRC" offsets import "$dir/none.csv" --store "$dir/none.db" >"$dir/plan" 2>"$dir/err" || exit 1
expect 0 "$title NOTE
default nowhere 3 - 1 - - - - - -
default trimmed 0 52 7 90 90 90 38 0 below the start
default txns 0 0 10070 189 189 189 - 0 beyond the end" '' lag --store "$dir/none.db" -d "$LOGS"
"$KRC" offsets list --store "$dir/none.db" -d "$LOGS" -J >"$dir/list.json"
same 'list -J' 'null null false below the start 38 false beyond the end null false' \
    "$(jq -r '"\(.range) \(.lag) \(.pending)"' "$dir/list.json" | xargs)"
expect 0 'nowhere,3,1
trimmed,0,7
txns,0,10070' 'krc: group default: trimmed-0: offset 7 is below the start of the log, 52
krc: group default: txns-0: offset 10070 is beyond the end of the log, 189' \
    export --store "$dir/none.db" -d "$LOGS" -g default
same 'export -J' 'null below the start beyond the end' \
    "$("$KRC" offsets export --store "$dir/none.db" -d "$LOGS" -J 2>"$dir/err" |
        jq -r '.[].range' | xargs)"

# ---- a folder's own groups
zcat "$EXPECTED/groups.jsonl.gz" | jq -c '[.group, .topic, .partition, .offset, .metadata]' |
    sort >"$dir/wanted"
"$KRC" offsets list -d "$LOGS" -J |
    jq -c '[.group, .topic, .partition, .committedOffset, .metadata]' | sort >"$dir/got"
same 'list -d, and what the broker reported' "$(cat "$dir/wanted")" "$(cat "$dir/got")"
"$KRC" offsets export -d "$LOGS" -J 2>"$dir/err" |
    jq -c '.[] | [.group, .topic, .partition, .offset, .metadata]' | sort >"$dir/got"
same 'export -d, and what the broker reported' "$(cat "$dir/wanted")" "$(cat "$dir/got")"
expect 0 'txns,0,57
txns,1,33' '' export -d "$LOGS" -g billing
expect 0 "GROUP TOPIC PARTITION LOG-START COMMITTED LAST-STABLE HIGH-WATERMARK LOG-END LAG \
UNDECIDED LEADER-EPOCH COMMIT-TIME STATE
audit codec-zstd 0 0 101 750 750 750 649 0 - TIME Empty" '' list -d "$LOGS" -g audit
expect 0 "$title NOTE
behind trimmed 0 52 7 90 90 90 38 0 below the start" '' lag -d "$LOGS" -t trimmed
expect 0 '' '' export -d "$LOGS" -g gone
expect 1 '' 'krc: the log folders have no __consumer_offsets' list -d "$LOGS/txns-0"

# moved into a store: as CSV, and as JSON with all that goes with an offset
"$KRC" offsets export -d "$LOGS" 2>"$dir/err" | "$KRC" offsets import --store "$dir/moved.db" \
    >"$dir/plan" 2>"$dir/err" || exit 1
same 'CSV from a folder to a store' "$("$KRC" offsets export -d "$LOGS" 2>"$dir/err")" \
    "$("$KRC" offsets export --store "$dir/moved.db")"
rm -f "$dir/moved.db"*
"$KRC" offsets export -d "$LOGS" -J 2>"$dir/err" | "$KRC" offsets import --store "$dir/moved.db" \
    >"$dir/plan" 2>"$dir/err" || exit 1
same 'JSON from a folder to a store' "$("$KRC" offsets export -d "$LOGS" -J 2>"$dir/err" | jq 'map(del(.range))')" \
    "$("$KRC" offsets export --store "$dir/moved.db" -J | jq .)"
"$KRC" read -d "$LOGS" -t txns --store "$dir/moved.db" -g billing -J 2>"$dir/err" >"$dir/out"
same 'records from there on' "$(($(records txns 0 57) + $(records txns 1 33)))" \
    "$(wc -l <"$dir/out" | tr -d ' ')"
same 'topic ids went along' 0 "$(grep -c 'made again' "$dir/err")"

# an offset of a topic that was made again
sqlite3 "$dir/moved.db" "UPDATE histories SET topic_id = x'000102030405060708090a0b0c0d0e0f'
    WHERE group_id = 'audit'"
expect 0 "$title
audit codec-zstd 0 0 101 750 750 750 - 0" 'krc: group audit: topic codec-zstd was made again since '\
'offset 101 of partition 0 was committed, which says nothing of it' \
    lag --store "$dir/moved.db" -d "$LOGS" -g audit
"$KRC" offsets export -d "$LOGS" -g audit -J |
    "$KRC" offsets import --store "$dir/moved.db" >"$dir/plan" 2>"$dir/err" || exit 1
same 'the new topic has a history of its own' '1|2' "$(sqlite3 "$dir/moved.db" \
    "SELECT group_concat(history, '|') FROM histories WHERE group_id = 'audit'")"

# ---- reset
dry='krc: a dry run, nothing was changed; --execute does it'
plan='GROUP TOPIC PARTITION CURRENT-OFFSET NEW-OFFSET'
expect 0 "$plan
default trimmed 0 60 9" "$unchecked
$dry" reset --store "$db" -t trimmed --to-offset 9
sql "SELECT offset FROM offsets WHERE topic = 'trimmed' AND group_id = 'default'" 60
expect 0 "$plan
default trimmed 0 60 52" "krc: trimmed-0: offset 9 is out of range; using 52
$dry" reset --store "$db" -t trimmed --to-offset 9 -d "$LOGS"
expect 0 "$plan
default txns-open 0 100 0" "$dry" reset --store "$db" -t txns-open --to-earliest -d "$LOGS"
expect 0 "$plan
default txns-open 0 100 136" "$dry" reset --store "$db" -t txns-open --to-latest -d "$LOGS"
expect 0 "$plan
default txns-open 0 100 199" "$dry" reset --store "$db" -t txns-open --to-latest -d "$LOGS" \
    --isolation-level read_uncommitted
expect 0 "$plan
default txns-open 0 100 100" "$dry" reset --store "$db" -t txns-open --to-current
expect 0 "$plan
default txns-open 0 100 0" "$unchecked
$dry" reset --store "$db" -t txns-open --shift-by -1000
expect 0 "$plan
default txns-open 0 100 199" "krc: txns-open-0: offset 1100 is out of range; using 199
$dry" reset --store "$db" -t txns-open --shift-by 1000 -d "$LOGS"
expect 1 '' 'krc: partition 5 of topic txns-open: the group has no committed offset there' \
    reset --store "$db" -t txns-open:5 --shift-by 1
expect 1 '' "krc: partition 0 of topic trimmed: no offset is that large" \
    reset --store "$db" -t trimmed --shift-by 9223372036854775807
for shift in 99999999999 9223372036854775807; do
    "$KRC" offsets reset --store "$db" -t trimmed --shift-by $shift -d "$LOGS" >"$dir/out" 2>&1
    same "as far as the end, by $shift" 'default trimmed 0 '"$(sqlite3 "$db" "SELECT offset FROM offsets
        WHERE group_id = 'default' AND topic = 'trimmed'") 90" "$(sed -n 's/  */ /g; /^default/p' "$dir/out")"
done
expect 1 '' 'krc: nothing to reset: group "x" has no committed offset of such partitions in '\
'DIR/krc.db' reset --store "$db" -g x --to-offset 1
expect 1 '' 'krc: partition 100000 of topic trimmed: so many partitions cannot be meant' \
    reset --store "$db" -t trimmed:0-2000000000 --to-offset 1
expect 2 '' "krc: offsets reset: --execute and --dry-run exclude each other$more" \
    reset --store "$db" --to-offset 1 --execute --dry-run

# by time: the first record at or after the time of one in the middle of what Kafka read
zcat "$EXPECTED/txns.read_committed.jsonl.gz" |
    jq -s 'map(select(.partition == 0 and .timestamp))' >"$dir/records"
time=$(jq '.[length / 2 | floor].timestamp' "$dir/records")
first=$(jq "map(select(.timestamp >= $time)) | .[0].offset" "$dir/records")
iso=$(date -u -d "@$((time / 1000))" +%Y-%m-%dT%H:%M:%S).$(printf %03d $((time % 1000)))
east=$(date -u -d "@$((time / 1000 + 19800))" +%Y-%m-%dT%H:%M:%S).$(printf %03d $((time % 1000)))
further=$(date -u -d "@$((time / 1000 + 18000))" +%Y-%m-%dT%H:%M:%S).$(printf %03d $((time % 1000)))
for text in "$iso" "${iso}Z" "${east}+05:30" "${east}000+0530" "$further+05"; do
    expect 0 "$plan
default txns 0 - $first" "$dry" reset --store "$db" -t txns -p 0 --to-datetime "$text" -d "$LOGS"
done
expect 0 "$plan
default txns 0 - 0" "$dry" reset --store "$db" -t txns:0 --by-duration P36500DT1H1M1.5S -d "$LOGS"
for text in -9999d 2000-01-01; do
    expect 0 "$plan
default txns 0 - 0" "$dry" reset --store "$db" -t txns:0 --to-datetime $text -d "$LOGS"
done
expect 1 '' 'krc: the log folders have no partition 9 of topic "txns"; there are partitions 0 to 1' \
    reset --store "$db" -t txns:9 --to-latest -d "$LOGS"

# acted on: several at once, and what the store then says
expect 0 "$plan
default t 0 - 4
default t 2 - 4
default t 3 - 4
default u 1 - 4" "$unchecked" reset --store "$db" -t t:0,2-3 -t u:1 -t t:3 --to-offset 4 --execute
expect 0 "$plan
default t 0 4 5
default t 2 4 5
default t 3 4 5" "$unchecked" reset --store "$db" -t '^t$' --shift-by +1 --execute
printf 'default,t,0,8\ndefault,t,2,5\n' >"$dir/plan.csv"
expect 0 "$plan
default t 0 5 8
default t 2 5 5" "$unchecked" reset --store "$db" --from-file "$dir/plan.csv" --execute
sql "SELECT partition, from_offset, to_offset, lost_from = lost_to, reason FROM resets
     WHERE topic = 't' ORDER BY id" '0||4|1|reset by the user
2||4|1|reset by the user
3||4|1|reset by the user
0|4|5|1|reset by the user
2|4|5|1|reset by the user
3|4|5|1|reset by the user
0|5|8|1|reset by the user'
sql "SELECT partition, offset, settled, from_offset, to_offset FROM offsets
     JOIN histories USING (group_id, topic, partition, history) WHERE topic = 't'" '0|8|0|8|8
2|5|0|5|5
3|5|0|5|5'
sql 'PRAGMA integrity_check' ok

# ---- a sink's offsets stay
sqlite3 "$db" "INSERT INTO sinks VALUES ('t', 0, 1, 0, 100, NULL)"
expect 1 '' "$unchecked
krc: DIR/krc.db belongs to a sink, which stands where its offsets are: if they moved, records \
would be written twice or left out; replay into another place" \
    reset --store "$db" -t t:0 --to-offset 0 --execute
sql "SELECT offset FROM offsets WHERE topic = 't' AND partition = 0" 8

# ---- what cannot be written is said
"$KRC" offsets list --store "$db" >/dev/full 2>"$dir/err"
same 'exit status of a full disk' 1 $?
same 'a full disk' 'krc: cannot write to standard output: No space left on device' \
    "$(cat "$dir/err")"
