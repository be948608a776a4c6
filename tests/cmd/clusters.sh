#!/bin/sh
# Two clusters, A and B, whose topics have the same names: offsets of one are never taken for those
# of the other.  B is a copy of A with other ids, so that only these tell them apart.

me=tests/cmd/clusters.sh
. tests/cmd/common
brokers=
# by SIGKILL, for a test's runner hands any other on to all of its process group
on_exit='for pid in $brokers; do { kill -9 $pid; wait $pid; } 2>/dev/null; done'

# make_cluster FOLDER CLUSTER-ID LETTER: with topic ids of this letter; without one: none
make_cluster() {
    mkdir "$1"
    cp -r "$LOGS/txns-0" "$LOGS/txns-1" "$LOGS/trimmed-0" "$LOGS/meta.properties" \
        "$LOGS/log-start-offset-checkpoint" "$1"
    chmod -R u+w "$1"
    sed -i "s/^cluster.id=.*/cluster.id=$2/" "$1/meta.properties"
    if [ -z "$3" ]; then
        rm "$1"/*/partition.metadata
        return
    fi
    for topic in txns:1 trimmed:2; do
        printf 'version: 0\ntopic_id: %s%sAAAAAAAAAAAAAAAAAAAA' "$3" "${topic#*:}" |
            tee "$1/${topic%:*}"-?/partition.metadata >"$dir/id"
    done
}

# sql STORE QUERY EXPECTED
sql() {
    same "$2" "$3" "$(sqlite3 "$1" "$2")"
}

a=$dir/A b=$dir/B
make_cluster "$a" AAA Q
make_cluster "$b" BBB g
other() {
    echo "krc: the offsets of group \"$1\" in the offset store were read from cluster \"$2\", and \
this is cluster \"$3\": use another store or group; if the topics moved here with their offsets, \
say so (--moved-cluster, offset.store.moved.cluster=true)"
}
rows='SELECT topic, partition, offset, history, hex(substr(topic_id, 1, 1)) FROM offsets
    JOIN histories USING (group_id, topic, partition, history) ORDER BY group_id, topic, partition'

# group STORE FOLDER GROUP: which read all of it
group() {
    "$KRC" read -q -d "$2" -t txns --store "$1" -g "$3" -f '' || exit 1
}

# ---- import, reset, list, lag, export
s=$dir/s.db
group "$s" "$a" one
printf 'txns,0,5\n' >"$dir/5.csv"
for command in "import -g one $dir/5.csv" 'reset -g one --to-offset 5 --execute' 'list -g one' \
    'lag -g one' 'export -g one'; do
    expect 1 '' "$(other one AAA BBB)" offsets ${command%% *} --store "$s" -d "$b" ${command#* }
done
printf 'one,txns,0,5000000\n' >"$dir/far.csv"
for flags in '' -g\ one; do
    for run in '' --dry-run; do
        expect 1 '' "$(other one AAA BBB)" \
            offsets import $flags $run --store "$s" -d "$b" "$dir/far.csv"
    done
done
sql "$s" "$rows" 'txns|0|189|1|43
txns|1|212|1|43'
sql "$s" 'SELECT * FROM clusters' 'one|AAA'
shown='GROUP TOPIC PARTITION CURRENT-OFFSET NEW-OFFSET
one   txns          0              -'
expect 0 "$shown          5" '' offsets import --store "$dir/new.db" -d "$a" -g one "$dir/5.csv"
sql "$dir/new.db" 'SELECT * FROM clusters' 'one|AAA'
sql "$dir/new.db" "$rows" 'txns|0|5|1|43'
run 1 read -q -d "$b" -t txns --store "$dir/new.db" -g one
expect 0 "$shown          5" 'krc: no log was named with -b or -d: whether offsets are in its range was not checked' \
    offsets import --store "$dir/none.db" -g one "$dir/5.csv"
sql "$dir/none.db" 'SELECT count(*) FROM clusters' 0

# JSON says of which topic an offset is
"$KRC" offsets export --store "$s" --json >"$dir/a.json"
expect 1 '' 'krc: txns-0: offset 189 is of topic id Q1AAAAAAAAAAAAAAAAAAAA, and the topic here has id g1AAAAAAAAAAAAAAAAAAAA: it was recreated, or this is another cluster; leave the topic id out, if the offset holds here' \
    offsets import --store "$dir/json.db" -d "$b" "$dir/a.json"
same 'nothing was committed' 0 "$(sqlite3 "$dir/json.db" 'SELECT count(*) FROM offsets')"
expect 0 "$shown        189
one   txns          1              -        212" '' offsets import --store "$dir/json.db" -d "$a" "$dir/a.json"

# ---- of several groups, those of another cluster are left out
group "$s" "$b" two
expect 1 'GROUP TOPIC PARTITION LOG-START COMMITTED LAST-STABLE HIGH-WATERMARK LOG-END LAG UNDECIDED
two   txns          0         0       189         189              -     189   0         0
two   txns          1         0       212         212              -     212   0         0' "$(other one AAA BBB)" offsets lag --store "$s" -d "$b"
run 1 offsets list --store "$s" -d "$b" -J
same 'the others are listed' 'two two' "$(jq -r .group "$dir/out" | tr '\n' ' ' | sed 's/ $//')"
expect 1 'one,txns,0,189
one,txns,1,212' "$(other two BBB AAA)" offsets export --store "$s" -d "$a"
run 0 offsets list --store "$s"
same 'without a log all are' 5 "$(wc -l <"$dir/out")"

# ---- a topic that was recreated, and to which a group was reset
make_cluster "$dir/again" AAA x
cp "$s" "$dir/reset.db"
run 0 offsets reset --store "$dir/reset.db" -d "$dir/again" -g one --to-offset 100 --execute
sql "$dir/reset.db" "$rows LIMIT 2" 'txns|0|100|2|C7
txns|1|100|2|C7'
sql "$dir/reset.db" 'SELECT DISTINCT history FROM resets' 2
same 'it is not undone' '' \
    "$("$KRC" read -q -d "$dir/again" -t txns --store "$dir/reset.db" -g one -f '' 2>&1)"

# ---- --moved-cluster
cp "$s" "$dir/moved.db"
expect 0 'GROUP TOPIC PARTITION LOG-START COMMITTED LAST-STABLE HIGH-WATERMARK LOG-END LAG UNDECIDED
one   txns          0         0       189         189              -     189   0         0
one   txns          1         0       212         212              -     212   0         0' '' \
    offsets lag --store "$dir/moved.db" -d "$b" -g one --moved-cluster
sql "$dir/moved.db" 'SELECT cluster_id FROM clusters ORDER BY 1' 'AAA
BBB'
run 0 offsets reset --store "$dir/moved.db" -d "$b" -g one -t txns:0 --to-offset 5 --execute \
    --moved-cluster
sql "$dir/moved.db" "SELECT cluster_id FROM clusters WHERE group_id = 'one'" BBB
sql "$dir/moved.db" "$rows LIMIT 2" 'txns|0|5|1|83
txns|1|212|1|'

# ---- migrate: the target's ids
migrate() {
    "$KRC" offsets migrate "$@" >"$dir/out" 2>"$dir/err" </dev/null
    echo $?
}
group "$dir/ma.db" "$a" one
same 'A to B' 0 "$(migrate --store "$dir/ma.db" -g one -d "$a" --to-log-dir "$b" --to-store "$dir/b.db" \
    --same-offsets --execute)"
sql "$dir/b.db" "$rows" 'txns|0|189|1|83
txns|1|212|1|83'
sql "$dir/b.db" 'SELECT count(*) FROM offsets WHERE leader_epoch IS NOT NULL' 0
sql "$dir/b.db" 'SELECT * FROM clusters' 'one|BBB'
same 'it is not undone' '' \
    "$("$KRC" read -q -d "$b" -t txns --store "$dir/b.db" -g one -f '%o' 2>&1)"
run 1 read -q -d "$a" -t txns --store "$dir/b.db" -g one
same 'without logs there' 0 "$(migrate --store "$dir/ma.db" -g one -d "$a" --to-store "$dir/no.db" \
    --same-offsets --execute)"
sql "$dir/no.db" "$rows" 'txns|0|189|1|
txns|1|212|1|'
same 'a group of the same cluster' 0 "$(migrate --store "$dir/ma.db" -g one -d "$a" --to-log-dir "$a" \
    --to-store "$dir/ma.db" --to-group three --execute)"
sql "$dir/ma.db" "SELECT topic, partition, offset, leader_epoch FROM offsets WHERE group_id = 'three'" \
    'txns|0|189|0
txns|1|212|0'

# ---- migrate: whose the stores are
group "$dir/mb.db" "$b" one
same 'rows of A, and logs of B' 1 "$(migrate --store "$dir/ma.db" -g one -d "$b" --to-log-dir "$a" \
    --to-store "$dir/new2.db" --same-offsets --execute)"
same 'why' "$(other one AAA BBB)" "$(cat "$dir/err")"
for execute in '' --execute; do
    same 'into rows of B' 1 "$(migrate --store "$dir/ma.db" -g one -d "$a" --to-log-dir "$a" \
        --to-store "$dir/mb.db" --same-offsets $execute)"
    same 'why' "$(other one BBB AAA)" "$(cat "$dir/err")"
done
sql "$dir/mb.db" "$rows" 'txns|0|189|1|83
txns|1|212|1|83'
same 'that are said to move' 0 "$(migrate --store "$dir/ma.db" -g one -d "$a" --to-log-dir "$a" \
    --to-store "$dir/mb.db" --same-offsets --moved-cluster --execute)"
sql "$dir/mb.db" 'SELECT * FROM clusters' 'one|AAA'

# ---- migrate within a store: all of the group, or nothing
cp "$dir/ma.db" "$dir/in.db"
same 'one partition' 1 "$(migrate --store "$dir/in.db" -g one -d "$a" -t txns:0 --to-log-dir "$b" \
    --to-store "$dir/in.db" --same-offsets --execute)"
same 'why' "krc: group \"one\" in $dir/in.db cannot move to another cluster: txns-1 would stay \
behind; nothing was changed; use another store or group" "$(cat "$dir/err")"
sql "$dir/in.db" "SELECT cluster_id FROM clusters WHERE group_id = 'one'" AAA
ln -s in.db "$dir/link.db"
same 'all' 0 "$(migrate --store "$dir/in.db" -g one -d "$a" --to-log-dir "$b" --to-store "$dir/link.db" \
    --same-offsets --execute)"
sql "$dir/in.db" "SELECT cluster_id FROM clusters WHERE group_id = 'one'" BBB
same 'it goes on in B' '' \
    "$("$KRC" read -q -d "$b" -t txns --store "$dir/in.db" -g one -f '%o' 2>&1)"
rm -r "$dir/in.db" && cp "$dir/ma.db" "$dir/in.db"
make_cluster "$dir/unknown" '' ''
rm "$dir/unknown/meta.properties"
same 'to nobody knows where' 1 "$(migrate --store "$dir/in.db" -g one -d "$a" \
    --to-log-dir "$dir/unknown" --to-store "$dir/in.db" --same-offsets --execute)"
same 'why' "krc: group \"one\" in $dir/in.db cannot move to a cluster whose id is not known; use \
another store or group" "$(cat "$dir/err")"

# ---- migrate: offsets that the log there does not have
printf 'txns,0,5000000\ntrimmed,0,3\n' >"$dir/far.csv"
run 0 offsets import --store "$dir/far.db" -g one "$dir/far.csv"
same 'beyond the end, and below the start' 0 "$(migrate --store "$dir/far.db" -g one \
    --to-log-dir "$b" --to-store "$dir/far-b.db" --same-offsets --execute)"
same 'what it says' 'TOPIC PARTITION FROM-OFFSET TO-OFFSET VERDICT AGAIN EVIDENCE
trimmed 0 3 52 same 0 offsets are the same there, but offset 3 is below the start, 52
txns 0 5000000 189 same 0 offsets are the same there, but offset 5000000 is beyond the end, 189' \
    "$(sed -E 's/ +/ /g' "$dir/out")"
sql "$dir/far-b.db" "$rows" 'trimmed|0|52|1|83
txns|0|189|1|83'
printf 'txns,7,5\n' >"$dir/none.csv"
run 0 offsets import --store "$dir/none7.db" -g one "$dir/none.csv"
same 'a partition that is not there' 3 "$(migrate --store "$dir/none7.db" -g one --to-log-dir "$b" \
    --to-store "$dir/none-b.db" --same-offsets --execute)"

# ---- a store of before there was a table of clusters
cp "$dir/ma.db" "$dir/v1.db"
sqlite3 "$dir/v1.db" 'DROP TABLE clusters; DROP TABLE epochs; PRAGMA user_version = 1'
differ() {
    echo "krc: which cluster the offsets of group \"$1\" were read from is not known, and $2 those of \
cluster \"$3\": use another store, group or target; if the topics moved here with their offsets, or \
it is the same cluster, say so (--moved-cluster, offset.store.moved.cluster=true)"
}
reset='; if all topics were recreated, reset the group'
expect 1 '' "$(differ one 'all topic ids differ from' BBB)$reset" \
    read -q -d "$b" -t txns --store "$dir/v1.db" -g one -f ''
sql "$dir/v1.db" "$rows LIMIT 2" 'txns|0|189|1|43
txns|1|212|1|43'
expect 0 '' '' read -q -d "$a" -t txns --store "$dir/v1.db" -g one -f ''

# ---- replay: an output that was begun without knowing the cluster
replay() {
    folder=$1
    shift
    "$KRC" replay -q -d "$folder" -t txns "$@" >"$dir/out" 2>"$dir/err" </dev/null
    echo $?
}
setting="SELECT value FROM settings WHERE name = 'cluster.id'"
"$KRC" replay -d "$dir/unknown" -t txns:0 --to "$dir/to" >"$dir/out" 2>"$dir/err"
same 'it is said' 1 "$(grep -c 'the logs do not say which cluster they are of' "$dir/err")"
sql "$dir/to/krc.db" "$setting" ''
cksum "$dir"/to/*.jsonl >"$dir/sums"
same 'no topic ids' 1 "$(replay "$a" --to "$dir/to")"
same 'why' "$(differ default 'there are no topic ids to be compared with' AAA)" "$(cat "$dir/err")"
same 'what was written stays' "$(cat "$dir/sums")" "$(cksum "$dir"/to/*.jsonl)"
same 'to be gone on with blindly' 0 "$(replay "$dir/unknown" --to "$dir/to")"
same 'as the user says' 0 "$(replay "$a" --to "$dir/to" --moved-cluster)"
sql "$dir/to/krc.db" "$setting" AAA
same 'from now on' 1 "$(replay "$b" --to "$dir/to")"

make_cluster "$dir/ids" '' g
rm "$dir/ids/meta.properties"
same 'topic ids of B' 0 "$(replay "$dir/ids" --to "$dir/to2")"
same 'in A' 1 "$(replay "$a" --to "$dir/to2")"
same 'why' "$(differ default 'all topic ids differ from' AAA)$reset" "$(cat "$dir/err")"
sql "$dir/to2/krc.db" "$setting" ''
same 'in B' 0 "$(replay "$b" --to "$dir/to2")"
sql "$dir/to2/krc.db" "$setting" BBB

# ---- replay: what moves to another cluster is told to the store when it is read there
same 'begun in A' 0 "$(replay "$a" --to "$dir/to3")"
cp -r "$b" "$dir/short"
for log in "$dir"/short/txns-?/*.log; do : >"$log"; done
same 'shorter there' 1 "$(replay "$dir/short" --to "$dir/to3" --moved-cluster)"
sql "$dir/to3/krc.db" "$setting" AAA
sql "$dir/to3/krc.db" 'SELECT count(*) FROM clusters' 0
sql "$dir/to3/krc.db" "$rows" 'txns|0|189|1|43
txns|1|212|1|43'
same 'with nothing new there' 0 "$(replay "$b" --to "$dir/to3" --moved-cluster)"
sql "$dir/to3/krc.db" "$setting" BBB
sql "$dir/to3/krc.db" 'SELECT * FROM clusters' 'default|BBB'
same 'with half of it' 0 "$(replay "$a" --to "$dir/to4" --max-messages 50)"
same 'and the rest there' 0 "$(replay "$b" --to "$dir/to4" --moved-cluster)"
sql "$dir/to4/krc.db" "$setting" BBB
sql "$dir/to4/krc.db" "$rows" 'txns|0|189|1|83
txns|1|212|1|83'
same 'no record is lost or comes twice' "$(sort "$dir"/to3/*.jsonl | cksum)" \
    "$(sort "$dir"/to4/*.jsonl | cksum)"

# ---- the same with brokers: a topic of 5 records in the cluster "world", of 8 in "elsewhere"
serve() { # serve MODE: its address is then $address
    : >"$dir/address"
    "${HOSTILE:-build/release/tests/cmd/hostile}" "$1" >"$dir/address" &
    brokers="$brokers $!"
    while [ ! -s "$dir/address" ]; do sleep 0.1; done
    address=$(cat "$dir/address")
}
serve alone
x=$address
serve elsewhere
y=$address
same 'X to Y' 0 "$(migrate -g g -b "$x" --to-bootstrap-server "$y" --to-store "$dir/y.db" \
    --same-offsets --execute)"
same 'it goes on in Y' '3 4 5 6 7 ' "$("$KRC" read -q -b "$y" -t t --store "$dir/y.db" -g g -e -f '%o ')"
sql "$dir/y.db" 'SELECT count(*) FROM resets' 1
sql "$dir/y.db" 'SELECT * FROM clusters' 'g|elsewhere'
for command in 'reset -t t --to-earliest' lag 'export' "import $dir/t.csv"; do
    printf 't,0,2\n' >"$dir/t.csv"
    expect 1 '' "$(other g elsewhere world)" offsets $command --store "$dir/y.db" -g g -b "$x"
done
expect 1 '' "$(other g elsewhere world)" read -q -b "$x" -t t --store "$dir/y.db" -g g -e
same 'within a store' 0 "$(migrate --store "$dir/y.db" -g g -b "$y" --to-bootstrap-server "$x" \
    --to-store "$dir/y.db" --same-offsets --execute)"
same 'beyond the end there' 'g|world 5' "$(sqlite3 -separator ' ' "$dir/y.db" \
    "SELECT group_id || '|' || cluster_id, offset FROM clusters JOIN offsets USING (group_id)")"
