"""A group is carried from one cluster to another, whose topics are copies with other offsets: cut
off, compacted, with markers, with timestamps of their own."""
import json
import os
import random
import tempfile

from broker import compacted
from common import Running, attempt, check, differ, java_read, run
from kafka import Broker, Helper
from processes import java, start, wait_until

SMALL = ["internal.segment.bytes=40000", "min.cleanable.dirty.ratio=0.001"]
TOPICS = {"mixed": (3, []), "appended": (2, []),
          "trimmed": (1, ["message.timestamp.type=LogAppendTime"]),
          "compacted": (1, ["cleanup.policy=compact"])}
TIMELESS = ("trimmed",)
GROUPS = 12


def content(record):
    """What makes two records one."""
    time = None if record["topic"] in TIMELESS else record["timestamp"]
    return time, record["key"], record["value"], json.dumps(record["headers"])


class Sides:
    """What Kafka's consumers read on both sides."""

    def __init__(self, here, there, offsets):
        self.here, self.there, self.offsets = here, there, offsets

    def left(self, partition, committed):
        return [r for r in self.here.get(partition, []) if r["offset"] >= committed]

    def done(self, partition, committed):
        return [r for r in self.here.get(partition, []) if r["offset"] < committed]

    def place(self, partition, committed):
        """Where the next record lies there, or the end behind the last one; None: it does not."""
        places = self.places(partition)
        left, done = self.left(partition, committed), self.done(partition, committed)
        if left:
            return places.get(left[0]["offset"])
        last = places.get(done[-1]["offset"]) if done else None
        return None if last is None else last + 1

    def places(self, partition):
        """Offset here -> offset there.  Without timestamps records may be alike: where all were
        copied, the order says which is which."""
        here, there = self.here.get(partition, []), self.there.get(partition, [])
        if list(map(content, here)) == list(map(content, there)):
            return {a["offset"]: b["offset"] for a, b in zip(here, there)}
        found = {content(record): record["offset"] for record in there}
        return {r["offset"]: found[content(r)] for r in here if content(r) in found}

    def first_left(self, partition, committed):
        contents = {content(r) for r in self.left(partition, committed)}
        return min((r["offset"] for r in self.there.get(partition, []) if content(r) in contents),
                   default=None)


def produce(folder, brokers, helpers, seed):
    helpers[0]("scenario", "begin", seed)
    helpers[0]("scenario", "end")
    wait_until("compaction here", lambda: compacted(brokers[0].logs))
    for topic, (partitions, settings) in TOPICS.items():
        helpers[1]("create", topic, partitions, *SMALL, *settings)
    with open(f"{folder}/copier-output", "wb") as output:
        status = start(*java("300m", "Copier", *(b.bootstrap for b in brokers), str(seed), *TOPICS),
                       stdout=output, stderr=output).wait()
    check("the copier", None if status == 0 else open(f"{folder}/copier-output").read()[-2000:])
    end = int(helpers[1]("end", "mixed", 1))
    helpers[1]("trim", "mixed", 1, end // 2)
    helpers[1]("config", "appended", "cleanup.policy", "compact")  # which takes what has no key
    for partition in range(TOPICS["appended"][0]):
        wait_until("compaction there", lambda: compacted(brokers[1].logs, "appended", partition))
    wait_until("compaction there", lambda: compacted(brokers[1].logs))


def read_sides(folder, helpers):
    read = []
    for side, helper in zip(("here", "there"), helpers):
        helper("read", "read_committed", f"{folder}/{side}", *TOPICS)
        read.append(java_read(f"{folder}/{side}"))
    return Sides(read[0][0], read[1][0], read[0][1])


def migrate(brokers, group, *flags):
    return run("offsets", "migrate", "-b", brokers[0].bootstrap, "-g", group,
               "--to-bootstrap-server", brokers[1].bootstrap, "-J", *flags)


def rows(done):
    return {(row["topic"], row["partition"]): row
            for row in map(json.loads, done.out.splitlines())}


def check_row(name, sides, row, counts):
    """Exact where the record is; never behind what is left."""
    partition = row["topic"], row["partition"]
    place = sides.place(partition, row["fromOffset"])
    first = sides.first_left(partition, row["fromOffset"])
    counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
    if place is not None:
        check(f"{name}, exact", None if ["exact", place] == [row["verdict"], row["toOffset"]]
              else f"{place} expected, got {row}")
    elif row["verdict"] != "not found":
        check(f"{name}, nothing is left out", None if first is None or row["toOffset"] <= first
              else f"{row} leaves out offset {first}")


def check_groups(brokers, helpers, sides, chance):
    counts = {}
    for group in range(GROUPS):
        committed = {p: chance.randint(o["logStart"], o["end"]) for p, o in sides.offsets.items()}
        for (topic, partition), offset in committed.items():
            helpers[0]("commit", f"group-{group}", topic, partition, offset)
        found = rows(migrate(brokers, f"group-{group}").expect(0, 3))
        check("each partition has a result", differ(
            sorted(committed.items()), sorted((p, r["fromOffset"]) for p, r in found.items())))
        for partition, row in found.items():
            check_row(f"group-{group}, {partition}", sides, row, counts)
    print(f"check-brokers: {counts}", flush=True)
    check("some are exact and some are not", None if counts.get("exact", 0) > GROUPS * 4
          and counts.get("by timestamp", 0) > 0 else repr(counts))


def check_onward(folder, brokers, helpers, sides, chance):
    """A group of Kafka's reads on there, with neither gap nor, where it is exact, repeat."""
    for (topic, partition), offsets in sides.offsets.items():
        helpers[0]("commit", "onward", topic, partition,
                   chance.randint(offsets["logStart"], offsets["end"]))
    report = f"{folder}/report"
    dry = rows(migrate(brokers, "onward", "--report", report).expect(0))
    again = rows(migrate(brokers, "onward", "--report", report, "--execute").expect(0))
    check("the report is gone on from", differ(
        sorted((p, row["toOffset"]) for p, row in dry.items()),
        sorted((p, row["toOffset"]) for p, row in again.items())))
    with open(f"{folder}/onward-output", "wb") as output:
        status = start(*java("300m", "Onward", brokers[1].bootstrap, "onward", f"{folder}/onward",
                             *TOPICS), stdout=output, stderr=output).wait()
    check("a group that reads on",
          None if status == 0 else open(f"{folder}/onward-output").read()[-2000:])
    read, _ = java_read(f"{folder}/onward")
    for partition, row in dry.items():
        check_read(partition, row, sides, read.get(partition, []))


def check_busy(folder, brokers, helpers):
    """A group that has members there is left alone, whoever they are."""
    helpers[0]("commit", "busy", "mixed", 0, 1)
    member = Running(folder, "busy", "read", "-q", "-f", "", "-b", brokers[1].bootstrap, "-t",
                     "mixed", "-g", "busy", "--join", "-X", "client.id=diligent")
    wait_until("a member", lambda: b"diligent" in run(
        "offsets", "list", "-b", brokers[1].bootstrap, "-g", "busy").out)
    before = run("offsets", "export", "-b", brokers[1].bootstrap, "-g", "busy").expect(0).out
    migrate(brokers, "busy").expect(0)
    migrate(brokers, "busy", "--execute").expect(1).expect_word("has members") \
        .expect_word("diligent")
    check("its offsets", differ([before], [
        run("offsets", "export", "-b", brokers[1].bootstrap, "-g", "busy").expect(0).out]))
    member.interrupt().expect(0)


def check_read(partition, row, sides, read):
    got = {content(r) for r in read}
    there = {content(r) for r in sides.there.get(partition, [])}
    left = {content(r) for r in sides.left(partition, row["fromOffset"])}
    done = {content(r) for r in sides.done(partition, row["fromOffset"])} - left
    check(f"onward, {partition}, gaps", None if not (left & there) - got
          else f"{len((left & there) - got)} records: {row}")
    check(f"onward, {partition}, repeats", None if row["verdict"] != "exact" or not done & got
          else f"{len(done & got)} records: {row}")
    check(f"onward, {partition}, bound", None if row["again"] is None
          or len(done & got) <= row["again"] else f"{len(done & got)} records: {row}")


def check_migrate():
    seed = int(os.environ.get("SEED", random.randrange(1 << 31)))
    chance = random.Random(seed)
    print(f"check-brokers: SEED={seed} makes this scenario again", flush=True)
    with tempfile.TemporaryDirectory() as folder, Broker(f"{folder}/1") as here, \
            Broker(f"{folder}/2") as there, Helper(here.bootstrap, f"{folder}/1") as helper, \
            Helper(there.bootstrap, f"{folder}/2") as other:
        brokers, helpers = (here, there), (helper, other)
        produce(folder, brokers, helpers, seed)
        sides = read_sides(folder, helpers)
        attempt("groups in two clusters", check_groups, brokers, helpers, sides, chance)
        attempt("a group that goes on", check_onward, folder, brokers, helpers, sides, chance)
        attempt("a group with members", check_busy, folder, brokers, helpers)
