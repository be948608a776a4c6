"""Commits that the network holds back until their sender is gone, or has gone on."""
import json
import signal
import socket
import struct
import threading

from common import Running, attempt, check, differ, krc, run
from outputs import places
from processes import PATIENCE, wait_until
from proxy import Network

OFFSET_COMMIT = 8
PARTITIONS, RECORDS = 3, 2000
NUMBER = 5  # which commit is held back


class Carrier:
    """One connection, and which of its requests was held back."""

    def __init__(self, network, near, far):
        self.network, self.near, self.far = network, near, far
        self.is_held = False

    def begin(self):
        for carry in (self.ask, self.answer):
            threading.Thread(target=self.guard, args=(carry,), daemon=True).start()

    def guard(self, carry):
        try:
            carry()
        except OSError:
            pass  # it was closed
        if not self.is_held:
            for each in (self.near, self.far):
                each.close()

    def ask(self):
        with self.near.makefile("rb") as requests:
            while len(size := requests.read(4)) == 4:
                request = requests.read(struct.unpack(">i", size)[0])
                if self.network.is_the_one(request):
                    self.is_held = True
                    self.network.hold(self.near)
                self.far.sendall(size + request)

    def answer(self):
        while piece := self.far.recv(65536):
            if self.is_held:
                self.network.is_delivered.set()
            else:
                self.near.sendall(piece)


class SlowNetwork(Network):
    """Holds one OffsetCommit back, whatever becomes of the connection that it came on: which is
    closed then, if `cuts`."""

    def __init__(self, broker, cuts):
        super().__init__(broker.proxy, broker.proxied)
        self.cuts, self.bootstrap = cuts, f"127.0.0.1:{broker.proxy}"
        self.lock, self.commits = threading.Lock(), 0
        self.is_held, self.may_go, self.is_delivered = (threading.Event() for _ in range(3))

    def begin(self, near, far):
        Carrier(self, near, far).begin()

    def is_the_one(self, request):
        if struct.unpack(">h", request[:2])[0] != OFFSET_COMMIT:
            return False
        with self.lock:
            self.commits += 1
            return self.commits == NUMBER

    def hold(self, near):
        if self.cuts:
            near.shutdown(socket.SHUT_RDWR)
        self.is_held.set()
        self.may_go.wait(PATIENCE)

    def wait(self):
        wait_until("a commit that is held back", self.is_held.is_set)

    def deliver(self):
        self.may_go.set()
        check("what was held back is answered",
              None if self.is_delivered.wait(PATIENCE) else "it is not")

    def __exit__(self, *how):
        self.may_go.set()
        super().__exit__(*how)


def check_each_once(what, *outputs):
    want = [(p, o) for p in range(PARTITIONS) for o in range(RECORDS)]
    check(f"each record once, {what}",
          differ(want, sorted(place for to in outputs for place in places(to))))


def flags(network, group, to, protocol):
    return ["replay", "-q", "-b", network.bootstrap, "-t", "late", "-g", group, "--join", "--to",
            to, "-X", "commit.interval.bytes=20000", "-X", "fetch.max.bytes=20000", *protocol]


def lag(network, group):
    rows = krc("offsets", "lag", "-J", "-b", network.bootstrap, "-g", group).splitlines()
    return sum(json.loads(row)["lag"] for row in rows)


def check_killed(folder, broker, name, protocol):
    """It was killed, and what it left is looked after, before its commit arrives."""
    to = f"{folder}/late-{name}-killed"
    with SlowNetwork(broker, False) as network:
        command = flags(network, f"late-{name}-killed", to, protocol)
        sender = Running(folder, f"late-{name}", *command)
        network.wait()
        sender.kill()
        run(*command, "--recover").expect(0)
        network.deliver()
        run(*command).expect(0)
    check_each_once(f"{name}, after a kill", to)


def check_cut_off(folder, broker, name, protocol):
    """It lost the connection, and has come to the end, when its commit arrives; another member goes
    on from there."""
    one, other = (f"{folder}/late-{name}-{i}" for i in "ab")
    with SlowNetwork(broker, True) as network:
        group = f"late-{name}-cut"
        sender = Running(folder, f"late-{name}-cut", *flags(network, group, one, protocol),
                         "--follow")
        network.wait()
        wait_until("all to be read", lambda: len(places(one)) == PARTITIONS * RECORDS)
        wait_until("all to be committed", lambda: lag(network, group) == 0)
        network.deliver()
        sender.process.send_signal(signal.SIGKILL)
        sender.wait()
        run(*flags(network, group, other, protocol)).expect(0)
        run(*flags(network, group, one, protocol), "--recover").expect(0)
    check_each_once(f"{name}, after a connection was lost", one, other)


def check_late_commits(folder, broker, helper, protocols):
    helper("create", "late", PARTITIONS)
    for partition in range(PARTITIONS):
        helper("send", "late", partition, 0, RECORDS, 20)
    for name in ("consumer", "range"):
        for part in (check_killed, check_cut_off):
            attempt(f"a commit that comes late, {name}", part, folder, broker, name,
                    protocols[name][0])
