"""Older brokers, and another's: what krc reads and replays of transactions is what Kafka's consumer
reads.  `make check-versions`."""
import json
import os
import random
import tempfile

from common import LEVELS, Running, attempt, check, compare, differ, java_read, krc, run
from follow import jsonl, offsets
from kafka import Broker, Helper
from online import differ_files, files
from processes import NEWEST, wait_until
from zookeeper import Kfake, OldBroker

CLIENT = "3.9.1"  # its clients talk to all of them
BASE64 = ("-J", "--encoding", "base64")
COUNT = 3000
BROKERS = {
    "0.11.0.3": lambda folder: OldBroker(folder, "0.11.0.3"),
    "1.1.1": lambda folder: OldBroker(folder, "1.1.1"),
    "2.8.2": lambda folder: OldBroker(folder, "2.8.2"),
    "3.9.1": lambda folder: Broker(folder, "3.9.1"),
    "kfake": lambda folder: Kfake(folder, "txns"),
}


class Version:
    def __init__(self, name, broker, helper, folder):
        self.name, self.broker, self.helper, self.folder = name, broker, helper, folder
        self.source = ["-b", broker.bootstrap, "-t", "txns"]

    def produce(self):
        """Committed and aborted transactions of two producers, plain records, and then one that
        stays open, with plain records behind it."""
        if self.name != "kfake":
            self.helper("create", "txns", 2, "segment.bytes=50000")
        for name, most in (("first", 20), ("second", 7), ("plain", 0)):
            self.helper("load", name, "txns", 2, COUNT, most, 0, random.randrange(1 << 31),
                        f"{self.folder}/{name}.log")
        for name in ("first", "second", "plain"):
            wait_until(f"the end of {name}", lambda: self.helper("loaded", name).endswith("false"))
        self.helper("open", "txns", 0, 10)
        self.helper("send", "txns", 0, 0, 20, 10)

    def java(self, level):
        path = f"{self.folder}/{level}"
        self.helper("read", level, path, "txns")
        return java_read(path)

    def read(self, *flags):
        return run("read", "-q", *self.source, "-e", "--account", "json", *BASE64, *flags)

    def check_levels(self):
        for level in LEVELS:
            want, ends = self.java(level)
            done = self.read("--isolation-level", level).expect(0)
            compare(f"{self.name}, {level}", want, done.records())
            account = done.account()
            check(f"{self.name}, {level}, ranges", differ(
                [(p, row["logStart"], row["end"]) for p, row in sorted(ends.items())],
                [(p, row["from"], row["to"]) for p, row in sorted(account.items())]))

    def check_undecided(self):
        """The open transaction and what lies behind it."""
        account = self.read().expect(0).account()
        check(f"{self.name}, undecided", differ([30, 0], [
            account["txns", p]["undecided"] for p in (0, 1)]))

    def check_store(self):
        """Continues where it stopped; and once that is gone, at the log start, and says so."""
        want = self.java("read_committed")[0]
        store = ["--store", f"{self.folder}/store"]
        got = self.read(*store, "-c", 500).expect(0).records()
        for partition, more in self.read(*store).expect(0).records().items():
            got[partition] = got.get(partition, []) + more
        compare(f"{self.name}, --store", want, got)

    def check_following(self):
        """Half of it is written while it is read."""
        reader = Running(self.folder, "reader", "read", *self.source, "-p", 1, *BASE64)
        for name in ("before", "meanwhile"):
            self.helper("load", name, "txns", 2, 500, 10, 1, 7, f"{self.folder}/{name}.log")
            wait_until(f"the end of {name}",
                       lambda: self.helper("loaded", name).endswith("false"))
            want = self.java("read_committed")[0]["txns", 1]
            reader.wait_for("all of it", len(want))
        compare(f"{self.name}, following", {("txns", 1): want},
                reader.interrupt().expect(0).records())

    def check_lost(self):
        store = ["--store", f"{self.folder}/lost", "-p", 1]
        self.read(*store, "-c", 10).expect(0)
        want = self.java("read_committed")[0]["txns", 1]
        gone = want[len(want) // 2]["offset"]
        self.helper("trim", "txns", 1, gone)
        done = self.read(*store).expect(3)
        compare(f"{self.name}, behind the log start",
                {("txns", 1): [r for r in want if r["offset"] >= gone]}, done.records())
        check(f"{self.name}, lost", differ([gone - want[9]["offset"] - 1],
                                           [done.account()["txns", 1]["lost"]]))

    def replay(self):
        krc("replay", "-q", *self.source, "--to", f"{self.folder}/online")
        want = self.java("read_committed")[0]
        check(f"{self.name}, replay", differ(offsets(want),
                                             offsets(jsonl(f"{self.folder}/online"))))

    def check_joined(self):
        """As the only member of a group."""
        to = f"{self.folder}/joined"
        done = run("replay", "-q", *self.source, "-t", "txns", "-g", "writer", "--join", "--to", to)
        if self.name < "2.5":
            done.expect(1).expect_word("since Kafka 2.5")
            return
        done.expect(0)
        want = self.java("read_committed")[0]
        check(f"{self.name}, replay as a member", differ(offsets(want), offsets(jsonl(to))))

    def offsets(self, action, *flags):
        return krc("offsets", action, *self.source, "-g", "group", *flags)

    def check_committed(self):
        """What a client of Kafka's has committed is read, and moved."""
        for partition, offset in ((0, 7), (1, 11)):
            self.helper("commit", "group", "txns", partition, offset)
        check(f"{self.name}, committed", differ(
            [b"txns,0,7", b"txns,1,11"], self.offsets("export").split()))
        self.offsets("reset", "--to-latest", "--execute")
        rows = [json.loads(line) for line in self.offsets("lag", "-J").splitlines()]
        check(f"{self.name}, moved to the end", differ(
            [row["lastStableOffset"] for row in rows], [row["committedOffset"] for row in rows]))
        check(f"{self.name}, lag", differ([(0, 30), (0, 0)], [
            (row["lag"], row["undecided"]) for row in rows]))

    def check_open(self):
        """Which transaction holds the last stable offset back; Kafka 3.0 was the first to tell."""
        done = run("txns", *self.source, "-J")
        if self.name < "3":
            done.expect(1).expect_word("older than Kafka 3.0")
            return
        rows = [json.loads(line) for line in done.expect(0).out.splitlines()]
        check(f"{self.name}, open", differ([[0, "open", "open-txns-0", True]], [
            [row[name] for name in ("partition", "state", "transactionalId",
                                    "holdsLastStableOffset")] for row in rows]))

    def check_stopped(self):
        committed = self.offsets("export")
        self.broker.stop()
        if self.broker.logs is not None:
            check(f"{self.name}, the folder's group", differ(committed.split(), krc(
                "offsets", "export", "-d", self.broker.logs, "-g", "group").split()))
            krc("replay", "-q", "-d", self.broker.logs, "-t", "txns",
                "--to", f"{self.folder}/offline")
            check(f"{self.name}, replay of the folder", differ_files(
                files(f"{self.folder}/offline"), files(f"{self.folder}/online")))


def check_version(name, make):
    version = NEWEST if name == "kfake" else CLIENT
    with tempfile.TemporaryDirectory() as folder, make(folder) as broker, \
            Helper(broker.bootstrap, folder, version) as helper:
        it = Version(name, broker, helper, folder)
        it.produce()
        for part in (it.check_levels, it.check_undecided, it.check_committed, it.check_open,
                     it.check_store, it.check_following, it.check_lost, it.replay,
                     it.check_joined, it.check_stopped):
            attempt(f"{name}: {part.__name__}", part)


def check_versions():
    wanted = os.environ.get("VERSIONS", " ".join(BROKERS)).split()
    for name in wanted:
        attempt(name, check_version, name, BROKERS[name])
