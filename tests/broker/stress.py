"""Half a million records in many small transactions of several producers at once, some of them
aborted, read while they are written."""
import base64
import random
import re
import tempfile

from common import Running, check, differ, run
from kafka import Broker, Helper
from processes import wait_until

PRODUCERS = 4
RECORDS = 500_000
PARTITIONS = 3
MOST = 60  # records in a transaction
PATIENCE = 300
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
