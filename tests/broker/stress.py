"""Half a million records in many small transactions of several producers at once, some of them
aborted, read while they are written."""
import base64
import os
import random
import re
import tempfile

from common import Running, attempt, check, differ, krc, run
from kafka import Broker, Helper
from online import differ_files, files
from processes import wait_until

PRODUCERS = 4
RECORDS = 500_000
PARTITIONS = 3
MOST = 60  # records in a transaction
PATIENCE = 300
OFTEN = ["-X", "commit.interval.bytes=100000"]
REPLAYS = {  # flags, and the most bytes that are written between two kills
    "plain": (OFTEN, 3 << 20),
    "gzip": (["--compress", "gzip", "--rotate", "1MiB", *OFTEN], 500_000),
    "zstd": (["--compress", "zstd", "--rotate", "1MiB", *OFTEN], 500_000),
    "segments": (["--format", "segment", *OFTEN], 1 << 20)}
PARTITION = re.compile(rb'"topic":"stress","partition":(\d+),"offset":')


def begin_loads(helper, folder):
    names = [f"producer-{i}" for i in range(PRODUCERS)]
    for name in names:
        helper("load", name, "stress", PARTITIONS, RECORDS // PRODUCERS, MOST, 0,
               random.randrange(1 << 31), f"{folder}/{name}.log")
    return names


def ended(helper, names):
    return all(helper("loaded", name).endswith("false") for name in names)


def acknowledged(folder, names):
    """What the producers know of: PARTITION, OFFSET, VALUE."""
    lines = []
    for name in names:
        with open(f"{folder}/{name}.log") as log:
            lines += [line.split() for line in log]
    return sorted((int(partition), int(offset), value) for partition, offset, value in lines)


def by_partition(lines):
    """As they stand, for there are many."""
    found = {}
    for line in lines:
        partition = PARTITION.search(line)
        if partition:
            found.setdefault(int(partition[1]), []).append(line)
    return found


def check_read(helper, folder, read, names):
    committed = acknowledged(folder, names)
    check("krc read and the producers' logs", differ(
        [f"{p} {o} {v}" for p, o, v in committed], sorted_lines(read)))
    helper("read", "read_committed", f"{folder}/java", "stress")
    with open(f"{folder}/java", "rb") as java:
        want = by_partition(line for line in java if b'"logStart"' not in line)
    got = by_partition(read.out.splitlines(keepends=True))
    for partition in range(PARTITIONS):
        check(f"krc read and Kafka's consumer, partition {partition}",
              differ(want[partition], got.get(partition, [])))
    return len(committed)


def sorted_lines(read):
    """PARTITION OFFSET VALUE of what krc read."""
    rows = [(p, r["offset"], base64.b64decode(r["value"]).decode())
            for (_, p), records in read.records().items() for r in records]
    return [f"{p} {o} {v}" for p, o, v in sorted(rows)]


def check_account(bootstrap, committed):
    done = run("read", "-q", "-b", bootstrap, "-t", "stress", "-e", "-f", "", "--account",
               "json").expect(0)
    rows = done.account().values()
    check("delivered and undecided", differ(
        [committed, 0, 0, 0, 0], [sum(row[fate] for row in rows) for fate in (
            "delivered", "undecided", "lost", "absent", "skipped")]))


# ---- Replays of it all, killed on the way

def size(folder):
    """So far: files come and go meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.path.getsize(os.path.join(parent, name))
            except FileNotFoundError:
                pass
    return total


def replay_killed(folder, bootstrap, name, flags, most):
    """Killed, or stopped by Ctrl-C, each time that some more has been written, until it gets to the
    end."""
    to, kills = f"{folder}/{name}", 0
    while True:
        goal = size(to) + random.randrange(most)
        replay = Running(folder, f"{name}-{kills}", "replay", "-q", "-b", bootstrap, "-t",
                         "stress", "--to", to, *flags)
        while replay.process.poll() is None and size(to) < goal:
            pass
        if replay.process.poll() is not None:
            break
        if kills % 2 == 0:
            replay.kill()
        elif replay.interrupt().status == 0:
            break
        kills += 1
    replay.wait().expect(0)
    check(f"{name}, kills", None if kills > 1 else f"{kills}")


def check_replays(folder, logs):
    """Each is what an undisturbed replay of the stopped broker's folder is."""
    for name, (flags, _) in REPLAYS.items():
        krc("replay", "-q", "-d", logs, "-t", "stress", "--to", f"{folder}/{name}-whole", *flags)
        sides = [{path: data for path, data in files(f"{folder}/{name}{side}").items()
                  if not path.endswith("-checkpoint")} for side in ("-whole", "")]
        check(f"a replay that was killed, {name}", differ_files(*sides))


def check_stress():
    with tempfile.TemporaryDirectory() as folder, Broker(folder) as broker, \
            Helper(broker.bootstrap, folder) as helper:
        helper("create", "stress", PARTITIONS)
        reader = Running(folder, "reader", "read", "-b", broker.bootstrap, "-t", "stress",
                         "-J", "--encoding", "base64")
        names = begin_loads(helper, folder)
        wait_until("the producers' end", lambda: ended(helper, names), PATIENCE)
        committed = sum(int(helper("unload", name).split()[0]) for name in names)
        reader.wait_for("all that was written", committed, PATIENCE)
        read = reader.interrupt().expect(0)
        check("records", differ([committed], [check_read(helper, folder, read, names)]))
        check_account(broker.bootstrap, committed)
        for name, (flags, most) in REPLAYS.items():
            attempt(f"a replay that is killed, {name}", replay_killed, folder, broker.bootstrap,
                    name, flags, most)
        broker.stop()
        attempt("the same of the folder", check_replays, folder, broker.logs)
