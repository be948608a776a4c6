#!/bin/sh
# krc replay, hit by a fault at its writing calls, one after the other: killed in their place or in
# their middle, the power cut, the disk full, an I/O error.  Started again without a fault, the
# result has to be that of an undisturbed run.  STRIDE=1 tries every call.
#
# SHIM and POWERCUT name what shim.c and powercut.c became.

me=tests/fault/faults.sh
. tests/cmd/common
stride=${STRIDE:-1}
base=$dir/base whole=$dir/whole cut=$dir/cut trace=$dir/trace

# replay BASE: into BASE/to, a folder or a SQLite file
replay() {
    to=$1/to
    topics='-t txns -t trimmed -t txns-open -t codec-lz4'
    [ "$kind" = sqlite ] && to=sqlite:$to topics='-t txns -t trimmed' # all of it is pages of 4 KiB
    [ "$kind" = outside ] && set -- --store "$1/krc.db" || set --
    # shellcheck disable=SC2086
    "$KRC" replay -q -d "$LOGS" $topics --to "$to" $flags -X commit.interval.bytes=12000 "$@" \
        2>"$dir/err" </dev/null
}

store() {
    case $kind in
    sqlite) echo "$1/to" ;;
    outside) echo "$1/krc.db" ;;
    *) echo "$1/to/krc.db" ;;
    esac
}

fresh() {
    rm -rf "$base" "$trace"
    mkdir "$base"
}

# faulty FAULT: a run below $base that meets one; its status in $got
faulty() {
    KRC_FAULT=$1 KRC_FAULT_BELOW=$base LD_PRELOAD=$SHIM replay "$base"
    got=$?
}

traced() {
    KRC_FAULT_TRACE=$trace
    export KRC_FAULT_TRACE
    faulty "$1"
    unset KRC_FAULT_TRACE
}

# power_cut CALLS SEED: what the disk then has, as $cut; prints the number of calls
power_cut() {
    rm -rf "$cut"
    "$POWERCUT" "$trace" "$1" "$2" "$cut"
}

# unharmed WHEN BASE: it holds what an undisturbed run makes, to the byte
unharmed() {
    [ "$kind" = sqlite ] ||
        same "$name, $1: files" '' "$(diff -r -x 'krc.*' "$whole/to" "$2/to" 2>&1)"
    sqlite3 "$(store "$2")" .dump >"$dir/dump"
    same "$name, $1: store" '' "$(diff "$dir/whole.dump" "$dir/dump" 2>&1 | head -20)"
}

resume() { # resume WHEN BASE
    replay "$2"
    status=$?
    [ $status = 0 ] || cat "$dir/err" >&2
    same "$name, $1: status of the next run" 0 $status
    unharmed "$1" "$2"
}

# calls PHASE: of each stride's calls one; with one of the sinks the first ones too, that make the
# store
calls() {
    [ $kind = outside ] && seq 2 2 60
    seq $((1 + stride * $1 / 6)) "$stride" "$count"
}

# failed WHEN MESSAGE: the run ended well, or with status 1 and nothing but such lines
failed() {
    [ "$got" = 0 ] && return
    failures=$((failures + 1))
    same "$name, $1: status" 1 "$got"
    grep -Ev "^krc: .*$base.*($2)" "$dir/err" >"$dir/other"
    same "$name, $1: message" '' "$(cat "$dir/other")"
    same "$name, $1: a message" true "$([ -s "$dir/err" ] && echo true)"
}

killed() {
    for k in $(calls 0); do
        fresh
        faulty "kill:$k"
        [ "$got" = 137 ] || [ "$kind" = jobs ] || same "$name, killed at $k: status" 137 "$got"
        resume "killed at $k" "$base"
    done
    for k in $(calls 1); do
        fresh
        faulty "half:$k"
        resume "killed in the middle of $k" "$base"
    done
}

without_power() {
    fresh
    traced none
    power_cut 1000000 0 >/dev/null
    unharmed "power cut when it had ended" "$cut"
    power_cut $((count * 3 / 4)) 0 >/dev/null
    same "$name: something was kept" 1 \
        "$(sqlite3 "$(store "$cut")" 'SELECT sum(offset) > 0 FROM offsets')"
    for k in $(calls 2); do
        power_cut "$k" 0 >/dev/null
        resume "power cut at $k" "$cut"
    done
    for k in $(calls 3); do
        power_cut "$k" "$k" >/dev/null
        resume "power cut at $k, seed $k" "$cut"
    done
}

# The second run trusts what the first left in the kernel's memory, and then the power goes.
killed_then_without_power() {
    for k in $(calls 4); do
        fresh
        traced "kill:$k"
        traced none
        at=$((k + k * 7919 % count))
        power_cut $at 0 >/dev/null
        resume "killed at $k, power cut at $at" "$cut"
        power_cut $((k + 12)) "$k" >/dev/null
        resume "killed at $k, power cut at $((k + 12)), seed $k" "$cut"
    done
}

failing() {
    failures=0
    full='No space left on device|there is no room|whether there is room|disk is full'
    for k in $(calls 0); do
        fresh
        faulty "full:$k"
        failed "disk full at $k" "$full"
        resume "disk full at $k" "$base"
    done
    for k in $(calls 1); do
        fresh
        faulty "room:$((k * 1500))"
        failed "disk full after $k" "$full"
        resume "disk full after $k" "$base"
    done
    for k in $(calls 5); do
        fresh
        faulty "eio:$k"
        failed "flush $k fails" '(Input/output|disk I/O) error'
        resume "flush $k fails" "$base"
        fresh
        faulty "eintr:$k"
        failed "call $k is interrupted" 'Interrupted system call|disk I/O error'
        resume "call $k is interrupted" "$base"
    done
    same "$name: some runs failed" true "$([ $failures -gt 3 ] && echo true)"
    fresh
    faulty short
    same "$name, short writes: status" 0 "$got"
    unharmed 'short writes' "$base"
}

tried=0
while read -r kind flags; do
    name="$kind $flags"
    rm -rf "$whole"
    mkdir "$whole"
    resume_whole=$(replay "$whole" || cat "$dir/err")
    same "$name" '' "$resume_whole"
    sqlite3 "$(store "$whole")" .dump >"$dir/whole.dump"
    fresh
    traced none
    count=$(power_cut 1000000 0)
    same "$name: many calls" true "$([ "$count" -gt 100 ] && echo true)"
    tried=$((tried + count))
    killed
    without_power
    killed_then_without_power
    failing
    [ -n "$VERBOSE" ] && echo "$name: $count calls"
done <<END
files --format jsonl
files --compress zstd
files --rotate 1h --compress gzip
files --rotate 8KiB
files --format raw
outside --format segment
jobs --jobs 3
sqlite
END

echo "$me: with one of $stride of $tried calls"
