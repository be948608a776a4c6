#!/bin/sh
# A broker that sends names, addresses and texts which none should (tests/cmd/hostile.c): they are
# reported once, never used, and never reach the terminal as they are.

me=tests/cmd/hostile.sh
. tests/cmd/common
broker=
# by SIGKILL, for a test's runner hands any other on to all of its process group
on_exit='{ kill -9 $broker; wait $broker; } 2>/dev/null'
serve() { # serve MODE: the broker is at $b
    [ -z "$broker" ] || { kill -9 $broker; wait $broker; } 2>/dev/null
    : >"$dir/address"
    "${HOSTILE:-build/release/tests/cmd/hostile}" "$1" >"$dir/address" &
    broker=$!
    while [ ! -s "$dir/address" ]; do sleep 0.1; done
    b=$(cat "$dir/address")
}

serve names
to=$dir/a/b/to
mkdir -p "$to"
bad='"../../victim", which is not a valid topic name'
echo precious >"$dir/a/victim-0.jsonl"

# what stands outside of DIR: what stood there before
untouched() {
    same "$1: outside" 'victim-0.jsonl' "$(cd "$dir/a" && find . -path ./b -prune -o -type f -print |
        sed 's#^./##')"
    same "$1: outside" precious "$(cat "$dir/a/victim-0.jsonl")"
    rm -rf "$to"
    mkdir "$to"
}
# how often the last run has reported something
told() {
    same "reports of $2" "$1" "$(grep -cF -- "$2" "$dir/err")"
}

# ---- topics
for format in jsonl raw segment; do
    run 0 replay -b "$b" -t '^[^u]' --to "$to" --format $format
    told 1 "$bad"
    same "$format: partitions" t "$(sed -n 's/^\([a-z./]*\) *0 .*/\1/p' "$dir/err")"
    untouched $format
done
run 0 replay -b "$b" -t '^[^u]' --to "sqlite:$to/records.db"
told 1 "$bad"
same 'sqlite' '5|t' "$(sqlite3 "$to/records.db" 'SELECT count(*), min(topic) FROM records')"
untouched sqlite
run 0 replay -b "$b" -t '^[^u]' --to "$to" -g g --join
told 1 "$bad"
untouched join
run 0 read -b "$b" -t '^[^u]' -e
told 1 "$bad"
same 'records of t' 5 "$(wc -l <"$dir/out")"
for command in topics txns 'offsets list -g g' 'offsets lag -g g' 'offsets export -g g'; do
    run 0 $command -b "$b" -t '^[^u]'
    told 1 "the cluster speaks of a topic $bad"
    case $command in offsets*) told 1 "offsets of topic $bad, are left out" ;; esac
    same "$command" 0 "$(grep -c victim "$dir/out")"
done
same 'export of g' 't,0,5 u,0,3' "$("$KRC" offsets export -b "$b" -g g 2>/dev/null | xargs)"

# ---- the command line
rule="not a valid topic name: use 1 to 249 letters, digits, '.', '_' and '-', but not \".\" or \"..\""
for topic in ../../x .. . /tmp/x 'a b' ''; do
    for command in "replay --to $to" 'replay --join -g g --to '"$to" read topics txns \
        'offsets list' 'offsets migrate'; do
        [ -z "$topic" ] && rule='a topic is given as TOPIC, TOPIC:0,3 or ^REGEX'
        expect 2 '' "krc: -t \"$topic\": $rule$more" $command -b "$b" -t "$topic"
    done
done
untouched 'the command line'

# ---- addresses
run 1 read -b "$b" -t u -e --timeout-ms 2000
told 1 'broker 2 is advertised as "127.0.0.1", port '
same 'records of u' 0 "$(wc -l <"$dir/out")"

# ---- texts
serve texts
bad="$(printf '\033]0;x\007\nkrc: forged\302\2332J\342\200\256\303\251\346\274\242')"
shown="$(printf '%s' '\x1b]0;x\x07\x0akrc: forged\xc2\x9b2J\xe2\x80\xae'; printf '\303\251\346\274\242')"
export LC_ALL=C.UTF-8

# nothing but visible ASCII, what is visible of the texts, and line ends; and no line of theirs
fit() {
    sed "s/$(printf '\303\251\346\274\242')//g" "$dir/out" "$dir/err" | LC_ALL=C tr -d '\n -~' >"$dir/rest"
    same "what does not belong on a terminal: $1" 0 "$(wc -c <"$dir/rest")"
    same "forged lines: $1" 0 "$(cat "$dir/out" "$dir/err" | grep -c '^krc: forged')"
}
for command in 'topics' 'topics -J' 'txns' 'txns -J' 'offsets list' 'offsets list -J' 'offsets lag' \
    'offsets export -J' "replay --to $dir/texts -t t" 'read -e -t t -q' 'read -e -t t -O'; do
    run 0 $command -b "$b"
    fit "$command"
done
for value in topics:.rack txns:.transactionalId 'txns:.coordinatorState' 'offsets list:.group' \
    'offsets list:.memberId' 'offsets list:.clientId' 'offsets list:.host' 'offsets list:.metadata'; do
    run 0 ${value%%:*} -J -b "$b"
    same "$value ends so" "$bad" "$(jq -r "${value#*:}" "$dir/out" | sed '1s/^[a-zO]*//')"
done
run 0 topics -b "$b"
same 'the rack' "rack$shown" "$(awk 'NR == 2 { print substr($0, index($0, "rack")) }' "$dir/out" |
    sed 's/ *[0-9]* *[0-9]* *[0-9]* *[-0-9]*$//')"
same 'lines are of one width' 1 "$(while IFS= read -r line; do printf '%s' "$line" | wc -L
    done <"$dir/out" | sort -u | wc -l)"

# exports hold the texts as they are, and are read again
run 0 offsets export -b "$b"
same 'CSV' "\"group$bad\",t,0,3" "$(cat "$dir/out")"
run 0 offsets export -J -b "$b"
cp "$dir/out" "$dir/export.json"
run 0 offsets import "$dir/export.json" --store "$dir/texts.db"
run 0 offsets list --store "$dir/texts.db"
fit 'a store'
same 'the group of a store' "group$bad" \
    "$(sqlite3 "$dir/texts.db" 'SELECT group_id FROM offsets' 2>/dev/null || echo none)"

# ---- a commit that is pending in a transaction that nobody ends
serve pending
pending='a newer commit is pending in an open transaction; offset 3 is the last stable one'
run 1 read -b "$b" -t t -g g -e --timeout-ms 1000
told 1 'the committed offset of t-0 is pending in a transaction that is still open'
run 0 offsets list -b "$b" -g g
same 'list' 'g t 0 0 3 5 5 - 2 0 - - Empty pending in a transaction' \
    "$(sed -n '2s/  */ /gp' "$dir/out")"
run 0 offsets list -b "$b" -g g -J
same 'list -J' '3 2 true in the log' \
    "$(jq -r '"\(.committedOffset) \(.lag) \(.pending) \(.range)"' "$dir/out")"
expect 0 't,0,3' "krc: group g: t-0: $pending" offsets export -b "$b" -g g
run 0 offsets export -b "$b" -g g -J
same 'export -J' '3 true' "$(jq -r '.[] | "\(.offset) \(.pending)"' "$dir/out")"
run 0 offsets reset -b "$b" -g g --shift-by 1 -t t
told 1 "$pending"

# ---- offsets that are none
printf 't,0,10070\n' >"$dir/beyond.csv"
imports() { # imports ROW MESSAGE ARGUMENTS...
    row=$1 message=$2
    shift 2
    run 0 offsets import "$dir/beyond.csv" "$@"
    same "import $*" "$message $row" "$(cat "$dir/err") $(tail -n 1 "$dir/out" | tr -s ' ')"
}
imports 'g t 0 3 5' 'krc: t-0: offset 10070 is out of range; using 5' -b "$b" -g g
imports 'default t 0 - 5' 'krc: t-0: offset 10070 is out of range; using 5' -b "$b" \
    --store "$dir/inside.db"
imports 'default t 0 - 10070' \
    'krc: no log was named with -b or -d: whether offsets are in its range was not checked' \
    --store "$dir/beyond.db"
run 0 offsets lag --store "$dir/beyond.db" -b "$b"
same 'lag' 'default t 0 0 10070 5 5 - - 0 beyond the end' "$(sed -n '2s/  */ /gp' "$dir/out")"
run 0 offsets lag --store "$dir/beyond.db" -b "$b" -J
same 'lag -J' 'null beyond the end' "$(jq -r '"\(.lag) \(.range)"' "$dir/out")"
expect 0 't,0,10070' 'krc: group default: t-0: offset 10070 is beyond the end of the log, 5' \
    offsets export --store "$dir/beyond.db" -b "$b" -g default

# ---- no topics, and those that are not there
serve empty
expect 0 'TOPIC PARTITION LEADER PREFERRED REPLICAS IN-SYNC ELIGIBLE RACK LOG-START LAST-STABLE HIGH-WATERMARK LOG-END' \
    '' topics -b "$b"
expect 0 '' '' topics -J -b "$b"
run 0 txns -b "$b"
serve orders
source="-b $b" called='the cluster has'
for command in 'read -e' topics txns 'offsets list' 'offsets lag -g g' 'offsets export -g g' \
    'offsets reset -g g --to-latest' "replay --to $dir/none"; do
    missing 'topic "odrers"; the nearest is "orders"' -t odrers
    missing 'topic "nope"' -t t -t nope
    case $command in offsets*) continue ;; esac
    missing 'topics that match "^nope" (internal ones match with -X exclude.internal.topics=false)' \
        -t '^nope'
    missing 'partition 1,7 of topic "t"; there is partition 0' -t t -p 1,7
done
for command in list lag export; do
    run 1 offsets $command -b "$b" -g g -t orders -t t -t '^o'
    same "what $command misses" 'krc: group "g" has no committed offset of topic "orders"
krc: group "g" has no committed offset of topics that match "^o"' "$(cat "$dir/err")"
    same "what $command has" 1 "$(grep -c '^g *t \|^t,0,3' "$dir/out")"
done

# ---- an API that the broker lacks: said in a sentence, and no wait
lacks() { # lacks TEXT ARGUMENTS...: and nothing but that
    text=$1
    shift
    timeout 20 "$KRC" "$@" -b "$b" >"$dir/out" 2>"$dir/err" </dev/null
    same "$*: exit status" 1 $?
    same "$*" "krc: $text" "$(grep -v '^krc: t-0: assigned by' "$dir/err")"
}
serve without-ListOffsets
old='asked for its offsets (ListOffsets), the broker answers UNSUPPORTED_VERSION: the broker does not speak this version of the request'
for command in 'read -q -e' 'read -q -e -o -2' "replay -q --to $dir/old" topics txns 'offsets lag -g g' \
    'offsets list -g g' 'offsets reset -g g --to-latest'; do
    lacks "t-0: $old" $command -t t
done
for api in JoinGroup SyncGroup; do
    serve without-$api
    lacks "group g cannot be joined: the broker is too old: it has no $api that would do" \
        read -q -t t -g g --join
done
serve without-OffsetFetch
lacks "t-0: asked for the group's committed offset (OffsetFetch), the broker answers \
UNSUPPORTED_VERSION: the broker does not speak this version of the request" read -q -t t -g g --commit -e
lacks 'group g: the broker is too old: it has no OffsetFetch that would do' offsets list -g g
serve without-Fetch
lacks "the cluster is out of reach: $b: it is older than Kafka 0.11, or no broker: it has no version \
of Fetch that krc speaks" read -q -t t -e

# ---- many partitions, half of them without a leader
serve many
for json in '' -J; do
    run 1 topics -b "$b" $json
    same "partitions $json" 2500 "$(grep -c . "$dir/out" | awk -v j="$json" '{ print $1 - (j == "") }')"
    same "offsets $json" 1250 "$(grep -cE ' 7 +7 +7|:7,.*:7,.*:7,' "$dir/out")"
    told 500 'asked for its offsets (ListOffsets), nobody answers: it has no leader'
    told 750 'not asked for its offsets: it has no leader'
done
same 'in their order' "$(seq 0 2499 | cksum)" "$(jq .partition "$dir/out" | cksum)"
run 1 topics -b "$b" -t t -p 1999-2501
same 'some of them' 1999,2499 "$(awk 'NR > 1 { print $2 }' "$dir/out" | sed -n '1p;$p' | paste -sd,)"
told 1 'the cluster has no partition'
