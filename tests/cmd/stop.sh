#!/bin/sh
# Ctrl-C, and --timeout-ms, while a broker sleeps instead of answering (tests/cmd/hostile.c), a
# store is locked, or nobody reads what is written: the command ends of itself, and says what it has
# not waited for.

me=tests/cmd/stop.sh
. tests/cmd/common
broker= pid=
on_exit='{ kill -9 $broker $pid; wait $broker $pid; } 2>/dev/null'
serve() { # serve API: it is not answered, by the broker at $b
    [ -z "$broker" ] || { kill -9 $broker; wait $broker; } 2>/dev/null
    : >"$dir/broker"
    "${HOSTILE:-build/release/tests/cmd/hostile}" "$1" >"$dir/broker" &
    broker=$!
    while [ ! -s "$dir/broker" ]; do sleep 0.05; done
    b=$(head -n 1 "$dir/broker")
}
start() { # start ARGUMENTS...: in the background, until the broker sleeps
    "$KRC" "$@" >"$dir/out" 2>"$dir/err" </dev/null &
    pid=$!
    until grep -q asleep "$dir/broker" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
}
# ends STATUS: of itself; what hangs is killed
ends() {
    timeout 20 tail --pid=$pid -s 0.05 -f /dev/null || kill -9 $pid
    wait $pid 2>/dev/null
    same "exit status with $(head -n 1 "$dir/err")" "$1" $?
}
stop() { # stop STATUS TEXT: by Ctrl-C, and has said so, with addresses masked
    kill -INT $pid
    ends "$1"
    sed -i 's/127.0.0.1:[0-9]*/ADDRESS/g' "$dir/err"
    grep -qF -- "$2" "$dir/err" || cat "$dir/err" >&2
    same "reports of: $2" 1 "$(grep -cF -- "$2" "$dir/err")"
}

stopped='krc: stopped before the end'
topics="$stopped: the cluster did not tell its topics: ADDRESS: it does not answer"
group="stopped before the end: the group's coordinator did not answer: "

# ---- a broker that sleeps when the command begins
for command in 'read -t t' "replay -t t --to $dir/a" "replay -t t --to $dir/a --follow" \
    "replay -t t --to $dir/a -g g --join"; do
    serve Metadata
    start $command -b "$b"
    stop 1 "$topics"
done

# ---- and when there are answers to wait for
for api in ListOffsets Fetch; do
    serve $api
    start read -b "$b" -t t -e
    stop 1 "$stopped"
    serve $api
    start replay -b "$b" -t t --to "$dir/$api"
    stop 1 "$stopped: started again, it goes on"
done

# ---- SIGHUP, and SIGTERM: the same
for signal in HUP TERM; do
    serve ListOffsets
    # the tests themselves may run where it is ignored
    perl -e '$SIG{HUP} = "DEFAULT"; exec @ARGV' "$KRC" read -b "$b" -t t -e >"$dir/out" 2>"$dir/err" &
    pid=$!
    until grep -q asleep "$dir/broker"; do sleep 0.05; done
    kill -$signal $pid
    ends 1
    same "$signal" "$stopped" "$(tail -n 1 "$dir/err" | cut -c -27)"
done
serve Fetch
(trap '' HUP && exec "$KRC" read -b "$b" -t t >"$dir/out" 2>"$dir/err") &
pid=$!
until grep -q asleep "$dir/broker"; do sleep 0.05; done
kill -HUP $pid
same 'nohup' 1 "$(grep -c '^SigIgn:.*[13579bdf]$' /proc/$pid/status)"
kill -INT $pid
ends 0

# ---- a pipe whose reader has gone while nothing arrives
serve orders
mkfifo "$dir/gone"
for join in '' '-g g --join'; do
    "$KRC" read -q -b "$b" -t t $join -X fetch.max.wait.ms=60000 >"$dir/gone" 2>"$dir/err" </dev/null &
    pid=$!
    head -n 1 <"$dir/gone" >"$dir/out"
    ends 1
    same "$join: what nobody reads" '' "$(cat "$dir/err")"
    same "$join: what was read" 1 "$(wc -l <"$dir/out")"
done

# ---- a coordinator that sleeps: without an answer it is not known what became of a commit
serve OffsetCommit
start read -b "$b" -t t -g g --commit -X auto.commit.interval.ms=10
stop 1 "$group"
serve OffsetCommit
start read -b "$b" -t t -g g --commit --store "$dir/store.db" -X auto.commit.interval.ms=10
stop 0 "$group"
serve OffsetCommit
start replay -b "$b" -t t -g g --commit --follow --to "$dir/b"
stop 0 "what is committed here is not told to group g any more in this run: $group"
serve OffsetCommit
start replay -b "$b" -t t -g g --join --follow --to "$dir/c"
stop 1 'and the next run, or --recover, asks again'
same 'a commit that is still to be judged' 1 \
    "$(sqlite3 "$dir/c/krc.db" 'SELECT count(*) FROM pending')"

# reading goes on without it, as long as nobody wants an end
serve OffsetCommit
start read -b "$b" -t t -g g --commit -X auto.commit.interval.ms=10 -X request.timeout.ms=300 \
    -X default.api.timeout.ms=600
until grep -q 'nobody answers as the coordinator of group g' "$dir/err" ||
    ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
sleep 1 # longer than a commit would be waited for
kill -0 $pid 2>/dev/null
same "it reads on without an answer to its commit" 0 $?
stop 1 "the group's coordinator did not answer within 600 ms"

# the next run asks first, and is stopped there
serve LeaveGroup
start replay -b "$b" -t t -g g --join --follow --to "$dir/c" --moved-cluster
stop 1 'and the next run, or --recover, asks again'
for api in JoinGroup OffsetFetch; do
    serve $api
    start replay -b "$b" -t t -g g --join --follow --to "$dir/d"
    kill -INT $pid
    ends 0
done

# ---- a member whose partition was given away
serve take
"$KRC" read -b "$b" -t t -g g --join -f '%o\n' -X auto.commit.interval.ms=10 \
    -X group.protocol=consumer >"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
until grep -q 'the group gives it' "$dir/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -INT $pid
ends 0
same 'what was read' '3 4' "$(xargs <"$dir/out")"
same 'its account' 't 0 3 5 2 0 0 0 0 0 0' "$(tail -n 1 "$dir/err" | tr -s ' ')"

# and one that has it to the end
serve orders
"$KRC" read -b "$b" -t t -g g --join -f '%o\n' --account json >"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
until [ "$(wc -l <"$dir/out")" = 2 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -INT $pid
ends 0
same 'its account, to the end' '3 5 2' \
    "$(tail -n 1 "$dir/err" | jq -r '.partitions[] | "\(.from) \(.to) \(.delivered)"')"

# ---- --timeout-ms
serve OffsetFetch
for command in list lag export 'reset --to-latest' \
    "migrate --to-store $dir/to.db --same-offsets"; do
    run 1 offsets $command -b "$b" -g g -t t --timeout-ms 300
    same "offsets $command" 1 "$(grep -c 'did not answer within 300 ms' "$dir/err")"
done

# ---- one full pipe for all that it says
mkfifo "$dir/full"
exec 5<>"$dir/full"
"$KRC" read -d "$LOGS" >"$dir/full" 2>&1 5>&- </dev/null &
pid=$!
sleep 1
kill -TERM $pid
: >"$dir/err"
ends 1
exec 5>&-

# ---- a second Ctrl-C
serve OffsetCommit
start read -b "$b" -t t -g g --commit -X auto.commit.interval.ms=10
while kill -INT $pid 2>/dev/null; do sleep 0.05; done
wait $pid 2>/dev/null
same 'a second Ctrl-C' 130 $?

# ---- a store that another process has locked
"$KRC" read -d "$LOGS" -t codec-none -c 1 --store "$dir/locked.db" >/dev/null 2>&1
mkfifo "$dir/shell"
sqlite3 "$dir/locked.db" <"$dir/shell" >"$dir/locked" &
exec 4>"$dir/shell"
echo "BEGIN EXCLUSIVE; SELECT 'locked';" >&4
while [ ! -s "$dir/locked" ]; do sleep 0.05; done
"$KRC" read -d "$LOGS" -t codec-none --store "$dir/locked.db" >/dev/null 2>"$dir/err" 4>&- &
pid=$!
until grep -q '^State:.S' /proc/$pid/status; do sleep 0.05; done
stop 1 'another process has kept it locked for 1 s'
exec 4>&-

# ---- nobody reads what is written
mkfifo "$dir/pipe"
exec 3<>"$dir/pipe"
"$KRC" read -d "$LOGS" --skip-corrupt -J >"$dir/pipe" 2>"$dir/err" </dev/null 3<&- &
pid=$!
until grep -q '^State:.S' /proc/$pid/status; do sleep 0.05; done
stop 1 'krc: ended in the midst of what did not end in time'
