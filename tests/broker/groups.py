"""Groups: krc and Kafka's own consumers as members of the same ones, and replays that share a topic
while they are killed and suspended."""
import json
import os
import random
import signal
import subprocess
import tempfile
import time

from common import Running, attempt, check, differ, krc, run
from kafka import Broker, Helper
from late import check_late_commits
from outputs import places
from processes import java, start, wait_until
from stress import acknowledged

SETTINGS = """\
group.min.session.timeout.ms=1000
group.consumer.min.session.timeout.ms=1000
group.consumer.session.timeout.ms=4000
group.consumer.min.heartbeat.interval.ms=100
group.consumer.heartbeat.interval.ms=300
"""
PARTITIONS = 12
PRODUCERS = 4
RECORDS = 400_000
MEMBERS = 3
PATIENCE = 300
QUICK = ["-X", "heartbeat.interval.ms=300", "-X", "session.timeout.ms=3000"]
SESSION = 5  # seconds until a member that is gone is forgotten, and a little more
ASSIGNORS = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}
PROTOCOLS = {  # krc's flags, and what Kafka's consumer is told
    "consumer": (["-X", "group.protocol=consumer"], ["group.protocol=consumer"]),
    **{name: (["-X", f"partition.assignment.strategy={name}", *QUICK],
              ["group.protocol=classic", f"partition.assignment.strategy={java_class}",
               "session.timeout.ms=3000", "heartbeat.interval.ms=300"])
       for name, java_class in ASSIGNORS.items()}}
CHAOS = {  # how often something happens, the protocol, and what is written
    "files": (18, "consumer", []),
    "zstd": (16, "cooperative-sticky", ["--compress", "zstd"]),
    "sqlite": (16, "range", []),
    "gzip": (10, "consumer", ["--compress", "gzip", "--rotate", "256KiB"])}


def load(helper, folder):
    """Transactions, some of them aborted; what was committed is returned, sorted."""
    names = [f"producer-{i}" for i in range(PRODUCERS)]
    for name in names:
        helper("load", name, "shared", PARTITIONS, RECORDS // PRODUCERS, 60, 0,
               random.randrange(1 << 31), f"{folder}/{name}.log")
    wait_until("the producers' end",
               lambda: all(helper("loaded", name).endswith("false") for name in names), PATIENCE)
    for name in names:
        helper("unload", name)
    return [(partition, offset) for partition, offset, _ in acknowledged(folder, names)]


# ---- Replays that share a topic

class Replay:
    """One member with an output of its own."""

    def __init__(self, folder, bootstrap, group, number, chaos, protocol, flags):
        to = f"{folder}/{chaos}-{number}"
        self.to = to if chaos != "sqlite" else f"sqlite:{to}"
        self.folder, self.name = folder, f"{chaos}-{number}"
        self.flags = ["replay", "-b", bootstrap, "-t", "shared", "-g", group, "--join", "--to",
                      self.to, "-X", "commit.interval.bytes=20000", "-X",
                      "fetch.max.bytes=100000", "--account", "json", *PROTOCOLS[protocol][0], *flags]
        self.starts = 0
        self.wakes_at = None
        self.begin()

    def begin(self):
        self.starts += 1
        self.running = Running(self.folder, f"{self.name}-{self.starts}", *self.flags, "--follow")

    def signal(self, number):
        self.running.process.send_signal(number)

    def wake(self, now):
        if self.wakes_at is not None and now >= self.wakes_at:
            self.signal(signal.SIGCONT)
            self.wakes_at = None

    def check_alive(self):
        done = self.running.done()
        check(f"{self.name} goes on", None if done.status is None else
              f"exit status {done.status}: {done.err.decode()[-500:]}")

    def disturb(self):
        """Killed, ended by Ctrl-C, or suspended, for less or longer than its session."""
        self.check_alive()
        how = random.choice(["kill", "kill", "suspend", "interrupt"])
        if how == "suspend" and self.wakes_at is None:
            self.signal(signal.SIGSTOP)
            self.wakes_at = time.monotonic() + random.choice([0.3, 1.5, 5, 6])
            return
        self.wake(float("inf"))
        if how == "kill":
            self.running.kill()
            time.sleep(random.choice([0, 0, 1, 4]))
        else:
            self.check_account(self.expect_end(self.running.interrupt()))
        self.begin()

    @staticmethod
    def expect_end(done):
        """It had hardly begun; or a commit whose answer takes long, while others are suspended, is
        left to the next run."""
        if done.status == 1:
            said = done.err.decode()
            check("an end that is early or late", None if "stopped before the end" in said or
                  "asks again" in said else said[-1000:])
            return done
        return done.expect(0, -signal.SIGINT)

    def check_account(self, done):
        """Of each stretch once, however often the partition came and went."""
        if done.status != 0:  # it had hardly begun
            return
        done.account()
        rows = json.loads(done.err.splitlines()[-1])["partitions"]
        stretches = [(row["partition"], row["from"]) for row in rows]
        check(f"{self.name}, each stretch once", differ(sorted({*stretches}), stretches))

    def recover(self):
        run(*self.flags, "-q", "--recover").expect(0)


def check_chaos(folder, bootstrap, chaos, want):
    times, protocol, flags = CHAOS[chaos]
    members = [Replay(folder, bootstrap, f"chaos-{chaos}", i, chaos, protocol, flags)
               for i in range(MEMBERS)]
    for _ in range(times):
        time.sleep(random.uniform(0.1, 1.2))
        for member in members:
            member.wake(time.monotonic())
        random.choice(members).disturb()
    for member in members:
        member.wake(float("inf"))
    members[0].running.kill()
    for member in members[1:]:
        member.expect_end(member.running.interrupt())
    time.sleep(SESSION)  # until the one that was killed is forgotten
    run(*members[1].flags, "-q").expect(0)
    for member in members:
        member.recover()
    check(f"the union of what was written, {chaos}",
          differ(want, sorted(place for member in members for place in places(member.to))))


def check_grown(folder, bootstrap, helper, protocol):
    """A partition that is made while members follow is read by one of them."""
    topic = f"grown-{protocol}"
    outputs = [f"{folder}/{topic}-{i}" for i in range(2)]

    def written():
        return sorted(place for to in outputs if os.path.isdir(to) for place in places(to))

    helper("create", topic, 2)
    for partition in range(2):
        helper("send", topic, partition, 0, 100, 20)
    members = [Running(folder, f"{topic}-{i}", "replay", "-q", "-b", bootstrap, "-t", topic, "-g",
                       topic, "--join", "--follow", "--to", to, "-X", "metadata.max.age.ms=500",
                       *PROTOCOLS[protocol][0]) for i, to in enumerate(outputs)]
    wait_until("the records before", lambda: len(written()) >= 200)
    helper("partitions", topic, 3)
    for partition in range(3):
        helper("send", topic, partition, 100, 100, 20)
    wait_until("the records after", lambda: len(written()) >= 500)
    for member in members:
        member.interrupt().expect(0)
    check(f"each record once, {topic}", differ(
        [(p, o) for p, most in enumerate((200, 200, 100)) for o in range(most)], written()))


# ---- krc and Kafka's consumer in one group

def java_member(folder, bootstrap, group, protocol):
    """Kafka's console consumer, and the file that it prints values to."""
    properties, out = f"{folder}/{group}.properties", f"{folder}/{group}-java.out"
    with open(properties, "w") as file:
        file.write("\n".join([*PROTOCOLS[protocol][1], "auto.offset.reset=earliest",
                              "auto.commit.interval.ms=200", "isolation.level=read_committed",
                              ""]))
    with open(out, "wb") as output:
        return start(*java("200m", "org.apache.kafka.tools.consumer.ConsoleConsumer",
                           "--bootstrap-server", bootstrap, "--topic", "mixed", "--group", group,
                           "--command-config", properties), stdin=subprocess.DEVNULL,
                     stdout=output, stderr=subprocess.DEVNULL), out


def describe(bootstrap, group):
    """PARTITION -> committed offset, log end offset, client, by Kafka's own tool."""
    lines = subprocess.run(
        java("200m", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
             "--bootstrap-server", bootstrap, "--describe", "--group", group),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode().splitlines()
    rows = [line.split() for line in lines if line.startswith(group)]
    return {int(row[2]): (row[3], row[4], row[8]) for row in rows}


def clients(bootstrap, group):
    """How many partitions each kind of member has."""
    members = [member for _, _, member in describe(bootstrap, group).values()]
    return {kind: sum(member.startswith(kind) for member in members)
            for kind in ("krc", "console")}


def krc_member(folder, bootstrap, group, name, protocol):
    """By a pattern that matches a part of the name: it means the same in each protocol."""
    return Running(folder, f"{group}-{name}", "read", "-q", "-u", "-b", bootstrap, "-t", "^mix",
                   "-g", group, "--join", "-X", "auto.commit.interval.ms=200", "-X",
                   "client.id=krc", *PROTOCOLS[protocol][0])


def value(i):
    return str(i).ljust(8, ".").encode()


def send(helper, numbers):
    for i in numbers:
        helper("send", "mixed", i % PARTITIONS, i, 1, 8)


def check_mixed(folder, bootstrap, helper, protocol):
    """What is sent while a group is quiet comes to one member; as members come and go nothing is
    left out."""
    group, base = f"mixed-{protocol}", 1000 * list(PROTOCOLS).index(protocol)
    phases = [range(base + i, base + i + 60) for i in (0, 60, 120)]
    first = krc_member(folder, bootstrap, group, "first", protocol)
    process, java_out = java_member(folder, bootstrap, group, protocol)
    wait_until("both have some", lambda: all(clients(bootstrap, group).values()))
    second = krc_member(folder, bootstrap, group, "second", protocol)
    wait_until("a share for each", lambda: clients(bootstrap, group) == {
        "krc": 2 * PARTITIONS // 3, "console": PARTITIONS // 3})
    send(helper, phases[0])
    wait_until("all is committed", lambda: all(
        committed == end for committed, end, _ in describe(bootstrap, group).values()))
    second.kill()
    send(helper, phases[1])
    process.kill()
    first.process.send_signal(signal.SIGSTOP)
    time.sleep(SESSION)
    first.process.send_signal(signal.SIGCONT)
    send(helper, phases[2])
    wait_until("all is committed by the last", lambda: clients(bootstrap, group)["krc"] ==
               PARTITIONS and all(committed == end for committed, end, _ in
                                  describe(bootstrap, group).values()))
    first.interrupt().expect(0)
    with open(java_out, "rb") as out:
        values = out.read().split()
    values += first.done().out.split() + second.done().out.split()
    want = {value(i) for phase in phases for i in phase}
    check(f"each record, {protocol}", differ(sorted(want), sorted({*values} & want)))
    quiet = sorted(v for v in values if v in {value(i) for i in phases[0]})
    check(f"each record once while the group is quiet, {protocol}",
          differ(sorted({*quiet}), quiet))
    check(f"nobody is left in {group}", differ(
        {"krc": 0, "console": 0}, clients(bootstrap, group)))


def check_late(bootstrap):
    """A member that was away for longer than its session does not set the group back."""
    group = "late"
    with tempfile.TemporaryDirectory() as folder:
        first = krc_member(folder, bootstrap, group, "first", "range")
        first.wait_for("its records", 1)
        first.process.send_signal(signal.SIGSTOP)
        time.sleep(SESSION)
        krc("read", "-q", "-b", bootstrap, "-t", "mixed", "-g", group, "--commit", "-e")
        before = describe(bootstrap, group)
        first.process.send_signal(signal.SIGCONT)
        wait_until("the late one is back", lambda: clients(bootstrap, group)["krc"] == PARTITIONS)
        first.interrupt().expect(0)
        after = describe(bootstrap, group)
        check("a late commit does not move offsets back", differ(
            [row[:2] for row in before.values()], [row[:2] for row in after.values()]))


def check_groups():
    with tempfile.TemporaryDirectory() as folder, Broker(folder, more=SETTINGS) as broker, \
            Helper(broker.bootstrap, folder) as helper:
        helper("create", "shared", PARTITIONS)
        helper("create", "mixed", PARTITIONS)
        for protocol in PROTOCOLS:
            attempt(f"krc and Kafka's consumer in one group, {protocol}", check_mixed, folder,
                    broker.bootstrap, helper, protocol)
        attempt("a late member", check_late, broker.bootstrap)
        for protocol in ("consumer", "cooperative-sticky"):
            attempt(f"a partition that is made, {protocol}", check_grown, folder,
                    broker.bootstrap, helper, protocol)
        attempt("commits that come late", check_late_commits, folder, broker, helper, PROTOCOLS)
        want = load(helper, folder)
        for chaos in CHAOS:
            attempt(f"replays that share a topic, {chaos}", check_chaos, folder,
                    broker.bootstrap, chaos, want)
