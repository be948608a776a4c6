#!/bin/sh
# krc replay, killed at any time: KILLS runs over a generated log of RECORDS records, in turns with
# four kinds of sinks, each killed again and again until it has come to its end.  The result has to
# be that of an undisturbed run, and most of the kills have to hit what matters: the time between
# the first write and the last commit.
#
# GENERATE names the program that makes the log (bench/generate.c).

me=tests/fault/kill.sh
. tests/cmd/common
kills=${KILLS:-200} records=${RECORDS:-2000000}
log=$dir/log run=
"$GENERATE" "$log" none "$records" 93 3 || exit 1

# use KIND: a kind of sink
use() {
    kind=$1
    case $kind in
    jsonl) flags='--jobs 2' ;;
    zstd) flags='--compress zstd' ;;
    segment) flags='--format segment' ;;
    sqlite) flags= ;;
    esac
    whole=$dir/whole-$kind target=$dir/target
}

# replay TARGET: $run may be `exec`
replay() {
    to=$1
    [ "$kind" = sqlite ] && to=sqlite:$1
    # shellcheck disable=SC2086
    $run "$KRC" replay -q -d "$log" --to "$to" $flags -X commit.interval.bytes=65536 2>"$dir/err"
}

store() {
    [ "$kind" = sqlite ] && echo "$1" || echo "$1/krc.db"
}

# committed TARGET: the sum of the offsets committed
committed() {
    sum=$(sqlite3 -readonly "$(store "$1")" 'SELECT total(offset) FROM offsets' 2>/dev/null)
    sum=${sum%.*}
    echo "${sum:-0}"
}

dump() {
    sqlite3 "$(store "$1")" .dump | cksum
}

milliseconds() {
    echo $(($(date +%s%N) / 1000000))
}

undisturbed() {
    begun=$(milliseconds)
    replay "$whole"
    same "$kind: status of an undisturbed run" 0 $?
    eval "took_$kind=$(($(milliseconds) - begun)) end_$kind=$(committed "$whole")"
    eval "dump_$kind='$(dump "$whole")'"
}

# As good as random, the same each time.
seed=1
random() { # random BELOW: in $drawn
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 256 % $1))
}

# One run, killed after a while; false when it had ended.
kill_one() {
    random $((took / 6 + 1))
    drawn=$((drawn + took / 20))
    run=exec
    replay "$target" &
    pid=$! run=
    sleep "$(printf '%d.%03d' $((drawn / 1000)) $((drawn % 1000)))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    status=$?
    [ $status = 0 ] && return 1
    same "$kind: status of a killed run" 137 $status
    killed=$((killed + 1))
    sum=$(committed "$target")
    [ "$sum" -gt 0 ] && [ "$sum" -lt "$end" ] && between=$((between + 1))
    return 0
}

# A target from nothing to its end.
series() {
    eval "took=\$took_$kind end=\$end_$kind dump=\$dump_$kind"
    rm -rf "$target"*
    while [ $killed -lt "$kills" ] && kill_one; do
        :
    done
    replay "$target"
    same "$kind: status of the last run" 0 $?
    [ "$kind" = sqlite ] || diff -r -x 'krc.*' "$whole" "$target" >&2
    same "$kind: files as of an undisturbed run" 0 $?
    same "$kind: positions, accounts and rows" "$dump" "$(dump "$target")"
}

for kind in jsonl zstd segment sqlite; do
    use $kind
    undisturbed
done
killed=0 between=0 rounds=0
while [ $killed -lt "$kills" ]; do
    for kind in jsonl zstd segment sqlite; do
        use $kind
        series
    done
    rounds=$((rounds + 1))
done
same "of $killed kills, $between between the first write and the last commit: enough" true \
    "$([ $((between * 4)) -ge $((kills * 3)) ] && echo true)"

echo "$me: $killed kills, $between of them between first write and last commit"
