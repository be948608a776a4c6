#!/bin/sh
# Where krc may not write, or not now: a full disk, a read-only one, a target that another process
# writes to.  Each is told in a sentence, nothing is lost by it, and when the cause is gone the
# next run goes on.  Disks are small tmpfs mounts; where none may be mounted, faults.sh alone
# judges full ones.
#
# SHIM names what shim.c became.

me=tests/fault/limits.sh
. tests/cmd/common
disk=$dir/disk

# ---- one owner
hold() { # hold TARGET: a run that stopped in its middle; $owner
    KRC_FAULT=stop:60 KRC_FAULT_BELOW=$dir LD_PRELOAD=$SHIM \
        "$KRC" replay -q -d "$LOGS" --to "$1" -X commit.interval.bytes=1000 &
    owner=$!
    until grep -q '^State:.[TZ]' "/proc/$owner/status"; do
        sleep 0.01
    done
}
for target in "$dir/to" "sqlite:$dir/to.db"; do
    hold "$target"
    expect 1 '' "krc: process $owner is writing to DIR/to${target##*/to}: wait until it has ended, or use another target" \
        replay -q -d "$LOGS" --to "$target" -X commit.interval.bytes=1000
    kill -9 $owner
    wait $owner 2>/dev/null
    run 0 replay -q -d "$LOGS" --to "$target" -X commit.interval.bytes=1000
done
"$KRC" replay -q -d "$LOGS" --to "$dir/whole"
same 'after a killed owner' '' "$(diff -r -x 'krc.*' "$dir/whole" "$dir/to")"

# ---- full disks
mkdir "$disk"
if ! mount -t tmpfs -o size=400k none "$disk" 2>/dev/null; then
    echo "$me: no check on a full disk: mounting one is not allowed here"
    exit 0
fi
on_exit='umount "$disk"'
anew() { # anew SIZE: an empty disk
    umount "$disk" && mount -t tmpfs -o "size=$1" none "$disk"
}
larger() {
    mount -o remount,size=64m "$disk"
}
full() { # full FILE ARGUMENTS...: the run fails, naming a file that matches
    file=$1
    shift
    run 1 "$@"
    same "$* says what" 1 \
        "$(grep -Ec "^krc: cannot .*$disk/$file.*(No space left|room on the disk|disk is full)" "$dir/err")"
    same "$* says no more" 1 "$(wc -l <"$dir/err")"
}

full 'to/.*jsonl' replay -q -d "$LOGS" --to "$disk/to"
larger
run 0 replay -q -d "$LOGS" --to "$disk/to"
same 'files after a full disk' '' "$(diff -r -x 'krc.*' "$dir/whole" "$disk/to")"
same 'offsets after a full disk' "$(sqlite3 "$dir/whole/krc.db" .dump)" \
    "$(sqlite3 "$disk/to/krc.db" .dump)"

anew 400k
full 'to.db' replay -q -d "$LOGS" --to "sqlite:$disk/to.db"
larger
run 0 replay -q -d "$LOGS" --to "sqlite:$disk/to.db"
run 0 replay -q -d "$LOGS" --to "sqlite:$dir/whole.db"
same 'rows after a full disk' "$(sqlite3 "$dir/whole.db" .dump | cksum)" \
    "$(sqlite3 "$disk/to.db" .dump | cksum)"

# the store alone: what was read is not committed, and is read again
reading="read -q -d $LOGS -t txns -p 0 -o stored --store $disk/store.db -f %o\n"
anew 200k
run 0 $reading --until 50
dd if=/dev/zero of="$disk/fill" bs=1k 2>/dev/null
full store.db $reading
full store.db offsets reset --store "$disk/store.db" --to-earliest -d "$LOGS" -t txns --execute
rm "$disk/fill"
run 0 $reading
same 'goes on where it was' "$("$KRC" read -q -d "$LOGS" -t txns -p 0 -o 50 -f '%o\n')" \
    "$(cat "$dir/out")"

# ---- disks that may only be read
anew 4m
run 0 replay -q -d "$LOGS" -t txns --to "$disk/to"
run 0 $reading
mount -o remount,ro "$disk"
expect 1 '' 'krc: cannot make a file in DIR/disk/to, which locks it: Read-only file system' \
    replay -q -d "$LOGS" -t txns --to "$disk/to"
expect 1 '' 'krc: cannot make the folder DIR/disk/new: Read-only file system' \
    replay -q -d "$LOGS" -t txns --to "$disk/new"
expect 1 '' 'krc: cannot open DIR/disk/new.db: Read-only file system' \
    replay -q -d "$LOGS" -t txns --to "sqlite:$disk/new.db"
for begun in "replay -q -d $LOGS -t txns --to $dir/other --store $disk/store.db" "$reading"; do
    run 1 $begun
    same "$begun says what" 1 \
        "$(grep -c "^krc: cannot begin in the offset store $disk/store.db: .*may be written to$" "$dir/err")"
done
mount -o remount,rw,size=64m "$disk"
run 0 replay -q -d "$LOGS" --to "$disk/to"
same 'files after a disk that could only be read' '' "$(diff -r -x 'krc.*' "$dir/whole" "$disk/to")"
