"""krc txns against what Kafka's own TransactionsCommand tells of a broker, and against the folder
that the broker leaves behind."""
import json
import re
import socket
import struct
import subprocess
import tempfile
import time

from common import attempt, check, differ, krc, run
from kafka import Broker, Helper
from processes import java

SETTINGS = """\
transaction.partition.verification.enable=false
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
"""  # so that some can be left hanging, and others hidden
STRANGER = 777_777  # a producer id that no coordinator gave away
TIMEOUT = 900_000
PRODUCE = 0, 8  # the last version whose strings have fixed lengths


# ---- Kafka's own tool

def tool(bootstrap, *arguments):
    """The rows of its table, as lists of words."""
    lines = subprocess.run(
        java("200m", "org.apache.kafka.tools.TransactionsCommand", "--bootstrap-server", bootstrap,
             *map(str, arguments)),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode().splitlines()
    return [re.split(r"\s*\t\s*|\s+", line.strip()) for line in lines[1:] if line.strip()]


def acl(bootstrap, how, who, *what):
    subprocess.run(java("200m", "org.apache.kafka.tools.AclCommand", "--bootstrap-server",
                        bootstrap, how, f"--{who}-principal", "User:ANONYMOUS", "--force", *what),
                   stdout=subprocess.DEVNULL, check=True)


# ---- A producer that no coordinator knows of

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def batch(producer, epoch, now):
    """One record "v" in a transaction."""
    record = bytes([0, 0, 0, 1, 2]) + b"v" + bytes([0])  # both deltas 0, no key, no headers
    body = struct.pack(">hiqqqhii", 1 << 4, 0, now, now, producer, epoch, 0, 1) \
        + bytes([2 * len(record)]) + record
    return struct.pack(">qiibI", 0, 9 + len(body), -1, 2, crc32c(body)) + body


def text(string):
    return struct.pack(">h", len(string)) + string.encode()


def produce(bootstrap, topic, partition, producer, epoch):
    """What a producer sends whose coordinator has forgotten the transaction; the offset."""
    records = batch(producer, epoch, int(time.time() * 1000))
    request = struct.pack(">hhi", *PRODUCE, 7) + text("check-brokers") + text("stray") \
        + struct.pack(">hii", -1, 10_000, 1) + text(topic) + struct.pack(">iii", 1, partition,
                                                                        len(records)) + records
    host, port = bootstrap.split(":")
    with socket.create_connection((host, int(port))) as s, s.makefile("rb") as answers:
        s.sendall(struct.pack(">i", len(request)) + request)
        answer = answers.read(struct.unpack(">i", answers.read(4))[0])
    error, offset = struct.unpack_from(">hq", answer, 4 + 4 + len(text(topic)) + 4 + 4)
    check("a batch of no coordinator's is taken", error or None)
    return offset


# ---- What krc says

def listed(*flags):
    return [json.loads(line) for line in krc("txns", *flags, "-J").decode().splitlines()]


def table(*flags):
    """PARTITION -> its row of the first table, by title."""
    lines = krc("txns", *flags).decode().split("\n\n")[0].splitlines()
    titles = lines[0].split()
    return {int(row[1]): dict(zip(titles, row)) for row in map(str.split, lines[1:])}


def fields(rows, *names):
    return sorted([row[name] for name in names] for row in rows)


PLACE = "topic", "partition", "producerId", "producerEpoch", "firstOffset"


class Transactions:
    def __init__(self, broker, helper):
        self.broker, self.helper = broker, helper
        self.source = ["-q", "-b", broker.bootstrap, "-t", "t"]
        self.rows = []

    def produce(self):
        """Open ones behind plain records, one that began within another, two that hang, the second
        of a producer that its coordinator knows; and a partition without any."""
        self.helper("create", "t", 5)
        for partition in range(4):
            self.helper("send", "t", partition, 0, 10 + partition, 8)
        for partition, count in ((0, 5), (1, 3)):
            self.helper("open", "t", partition, count)
            self.helper("send", "t", partition, 0, 4, 8)
        self.helper("overlap", "t", 2)
        self.known = next(row for row in listed(*self.source) if row["partition"] == 0)
        self.hanging = [
            produce(self.broker.bootstrap, "t", 3, producer, epoch) for producer, epoch in (
                (STRANGER, 0), (self.known["producerId"], self.known["producerEpoch"]))]
        self.rows = listed(*self.source)

    def check_open(self):
        want = [["open", 0, 10], ["open", 1, 11], ["open", 2, 13],
                ["hanging", 3, 13], ["hanging", 3, 14]]
        check("what is open", differ(want, [
            [row["state"], row["partition"], row["firstOffset"]] for row in self.rows]))
        check("what hangs", differ([13, 14], self.hanging))

    def check_producers(self):
        want = []
        for partition in range(5):
            for producer, epoch, _, _, last, start in tool(
                    self.broker.bootstrap, "describe-producers", "--topic", "t",
                    "--partition", partition):
                if start != "None":
                    want.append(["t", partition, int(producer), int(epoch), int(start),
                                 int(last)])
        check("describe-producers", differ(sorted(want), fields(self.rows, *PLACE, "lastTime")))

    def check_listed(self):
        states = {name: [int(broker), int(producer), state] for name, broker, producer, state in
                  tool(self.broker.bootstrap, "list")}
        named = [row for row in self.rows if row["transactionalId"] is not None]
        check("only the stranger has no id", differ([STRANGER], [
            row["producerId"] for row in self.rows if row["transactionalId"] is None]))
        for row in named:
            check(f"list, {row['transactionalId']}", differ(
                states[row["transactionalId"]],
                [row["coordinator"], row["producerId"], row["coordinatorState"]]))
        check("list, all that are ongoing", differ(
            sorted(name for name, state in states.items() if state[2] == "Ongoing"),
            sorted({row["transactionalId"] for row in named})))

    def check_described(self):
        for row in self.rows:
            if row["state"] != "open":
                continue
            name = row["transactionalId"]
            [[broker, _, producer, epoch, state, timeout, start, _, where]] = tool(
                self.broker.bootstrap, "describe", "--transactional-id", name)
            check(f"describe, {name}", differ(
                [int(broker), int(producer), int(epoch), state, int(timeout), int(start), where],
                [row["coordinator"], row["producerId"], row["producerEpoch"],
                 row["coordinatorState"], row["timeoutMs"], row["startTime"],
                 f"t-{row['partition']}"]))
            check(f"the time-out of {name}", differ([TIMEOUT], [row["timeoutMs"]]))

    def check_hanging(self):
        want = [[topic, int(partition), int(producer), int(epoch), int(start), int(last)]
                for topic, partition, producer, epoch, _, start, last, _ in tool(
                    self.broker.bootstrap, "find-hanging", "--topic", "t",
                    "--max-transaction-timeout", 0)]
        got = [row for row in self.rows if row["state"] == "hanging"]
        check("find-hanging", differ(sorted(want), fields(got, *PLACE, "lastTime")))
        check("since when they hang", differ(fields(got, "lastTime"), fields(got, "startTime")))
        notes = run("txns", *self.source[1:]).expect(0).err.decode()
        check("doubts about the stranger alone", differ(
            [str(STRANGER)], re.findall(r"producer (\d+)", notes)))

    def check_ends(self):
        """Who holds the last stable offset back, and where that lies."""
        rows = table(*self.source)
        for line in krc("topics", "-b", self.broker.bootstrap, "-t", "t", "-J").splitlines():
            topic = json.loads(line)
            row = rows[topic["partition"]]
            check(f"the offsets of t-{topic['partition']}", differ(
                [str(topic[name]) for name in ("logStartOffset", "lastStableOffset",
                                               "highWatermark")],
                [row["LOG-START"], row["LAST-STABLE"], row["HIGH-WATERMARK"]]))
            holders = [r for r in self.rows if r["partition"] == topic["partition"]
                       and r["holdsLastStableOffset"]]
            check(f"what holds t-{topic['partition']} back", differ(
                [[str(r["producerId"]), r["firstOffset"]] for r in holders],
                [] if topic["lastStableOffset"] == topic["highWatermark"]
                else [[row["HELD-BY"], topic["lastStableOffset"]]]))
        check("how many", differ(
            [["1", "0"], ["1", "0"], ["1", "0"], ["0", "2"], ["0", "0"]],
            [[rows[p]["OPEN"], rows[p]["HANGING"]] for p in range(5)]))

    def check_beside_folder(self):
        """The transactions of the folder, with what the cluster knows of them."""
        rows = [row for row in listed("-q", "-b", self.broker.bootstrap, "-d", self.broker.logs,
                                      "-t", "t") if row["state"] == "open"]
        names = *PLACE, "transactionalId", "coordinator", "coordinatorState"
        check("-b and -d", differ(fields(
            [row for row in self.rows if row["producerId"] != STRANGER], *names), fields(
            [row for row in rows if row["producerId"] != STRANGER], *names)))

    def check_ended(self):
        """Kafka's tool aborts what hangs, by the offsets that krc says."""
        for row in self.rows:
            if row["state"] == "hanging":
                tool(self.broker.bootstrap, "abort", "--topic", row["topic"],
                     "--partition", row["partition"], "--start-offset", row["firstOffset"])
        left = listed(*self.source)
        names = *PLACE, "state", "startTime", "holdsLastStableOffset"
        check("what is left", differ(fields(
            [row for row in self.rows if row["state"] == "open"], *names), fields(left, *names)))

    def check_denied(self):
        """A transactional id that we may not describe, and a topic that we may not read."""
        name, topic = "open-t-1", "closed"
        self.helper("create", topic, 1)
        rules = [["deny", "--transactional-id", name, "--operation", "Describe"],
                 ["allow", "--topic", topic, "--operation", "Describe"]]
        for rule in rules:
            acl(self.broker.bootstrap, "--add", *rule)
        done = run("txns", "-b", self.broker.bootstrap, "-J").expect(1)
        done.expect_word("closed-0: ").expect_word("TOPIC_AUTHORIZATION_FAILED")
        rows = {row["partition"]: row for row in map(json.loads, done.out.splitlines())}
        check("whose transaction it is is not told", differ(
            ["hanging", None], [rows[1]["state"], rows[1]["transactionalId"]]))
        done.expect_word(f"producer {rows[1]['producerId']} is of no transactional id")
        check("the others are told", differ(
            ["open", "open-t-0"], [rows[0]["state"], rows[0]["transactionalId"]]))
        for rule in rules:
            acl(self.broker.bootstrap, "--remove", *rule)

    def check_stopped(self):
        """The folder's own view."""
        want = listed(*self.source)
        self.broker.stop()
        got = [row for row in listed("-d", self.broker.logs, "-t", "t") if row["state"] == "open"]
        names = *PLACE, "lastTime", "transactionalId", "holdsLastStableOffset"
        check("the folder's transactions", differ(fields(want, *names), fields(got, *names)))


def check_txns():
    with tempfile.TemporaryDirectory() as folder, Broker(folder, more=SETTINGS) as broker, \
            Helper(broker.bootstrap, folder) as helper:
        it = Transactions(broker, helper)
        it.produce()
        for part in (it.check_open, it.check_producers, it.check_listed, it.check_described,
                     it.check_hanging, it.check_ends, it.check_beside_folder, it.check_ended,
                     it.check_denied, it.check_stopped):
            attempt(f"txns: {part.__name__}", part)
