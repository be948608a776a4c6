#!/bin/sh
# krc offsets migrate: what it prints, reports and commits, and how it goes on from a report.
# KRC names the command; jq and sqlite3 judge.  How places are found is in tests/admin/.

me=tests/cmd/migrate.sh
. tests/cmd/common

# expect STATUS OUT ERR ARGUMENTS...
expect() {
    status=$1 out=$2 err=$3
    shift 3
    "$KRC" offsets migrate "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    same "exit status of $*" "$status" "$got"
    same "output of $*" "$out" "$(sed -E 's/ +/ /g' "$dir/out")"
    same "errors of $*" "$err" "$(sed "s#$dir#DIR#g" "$dir/err")"
}

sql() {
    same "$2" "$3" "$(sqlite3 "$1" "$2")"
}

# ---- usage
expect 2 '' "krc: offsets migrate: where from? Name a cluster with -b, a data folder with -d or an \
offset store with --store$more"
expect 2 '' "krc: offsets migrate: where to? Name a cluster with --to-bootstrap-server or an offset \
store with --to-store$more" -d "$LOGS" --to-log-dir "$LOGS"
expect 2 '' "krc: offsets migrate: which group? Name it with -g$more" -d "$LOGS" --to-store x
logs="the logs are needed on both sides, to find the records: name"
expect 2 '' "krc: offsets migrate: $logs --to-bootstrap-server or --to-log-dir, or say \
--same-offsets$more" -d "$LOGS" -g g --to-store x
expect 2 '' "krc: offsets migrate: $logs --bootstrap-server or --log-dir, or say \
--same-offsets$more" --store x --to-store y --to-log-dir "$LOGS"
expect 2 '' "krc: offsets migrate: --bootstrap-server and --log-dir: the logs are in one of \
them$more" -b localhost:1 -d "$LOGS" -g g --to-store x
expect 2 '' "krc: offsets migrate: --execute and --dry-run exclude each other$more" \
    --execute --dry-run
expect 2 '' "krc: offsets migrate: what is \"x\"?$more" x
expect 2 '' "krc: --window-ms \"1s\": give a number of milliseconds from 0$more" --window-ms 1s
expect 2 '' "krc offsets migrate: unrecognized option '--nope'" --nope
same '--help' 0 "$("$KRC" offsets migrate --help >"$dir/out"; echo $?)"
same 'nothing was made' '' "$(ls "$dir" | grep -v -e out -e err)"

# ---- a copy of txns, as a copier makes it: without markers and what was aborted
copy=$dir/copy
"$KRC" replay -q -d "$LOGS" -t txns --to "$copy" --format segment 2>"$dir/err" || exit 1
rm -f "$copy"/krc.*
to="--to-store $dir/to.db --to-log-dir $copy"
dry='krc: a dry run, nothing was changed; --execute does it'
title='TOPIC PARTITION FROM-OFFSET TO-OFFSET VERDICT AGAIN EVIDENCE'
found='the next record lies there, and no other is like it; 8 neighbours before and 8 after agree'
want() {
    "$KRC" read -q -d "$1" -t txns -p "$2" -o "$3" -c 1 -f '%o %s\n'
}

expect 1 '' 'krc: group "billing" has no committed offset of topic "txn"; the nearest is "txns"' \
    -d "$LOGS" -g billing $to -t txns -t txn
expect 1 '' 'krc: nothing to migrate: group "none" has no committed offset of such partitions' \
    -d "$LOGS" -g none $to
expect 0 "$title
txns 0 57 58 exact 0 $found
txns 1 33 33 exact 0 $found" "$dry" -d "$LOGS" -g billing $to
expect 0 "$title
txns 1 33 33 exact 0 $found" "$dry" -d "$LOGS" -g billing $to -p 1
same 'a dry run makes no store' '' "$(ls "$dir" | grep to.db)"
same 'the record is the same' "$(want "$LOGS" 0 57)" "$(want "$copy" 0 58)"

"$KRC" offsets migrate -d "$LOGS" -g billing $to -J >"$dir/out" 2>"$dir/err"
same '-J' 'billing txns 0 57 58 exact false 58 8 8 false false 0' "$(jq -r 'select(.partition == 0) |
    "\(.group) \(.topic) \(.partition) \(.fromOffset) \(.toOffset) \(.verdict) \(.committed) " +
    "\(.recordOffset) \(.before) \(.after) \(.byNeighbours) \(.timestampsLeftOut) \(.again)"' \
    "$dir/out")"

# ---- the same log needs no search: its cluster and topic are the same by their ids
same='offsets are the same there'
expect 0 "$title
txns 0 57 57 same 0 $same
txns 1 33 33 same 0 $same" "$dry" -d "$LOGS" -g billing --to-store "$dir/to.db" --to-log-dir "$LOGS"
expect 0 "$title
txns 0 57 57 same 0 $same
txns 1 33 33 same 0 $same" "$dry" -d "$LOGS" -g billing --to-store "$dir/to.db" --same-offsets

# ---- what is not found is said, and the rest is done
expect 3 "$title
trimmed 0 7 - not found - there: there is no partition trimmed-0" "$dry" -d "$LOGS" -g behind $to
printf 'billing,trimmed,0,7\nbilling,txns,0,57\nbilling,txns,1,33\n' |
    "$KRC" offsets import --store "$dir/from.db" >"$dir/plan" 2>"$dir/err" || exit 1
from="--store $dir/from.db -g billing -d $LOGS"
expect 3 "$title
trimmed 0 7 - not found - there: there is no partition trimmed-0
txns 0 57 58 exact 0 $found
txns 1 33 33 exact 0 $found" "$dry" $from $to --report "$dir/report"
same 'a report' 'trimmed not found false
txns exact false
txns exact false' "$(jq -r '"\(.topic) \(.verdict) \(.committed)"' "$dir/report")"

# ---- going on from a report: what it has found is taken from there, even if it were wrong
sed -i 's/"toOffset":58/"toOffset":51/' "$dir/report"
printf '{"group":"billing","to' >>"$dir/report" # torn
earlier='an earlier run has found it'
expect 3 "$title
trimmed 0 7 - not found - there: there is no partition trimmed-0
txns 0 57 51 exact - $earlier
txns 1 33 33 exact - $earlier" '' $from $to --report "$dir/report" --execute
sql "$dir/to.db" 'SELECT group_id, topic, partition, offset FROM offsets ORDER BY partition' \
    'billing|txns|0|51
billing|txns|1|33'
same 'what was committed is in the report' '0 51
1 33' "$(grep '^{.*}$' "$dir/report" | jq -r 'select(.committed) | "\(.partition) \(.toOffset)"')"
sqlite3 "$dir/to.db" 'UPDATE offsets SET offset = 40 WHERE partition = 0'
expect 3 "$title
trimmed 0 7 - not found - there: there is no partition trimmed-0
txns 0 57 51 exact - $earlier
txns 1 33 33 exact - $earlier" '' $from $to --report "$dir/report" --execute
sql "$dir/to.db" 'SELECT offset FROM offsets ORDER BY partition' '40
33'

# an offset that was committed since, and another place, are looked up
"$KRC" offsets reset --store "$dir/from.db" -g billing -t txns:0 --to-offset 72 --execute >/dev/null 2>"$dir/err"
expect 0 "$title
txns 0 72 72 exact 0 $found" "$dry" $from -t txns:0 $to --report "$dir/report"
expect 0 "$title
txns 1 33 33 exact 0 $found" "$dry" $from -t txns:1 $to --to-group other --report "$dir/report"

# topic ids are as Kafka's tools show them
same 'the id of txns' "$(sed -n 's/^topic_id: //p' "$LOGS/txns-1/partition.metadata")" \
    "$(tail -n 1 "$dir/report" | jq -r .topicId)"

# so is a topic that was made again, on either side
for other in 's/"topicId":"../"topicId":"00/' 's/"toTopicId":null/"toTopicId":"00"/'; do
    sed "$other" "$dir/report" >"$dir/again"
    expect 0 "$title
txns 1 33 33 exact 0 $found" "$dry" $from -t txns:1 $to --report "$dir/again"
done

# ---- a group that is further on stays, but by force
sqlite3 "$dir/to.db" 'UPDATE offsets SET offset = 100 WHERE partition = 0'
expect 3 "$title
txns 0 72 72 exact 0 $found" 'krc: txns-0 stays at offset 100 there, beyond offset 72; --force moves '\
'it back' $from -t txns:0 $to --execute
sql "$dir/to.db" 'SELECT offset FROM offsets WHERE partition = 0' 100
expect 0 "$title
txns 0 72 72 exact 0 $found" '' $from -t txns:0 $to --execute --force
sql "$dir/to.db" 'SELECT offset FROM offsets WHERE partition = 0' 72
sql "$dir/to.db" "SELECT DISTINCT reason FROM resets" 'migrated by the user'

# ---- what is read there is what would have been read here
"$KRC" read -q -d "$LOGS" -t txns --store "$dir/from.db" -g billing -f '%p %o %s\n' >"$dir/here"
"$KRC" read -q -d "$copy" -t txns --store "$dir/to.db" -g billing -f '%p %o %s\n' >"$dir/there"
same 'records' "$(cat "$dir/here")" "$(cat "$dir/there")"

echo hello >"$dir/hello"
expect 1 '' 'krc: DIR/hello is no report of a migration: name another file' \
    $from $to --report "$dir/hello"
same 'and stays' 'hello' "$(cat "$dir/hello")"
expect 1 '' 'krc: cannot open the report DIR/none/report: No such file or directory' \
    $from $to --report "$dir/none/report"

# ---- topics that are called otherwise there, as MirrorMaker 2 does
mkdir "$dir/west"
for partition in 0 1; do
    cp -r "$copy/txns-$partition" "$dir/west/us-west.txns-$partition"
done
sed 's/^txns /us-west.txns /' "$copy/cleaner-offset-checkpoint" >"$dir/west/cleaner-offset-checkpoint"
to="--to-store $dir/west.db --to-log-dir $dir/west"
mapped='TOPIC TO-TOPIC PARTITION FROM-OFFSET TO-OFFSET VERDICT AGAIN EVIDENCE'
for how in '--topic-prefix us-west.' '--map-topic txns=us-west.txns' \
    '--topic-prefix x. --map-topic txns=us-west.txns'; do
    expect 0 "$mapped
txns us-west.txns 0 57 58 exact 0 $found
txns us-west.txns 1 33 33 exact 0 $found" "$dry" -d "$LOGS" -g billing $to $how
done
"$KRC" offsets migrate -d "$LOGS" -g billing $to --topic-prefix us-west. --execute -J \
    --report "$dir/west.report" >"$dir/out" 2>"$dir/err"
same '-J' 'txns us-west.txns 58 exact' "$(jq -r 'select(.partition == 0) |
    "\(.topic) \(.toTopic) \(.toOffset) \(.verdict)"' "$dir/out")"
sql "$dir/west.db" 'SELECT topic, partition, offset FROM offsets ORDER BY partition' \
    'us-west.txns|0|58
us-west.txns|1|33'
expect 0 "$mapped
txns us-west.txns 0 57 58 exact - an earlier run has found it
txns us-west.txns 1 33 33 exact - an earlier run has found it" "$dry" -d "$LOGS" -g billing $to \
    --topic-prefix us-west. --report "$dir/west.report"
expect 3 "$mapped
txns other 0 57 - not found - there: there is no partition other-0
txns other 1 33 - not found - there: there is no partition other-1" \
    "krc: --map-topic nobody: group \"billing\" has no committed offset of it
$dry" -d "$LOGS" -g billing $to --map-topic txns=other --map-topic nobody=x
printf 'two,txns,0,57\ntwo,trimmed,0,60\n' |
    "$KRC" offsets import --store "$dir/two.db" >"$dir/plan" 2>"$dir/err" || exit 1
expect 1 '' 'krc: trimmed and txns cannot both be us-west.txns there' --store "$dir/two.db" -g two \
    -d "$LOGS" $to --map-topic txns=us-west.txns --map-topic trimmed=us-west.txns
expect 2 '' "krc: --map-topic \"txns\": give the topic's names as OLD=NEW$more" --map-topic txns
expect 2 '' "krc: --map-topic \"txns=../x\": not two valid topic names; give them as OLD=NEW$more" \
    --map-topic txns=../x
expect 2 '' "krc: --map-topic \"txns=y\": the topic is mapped already$more" --map-topic txns=x --map-topic txns=y
expect 2 '' "krc: --topic-prefix \"a/\": give what topics' names begin with there, such as us-west.$more" \
    --topic-prefix a/

# ---- a copy whose records lie in other partitions
mkdir "$dir/swapped"
cp -r "$copy/txns-0" "$dir/swapped/txns-1"
cp -r "$copy/txns-1" "$dir/swapped/txns-0"
cp "$copy/cleaner-offset-checkpoint" "$dir/swapped"
"$KRC" offsets migrate -d "$LOGS" -g billing --to-store "$dir/swapped.db" \
    --to-log-dir "$dir/swapped" --execute >"$dir/out" 2>"$dir/err"
same 'exit status of partitions that are swapped' 3 $?
same 'partitions that are swapped' 2 "$(grep -c 'not found' "$dir/out")"
same 'nothing is committed' '' "$(ls "$dir" | grep swapped.db)"
