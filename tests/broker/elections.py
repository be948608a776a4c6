"""Leaders that have not got all of the log, or whose list of aborted transactions lacks some; and
brokers that fall asleep while krc commits."""
import base64
import os
import signal
import sqlite3
import tempfile
import time

from cluster import BASE64, Scene, begin, check_stored, elect
from common import Running, attempt, check, compare, differ, run
from kafka import Cluster, Helper, Refused
from processes import wait_until

ELECTION = 120  # seconds: a leader out of sync is elected last of all


def suspend(broker):
    broker.process.send_signal(signal.SIGSTOP)


def resume(broker):
    broker.process.send_signal(signal.SIGCONT)


def is_led(scene, topic, leader):
    """Asks for the preferred leader, who may not be there yet, and tells whether it leads."""
    try:
        elect(scene, topic)
    except Refused:
        pass
    return (scene.describe(topic) or [0])[0] == leader


def two_unclean(scene):
    """0-9 are read; 10-19 lie on broker 1 alone when broker 2 becomes leader, and are never read; of
    broker 2, 10-24 are read; then broker 1 leads again, with its 10-19, and writes 20-24."""
    brokers = scene.cluster.brokers
    scene.helper("create", "twice", "1,2", "unclean.leader.election.enable=true",
                 "min.insync.replicas=1")
    scene.wait_for_leader("twice", 1, ["1", "2"])
    scene.helper("send", "twice", 0, 0, 10, 10)
    check_stored("twice", scene, range(10))
    brokers[2].kill()
    scene.wait_for_leader("twice", 1, ["1"])
    scene.helper("send", "twice", 0, 100, 10, 10)
    brokers[1].kill()
    begin(brokers[2])
    wait_until("broker 2 leads", lambda: (scene.describe("twice") or [0])[0] == 2, ELECTION)
    scene.helper("send", "twice", 0, 200, 15, 10)
    check_stored("twice", scene, range(10, 25))
    brokers[2].kill()
    begin(brokers[1])
    wait_until("broker 1 leads", lambda: (scene.describe("twice") or [0])[0] == 1, ELECTION)
    scene.helper("send", "twice", 0, 300, 5, 10)
    check_stored("twice", scene, range(10, 25), 3)
    with sqlite3.connect(f"{scene.folder}/twice.db") as db:
        check("twice, resets", differ([(25, 10, 2)], db.execute(
            "SELECT from_offset, to_offset, history FROM resets").fetchall()))
        check("twice, histories", differ([(1, 0, 25), (2, 10, 25)], db.execute(
            "SELECT history, from_offset, to_offset FROM histories").fetchall()))
    scene.check_whole("twice", scene.java("twice"))
    begin(brokers[2])


def hidden_abort(scene):
    """A follower appends two aborted transactions of one producer in one fetch, before another's that
    stays open: its index hides the second, and Java's consumer, told by it, delivers that one."""
    brokers = scene.cluster.brokers
    scene.helper("create", "hidden", "1,2", "min.insync.replicas=1")
    scene.wait_for_leader("hidden", 1, ["1", "2"])
    suspend(brokers[2])
    try:
        scene.wait_for_leader("hidden", 1, ["1"])
        scene.helper("abort-twice", "hidden", 0)
        scene.helper("send", "hidden", 0, 0, 245, 1000)
        scene.helper("open", "hidden", 0, 1)
    finally:
        resume(brokers[2])
    scene.wait_for_leader("hidden", 1, ["1", "2"])
    scene.helper("reassign", "hidden", 0, "2,1")
    wait_until("broker 2 leads", lambda: is_led(scene, "hidden", 2), ELECTION)
    java = scene.java("hidden")["hidden", 0]
    aborted = base64.b64encode(b"aborted:").decode()[:8]
    want = [record for record in java if not record["value"].startswith(aborted)]
    check("hidden, Java's consumer delivers aborted records",
          differ([4], [len(java) - len(want)]))
    compare("hidden", {("hidden", 0): want}, scene.read("hidden").expect(0).records())
    folder = run("read", "-q", "-d", brokers[2].logs, "-t", "hidden", *BASE64).expect(0)
    compare("hidden, in the folder", {("hidden", 0): want}, folder.records())
    done = scene.read("hidden", "-X", "max.partition.fetch.bytes=1").expect(3)
    done.expect_word("misjudged")
    verified = run("verify", "-d", brokers[2].logs, "-t", "hidden").expect(1)
    fault = "who fetches less is not told that the transaction of producer"
    check("hidden, verified", None if fault in verified.out.decode() else verified.out.decode())


def asleep(scene):
    """All brokers are suspended while a group is committed to: it says so, goes on, and ends when
    it is asked to."""
    brokers = scene.cluster.brokers
    begin(brokers[3])
    scene.helper("create", "asleep", "1,2;2,3;3,1")
    for partition in range(3):
        scene.helper("send", "asleep", partition, 0, 100, 10)
    for i in range(3):
        reader = Running(scene.folder, f"asleep-{i}", "read", *scene.source, "-t", "asleep", "-g",
                         f"asleep-{i}", "--commit", "-X", "request.timeout.ms=6000",
                         "-X", "default.api.timeout.ms=11500",
                         "-X", "auto.commit.interval.ms=4000")
        reader.wait_for("what is to be committed", 300)
        for broker in brokers.values():
            suspend(broker)
        try:
            wait_until("a word of it", lambda: " answer" in reader.done().err.decode(), 30)
            time.sleep(12)  # longer than an answer is waited for
            check("it goes on", None if reader.process.poll() is None else "it has ended")
            reader.interrupt().expect(0, 1)
        finally:
            for broker in brokers.values():
                resume(broker)


PARTS = (two_unclean, hidden_abort, asleep)


def check_elections():
    wanted = os.environ.get("PARTS", "").split()
    with tempfile.TemporaryDirectory() as folder, Cluster(folder) as cluster, \
            Helper(cluster.bootstrap, folder) as helper:
        scene = Scene(cluster, helper, folder)
        for part in PARTS:
            if not wanted or part.__name__ in wanted:
                attempt(f"elections: {part.__name__}", part, scene)
