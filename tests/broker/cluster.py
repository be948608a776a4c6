"""Three brokers, and what happens to a cluster while krc reads from it."""
import os
import random
import re
import subprocess
import tempfile

from common import KRC, Done, Running, attempt, check, compare, differ, java_read, run
from follow import as_text, jsonl
from kafka import Cluster, Helper, Refused
from processes import start, wait_until

BASE64 = ("-J", "--encoding", "base64")
QUICK = ("-X", "metadata.max.age.ms=1000")
MANY = 1 << 40
WAIT = 90  # seconds for what brokers take their time with
HELD_UP = 24 << 10  # KiB


class Scene:
    def __init__(self, cluster, helper, folder):
        self.cluster, self.helper, self.folder = cluster, helper, folder
        self.source = ["-b", cluster.bootstrap]

    # ---- What the cluster says

    def describe(self, topic, partition=0):
        """Leader, replicas, in-sync replicas: None where nobody can say it just now."""
        try:
            leader, replicas, in_sync = self.helper("describe", topic, partition).split(" ")
        except Refused:
            return None
        return int(leader), replicas.split(","), sorted(in_sync.split(","))

    def wait_for_leader(self, topic, leader, in_sync=None, partition=0):
        def there():
            said = self.describe(topic, partition)
            return said and said[0] == leader and in_sync in (None, said[2])
        wait_until(f"{topic}: leader {leader}, in sync {in_sync}", there, WAIT)

    def java(self, topic):
        path = f"{self.folder}/{topic}.java"
        self.helper("read", "read_committed", path, topic)
        return java_read(path)[0]

    # ---- What krc reads

    def read(self, topic, *flags):
        return run("read", "-q", *self.source, "-t", topic, "-e", "--account", "json", *BASE64,
                   *flags)

    def follow(self, topic, *flags):
        return Running(self.folder, f"{topic.strip('^.*')}-follow", "read", *self.source,
                       "-t", topic, *QUICK, *BASE64, *flags)

    def check_followed(self, topic, reader, *statuses):
        """Ends a reader that has it all: what it read is what Kafka's consumer reads now."""
        want = self.java(topic)
        reader.wait_for(f"all of {topic}", sum(map(len, want.values())), WAIT)
        done = reader.interrupt().expect(*(statuses or [0]))
        compare(f"{topic}, read meanwhile", want, done.records())
        self.check_whole(topic, want)

    def check_whole(self, topic, want):
        """Read anew, it is the same, with a right account."""
        done = self.read(topic).expect(0)
        compare(f"{topic}, read afterwards", want, done.records())
        for partition, row in done.account().items():
            check(f"{partition}, account", differ(
                [len(want.get(partition, [])), 0, 0, 0, 0],
                [row[name] for name in ("delivered", "undecided", "lost", "absent", "skipped")]))

    # ---- What producers write

    def load(self, topic, partitions, most):
        self.helper("load", topic, topic, partitions, MANY, most, 1, random.randrange(1 << 31),
                    f"{self.folder}/{topic}.log")

    def loaded(self, topic):
        return int(self.helper("loaded", topic).split()[0])

    def wait_for_load(self, topic, more=500):
        goal = self.loaded(topic) + more
        wait_until(f"{topic}: {more} more records", lambda: self.loaded(topic) >= goal, WAIT)

    def check_load(self, topic, reader):
        """Ends a producer: all that was acknowledged to it is there, in its order."""
        self.helper("unload", topic)
        self.check_followed(topic, reader)
        with open(f"{self.folder}/{topic}.log") as log:
            lines = sorted((int(p), int(o)) for p, o, _ in map(str.split, log))
        there = {(p[1], r["offset"]) for p, rs in self.java(topic).items() for r in rs}
        check(f"{topic}, acknowledged", None if there >= {*lines} else
              f"{sorted({*lines} - there)[:5]} are not there")


# ---- Topics

def large(scene):
    """12 MB with the default max.partition.fetch.bytes of 1 MiB."""
    size = 12_000_000
    scene.helper("create", "large", "1", "max.message.bytes=13000000")
    scene.helper("send", "large", 0, 0, 3, 100)
    scene.helper("send-large", "large", size)
    scene.helper("send", "large", 0, 3, 3, 100)
    done = run("read", "-q", *scene.source, "-t", "large", "-e", "-f", "%o %S\\n",
               "--account", "json").expect(0)
    check("large", differ([f"{i} {size if i == 3 else 100}" for i in range(7)],
                          done.out.decode().splitlines()))
    check("large, account", differ([7], [done.account()["large", 0]["delivered"]]))


def made_again(scene):
    """A topic deleted and made again: all of both is read, and the change is told."""
    replay = ["replay", "-q", *scene.source, "-t", "again", "--to", f"{scene.folder}/again"]
    scene.helper("create", "again", "1,2")
    reader = scene.follow("again")
    scene.helper("send", "again", 0, 0, 50, 10)
    reader.wait_for("the first topic", 50)
    check_stored("again", scene, range(50))
    first = scene.java("again")["again", 0]
    run(*replay).expect(0)
    scene.helper("delete", "again")
    wait_until("a topic deleted and made again", lambda: made(scene, "again"))
    scene.helper("send", "again", 0, 1000, 30, 10)
    second = scene.java("again")["again", 0]
    reader.wait_for("the second topic", 80)
    done = reader.interrupt().expect(0, 3)
    compare("again", {("again", 0): first + second}, done.records())
    done.expect_word("again")
    run(*replay).expect(1).expect_word("--new-history")
    run(*replay, "--new-history").expect(0, 3)
    check_histories("again", scene, [50, 30])
    check_stored("again", scene, range(30), 0, 3)


def made(scene, topic):
    """Whether it could be made: the old one may not be gone everywhere."""
    try:
        scene.helper("create", topic, "1,2")
        return True
    except Refused:
        return False


def check_stored(topic, scene, want, *statuses):
    """What is read from where the last reading with this store ended."""
    done = scene.read(topic, "--store", f"{scene.folder}/{topic}.db").expect(*(statuses or [0]))
    got = [record["offset"] for record in done.records().get((topic, 0), [])]
    check(f"{topic}, --store", differ([*want], got))


def check_histories(topic, scene, counts):
    """How many records lie in the first history's file and in the second's."""
    paths = [f"{scene.folder}/{topic}/{topic}-0{part}.jsonl" for part in ("", ".h2")]
    got = []
    for path in paths:
        with open(path) as lines:
            got.append(len(lines.readlines()))
    check(f"{topic}, histories", differ(counts, got))


def grown(scene):
    scene.helper("create", "grown", "1")
    reader = scene.follow("grown")
    scene.helper("send", "grown", 0, 0, 50, 10)
    reader.wait_for("the first partition", 50)
    scene.helper("partitions", "grown", 3)
    for partition in (1, 2, 0):
        wait_until("a new partition",
                   lambda: (scene.describe("grown", partition) or [-1])[0] > 0)
        scene.helper("send", "grown", partition, 100, 20, 10)
    scene.check_followed("grown", reader)


def found(scene):
    """A topic that is made while a regular expression that it matches is read."""
    scene.helper("create", "found-1", "1")
    scene.helper("send", "found-1", 0, 0, 20, 10)
    reader = scene.follow("^found-.*")
    reader.wait_for("the first topic", 20)
    scene.helper("create", "found-2", "2;1")
    for partition in (0, 1):
        scene.helper("send", "found-2", partition, 0, 20, 10)
    reader.wait_for("the second topic", 60)
    compare("found", {**scene.java("found-1"), **scene.java("found-2")},
            reader.interrupt().expect(0).records())


# ---- The log start passes the reader

def check_passed(topic, scene, move):
    """A reader that is held up by its pipe, and has to go on at the new log start."""
    flags = ["read", *scene.source, "-t", topic, "-e", "-f", "%o\\n", "--account", "json"]
    process = start(KRC, *flags, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, bufsize=0)
    first = process.stdout.readline()
    log_start = move()
    check(f"{topic}, memory of a reader that is held up", too_large(process))
    rest, err = process.communicate(timeout=WAIT)
    done = Done(flags, process.returncode, first + rest, err).expect(3)
    got = [int(line) for line in done.out.split()]
    row = done.account()[topic, 0]
    kept = next((i for i, offset in enumerate(got) if i != offset), len(got))
    check(f"{topic}, resumed", differ([*range(kept), *range(log_start, row["to"])], got))
    check(f"{topic}, account", differ([log_start - kept, len(got), 0], [
        row["lost"], row["delivered"], row["undecided"]]))
    check(f"{topic}, something was lost", None if kept < log_start else f"{kept} records before")


def too_large(process):
    """None, or by how much: two responses of 1 MiB are what it may hold."""
    with open(f"/proc/{process.pid}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return None if peak < HELD_UP else f"{peak} KiB"


def trimmed(scene):
    scene.helper("create", "trim", "1")
    scene.helper("send", "trim", 0, 0, 60_000, 500)

    def trim():
        scene.helper("trim", "trim", 0, 59_000)
        return 59_000
    check_passed("trim", scene, trim)


def retained(scene):
    scene.helper("create", "retained", "1", "internal.segment.bytes=1000000")
    scene.helper("send", "retained", 0, 0, 60_000, 500)

    def retain():
        scene.helper("config", "retained", "retention.bytes", 2_000_000)
        return wait_until("retention", lambda: past(int(scene.helper("start", "retained", 0)),
                                                    50_000), WAIT)
    check_passed("retained", scene, retain)


def past(offset, least):
    return offset if offset > least else None


# ---- Brokers

def follower(scene):
    """client.rack: the follower of that rack gives the records, the leader next to nothing."""
    size = 5000 * 1000
    scene.helper("create", "rack", "1,2")
    scene.helper("send", "rack", 0, 0, 5000, 1000)
    scene.wait_for_leader("rack", 1, ["1", "2"])
    want = scene.java("rack")

    def bytes_out():
        return [int(scene.helper("bytes-out", scene.cluster.brokers[i].metrics, "rack"))
                for i in (1, 2)]
    before = bytes_out()
    done = scene.read("rack", "-X", "client.rack=rack-2").expect(0)
    leader, other = (after - start for after, start in zip(bytes_out(), before))
    compare("rack", want, done.records())
    check("rack, bytes from leader and follower",
          None if other >= size and leader < size / 4 else f"{leader} and {other}")


def moved(scene):
    """Preferred leaders to and fro, then all of it to a broker that was not there before."""
    scene.helper("create", "moved", "1,2;2,1")
    first = scene.cluster.bootstrap.split(",")[0]
    reader = Running(scene.folder, "moved-follow", "read", "-b", first, "-t", "moved", *QUICK,
                     *BASE64)
    scene.load("moved", 2, 20)
    for order, leader in (("2,1", 2), ("1,2", 1)):
        scene.wait_for_load("moved")
        scene.helper("reassign", "moved", 0, order)
        elect(scene, "moved")
        scene.wait_for_leader("moved", leader)
    scene.wait_for_load("moved")
    begin(scene.cluster.brokers[3])
    for partition in (0, 1):
        scene.helper("reassign", "moved", partition, "3")
    for partition in (0, 1):
        scene.wait_for_leader("moved", 3, ["3"], partition)
    scene.wait_for_load("moved")
    scene.check_load("moved", reader)


def elect(scene, topic):
    """The preferred leader, where it is not the leader already."""
    try:
        scene.helper("elect", topic, 0)
    except Refused as refused:
        if "ElectionNotNeeded" not in str(refused):
            raise


def begin(broker):
    if not broker.running():
        broker.begin()
        broker.ready()


def killed(scene):
    """The leader is killed in the middle of transactions, and comes back."""
    begin(scene.cluster.brokers[3])
    scene.helper("create", "killed", "3,1,2;1,3,2")
    scene.wait_for_leader("killed", 3, ["1", "2", "3"])
    reader = scene.follow("killed")
    replay = Running(scene.folder, "killed-replay", "replay", *scene.source, "-t", "killed",
                     "--to", f"{scene.folder}/killed", "--follow")
    scene.load("killed", 2, 20)
    scene.wait_for_load("killed")
    scene.cluster.brokers[3].kill()
    wait_until("another leader", lambda: (scene.describe("killed") or [-1])[0] in (1, 2), WAIT)
    scene.wait_for_load("killed")
    begin(scene.cluster.brokers[3])
    wait_until("all in sync", lambda: (scene.describe("killed") or [0, 0, []])[2]
               == ["1", "2", "3"], WAIT)
    scene.wait_for_load("killed")
    scene.check_load("killed", reader)
    check_replay(scene, "killed", replay)


def check_replay(scene, topic, replay):
    """A replay that went on meanwhile, and then once more: each record once."""
    replay.interrupt().expect(0)
    run("replay", "-q", *scene.source, "-t", topic, "--to", f"{scene.folder}/{topic}").expect(0)
    compare(f"{topic}, replayed meanwhile", as_text(scene.java(topic)),
            jsonl(f"{scene.folder}/{topic}"))


def follower_killed(scene):
    """A reader goes back to the leader when the follower that it reads from is gone."""
    begin(scene.cluster.brokers[3])
    scene.helper("create", "followed", "1,3")
    scene.wait_for_leader("followed", 1, ["1", "3"])
    reader = scene.follow("followed", "-X", "client.rack=rack-3")
    scene.load("followed", 1, 0)
    scene.wait_for_load("followed")
    reader.wait_for("records from the follower", 100)
    scene.cluster.brokers[3].kill()
    scene.wait_for_load("followed")
    scene.check_load("followed", reader)
    begin(scene.cluster.brokers[3])


def unclean(scene):
    """Broker 2 becomes leader without what broker 1 alone had."""
    brokers = scene.cluster.brokers
    replay = ["replay", "-q", *scene.source, "-t", "unclean", "--to", f"{scene.folder}/unclean"]
    scene.helper("create", "unclean", "1,2", "unclean.leader.election.enable=true",
                 "min.insync.replicas=1")
    scene.helper("send", "unclean", 0, 0, 100, 10)
    scene.wait_for_leader("unclean", 1, ["1", "2"])
    reader = scene.follow("unclean")
    brokers[2].kill()
    scene.wait_for_leader("unclean", 1, ["1"])
    scene.helper("send", "unclean", 0, 100, 100, 10)
    reader.wait_for("what is going to be truncated", 200)
    first = scene.java("unclean")["unclean", 0]
    check_stored("unclean", scene, range(200))
    run(*replay).expect(0)
    brokers[1].kill()
    begin(brokers[2])
    scene.wait_for_leader("unclean", 2)
    scene.helper("send", "unclean", 0, 1000, 30, 10)
    reader.wait_for("what came instead", 230, WAIT)
    done = reader.interrupt().expect(0, 3)
    second = scene.java("unclean")["unclean", 0]
    compare("unclean", {("unclean", 0): first + second[100:]}, done.records())
    check("unclean, message", None if re.search(r"trunc|diverge|histor", done.err.decode())
          else done.err.decode()[-1000:])
    run(*replay).expect(1).expect_word("--new-history")
    run(*replay, "--new-history").expect(0, 3)
    check_histories("unclean", scene, [200, 30])
    check_stored("unclean", scene, range(100, 130), 0, 3)
    scene.check_whole("unclean", {("unclean", 0): second})


PARTS = (large, made_again, grown, found, trimmed, retained, follower, moved, killed,
         follower_killed, unclean)


def check_cluster():
    wanted = os.environ.get("PARTS", "").split()
    with tempfile.TemporaryDirectory() as folder, Cluster(folder) as cluster, \
            Helper(cluster.bootstrap, folder) as helper:
        scene = Scene(cluster, helper, folder)
        for part in PARTS:
            if not wanted or part.__name__ in wanted:
                attempt(f"a cluster: {part.__name__}", part, scene)
