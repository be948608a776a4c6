"""A real broker: what its folder says once it has stopped is what Kafka's own consumer read from
it, and a copy of the folder made meanwhile is a beginning of that.  And what krc reads from it
while it runs is the same once more."""
import glob
import os
import random
import shutil
import tempfile

from common import LEVELS, attempt, check, compare, differ, java_read, krc, read
from follow import check_restarted
from kafka import Broker, Helper
from online import Online
from processes import wait_until
from segments import check_segments


def copy_live(logs, to):
    """What a careful copy does: which files there are first, and then these.  Only the last of a
    partition still grows, and a file may be gone by the time it is its turn."""
    for path in sorted(glob.glob(f"{logs}/**", recursive=True)):
        target = os.path.join(to, os.path.relpath(path, logs))
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
            continue
        try:
            shutil.copyfile(path, target)
        except FileNotFoundError:
            pass


def compacted(logs, topic="compacted", partition=0):
    """Whether the cleaner has gone through all that it may clean: it then leaves it alone."""
    active = max(os.path.basename(p) for p in glob.glob(f"{logs}/{topic}-{partition}/*.log"))
    checkpoint = f"{logs}/cleaner-offset-checkpoint"
    if not os.path.exists(checkpoint):
        return False
    with open(checkpoint) as lines:
        return f"{topic} {partition} {int(active[:20])}" in lines.read().splitlines()


def krc_offsets(folder, level):
    """TOPIC, PARTITION -> log start, position, last stable offset, high watermark."""
    rows = [line.split() for line in krc("read", "-q", "-d", folder, "-f", "", "-O",
                                         "--isolation-level", level).decode().splitlines()]
    return {(topic, int(partition)): [int(start), int(position), int(stable), int(high)]
            for topic, partition, start, _, position, stable, high, _ in rows}


def check_scenario(logs, committed, uncommitted):
    """It holds what it is there for, whatever the seed."""
    counts = {p: (len(committed.get(p, [])), len(uncommitted[p]))
              for p in uncommitted if p[0] != "compacted"}  # which takes what was aborted, too
    check("transactions were aborted in each partition",
          None if all(0 < c < u for c, u in counts.values()) else repr(counts))
    check("segments are many", None if len(glob.glob(f"{logs}/mixed-0/*.log")) > 2 else "few")
    offsets = [record["offset"] for record in uncommitted["compacted", 0]]
    check("compaction left holes", None if 0 < len(offsets) < offsets[-1] / 2
          else f"{len(offsets)} records")


def check_stopped(logs, level, want, offsets):
    got, got_offsets = read(logs, level), krc_offsets(logs, level)
    check(f"{level}, partitions", differ(sorted(offsets), sorted(got_offsets)))
    for partition, expected in offsets.items():
        name = f"{level}, {partition[0]}-{partition[1]}"
        check(f"{name}, records", differ(want.get(partition, []), got.get(partition, [])))
        start, position, stable, high = got_offsets[partition]
        end = stable if level == "read_committed" else high
        check(f"{name}, offsets",
              differ([expected["logStart"], expected["end"], expected["position"]],
                     [start, end, position]))


def check_copy(copy, level, want):
    """A beginning of what there was later; of what was compacted since, all that was left of it."""
    for partition, got in read(copy, level).items():
        name = f"live copy, {level}, {partition[0]}-{partition[1]}"
        later = want.get(partition, [])
        if partition[0] == "compacted":
            there = {record["offset"]: record for record in got}
            left = [r for r in later if r["offset"] <= got[-1]["offset"]]
            check(name, differ(left, [there.get(r["offset"]) for r in left]))
        else:
            first = later[0]["offset"]  # the log start may have moved since
            got = [r for r in got if r["offset"] >= first]
            check(name, differ(later[:len(got)], got))


def produce(broker, helper, seed, copy):
    helper("scenario", "begin", seed)
    copy_live(broker.logs, copy)
    helper("scenario", "end")
    wait_until("compaction", lambda: compacted(broker.logs))


def java_levels(helper, folder, *topics):
    """LEVEL -> what Kafka's consumer reads."""
    for level in LEVELS:
        helper("read", level, f"{folder}/{level}", *topics)
    return {level: java_read(f"{folder}/{level}") for level in LEVELS}


def check_folder(broker, copy, by_java):
    check_scenario(broker.logs, *(records for records, _ in by_java.values()))
    for level, (want, offsets) in by_java.items():
        check_stopped(broker.logs, level, want, offsets)
        check_copy(copy, level, want)
    check_segments([broker.logs])


def check_broker():
    seed = int(os.environ.get("SEED", random.randrange(1 << 31)))
    print(f"check-brokers: SEED={seed} makes this scenario again", flush=True)
    with tempfile.TemporaryDirectory() as folder, Broker(folder) as broker, \
            Helper(broker.bootstrap, folder) as helper:
        copy = f"{folder}/copy"
        produce(broker, helper, seed, copy)
        by_java = java_levels(helper, folder)
        online = Online(broker, helper, folder, by_java, random.Random(seed))
        online.check()
        broker.stop()
        attempt("the stopped broker's folder", check_folder, broker, copy, by_java)
        online.check_stopped()
        attempt("the broker that was begun again", check_restarted, online)
