#!/bin/sh
# scripts/tally, which counts what make check runs: it tells the truth, and goes on after failures.

me=tests/make/tally.sh
. tests/cmd/common

# tally STATUS VERDICT COMMAND...
tally() {
    status=$1 verdict=$2
    shift 2
    scripts/tally it "$@" >"$dir/out"
    same "exit status of $*" "$status" $?
    same "verdict of $*" "it: $verdict" "$(tail -n 1 "$dir/out")"
}

closing='echo "100%: Checks: 5, Failures: 0, Errors: 0"'
tally 0 '1 passed, 0 failed' true
tally 1 '0 passed, 1 failed' false
tally 1 '1 passed, 2 failed' false true 'no-such-command'
tally 1 '0 passed, 1 failed' 'kill -9 $$'
tally 0 '10 passed, 0 failed' "$closing" "$closing"
tally 0 '10 passed, 0 failed' "$closing; $closing"
tally 1 '2 passed, 2 failed' 'echo "50%: Checks: 4, Failures: 1, Errors: 1"; exit 1'
tally 1 '5 passed, 1 failed' "$closing; exit 1"
tally 0 '3 passed, 0 failed' 'echo "a script: 2 passed, 0 failed"; echo "that: 3 passed, 0 failed"'
tally 1 '3 passed, 4 failed' "$closing; echo 'all: 3 passed, 4 failed'; echo more"
tally 1 '7 passed, 1 failed' 'echo "7 passed, 0 failed"; exit 2'
tally 0 '0 passed, 0 failed'

# ---- without a name the verdict is alone on its line
scripts/tally '' 'echo said; echo complained >&2' false >"$dir/out"
same 'all that is printed' 'said
complained
failed: false
1 passed, 1 failed' "$(cat "$dir/out")"

# ---- test scripts: a check that fails is counted, and so is an early end
script() { # script VERDICT LINES
    printf 'me=it\n. tests/cmd/common\n%s\n' "$2" >"$dir/script"
    same "verdict of $2" "it: $1" "$(sh "$dir/script" 2>/dev/null)"
}
script '2 passed, 0 failed' 'same a 1 1; same b 2 2'
script '1 passed, 1 failed' 'same a 1 2; same b 2 2'
script '1 passed, 1 failed' 'same a 1 1; exit 1'
script '0 passed, 10 failed' 'while :; do same a 1 2; done'
