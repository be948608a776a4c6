"""A broker that goes on: replays that were begun from its folder continue from it and the other way
round, and one that follows is ended, or killed, while producers write."""
import base64
import json
import os

from common import Running, attempt, check, compare, differ, java_read, krc, partition_of, run
from online import REPLAYS, differ_files, files, rows
from processes import wait_until

MANY = 1 << 40
KILLS = 10
PARTITIONS = 150


def text(field):
    """As krc shows bytes unless told otherwise."""
    return None if field is None else base64.b64decode(field).decode()


def as_text(records):
    return {partition: [{**r, "key": text(r["key"]), "value": text(r["value"])} for r in some]
            for partition, some in records.items()}


def jsonl(folder):
    """What lies in a replay's files, TOPIC, PARTITION -> records in the order of the file."""
    found = {}
    for name, data in files(folder).items():
        if name.endswith(".jsonl"):
            for record in map(json.loads, data.splitlines()):
                found.setdefault(partition_of(record), []).append(record)
    return found


def offsets(records):
    return [(*partition, r["offset"]) for partition in sorted(records) for r in records[partition]]


def java_text(online, topic):
    path = f"{online.folder}/{topic}.java"
    online.helper("read", "read_committed", path, topic)
    return as_text(java_read(path)[0])


def load(online, name, topic, partitions, most):
    """A producer that goes on until it is told to end."""
    online.helper("load", name, topic, partitions, MANY, most, 1,
                  online.random.randrange(1 << 31), f"{online.folder}/{name}.log")


def loaded(online, name):
    return int(online.helper("loaded", name).split()[0])


def wait_for_load(online, name, more):
    goal = loaded(online, name) + more
    wait_until(f"{more} more records of {name}", lambda: loaded(online, name) >= goal)


# ---- The same replay, from the folder and from the cluster

def continue_online(online):
    """What the stopped broker's folder began; and more is there by now."""
    online.helper("scenario", "commit")
    online.helper("send", "mixed", 2, 0, 100, 50)
    online.replay(online.source, f"{online.folder}/d.jsonl")
    online.replay(online.source, f"sqlite:{online.folder}/d.db")


def continue_offline(online):
    logs = ["-d", online.broker.logs]
    for name in ("jsonl", "raw", "jobs"):
        online.replay(logs, f"{online.folder}/b.{name}", *REPLAYS[name])
        online.replay(logs, f"{online.folder}/fresh.{name}", *REPLAYS[name])
        check(f"begun online, continued offline, {name}",
              differ_files(files(f"{online.folder}/fresh.{name}"),
                           files(f"{online.folder}/b.{name}")))
    check("begun offline, continued online", differ_files(
        files(f"{online.folder}/fresh.jsonl"), files(f"{online.folder}/d.jsonl")))
    online.replay(logs, f"sqlite:{online.folder}/fresh.db")
    check("begun offline, continued online, SQLite",
          differ(rows(f"{online.folder}/fresh.db"), rows(f"{online.folder}/d.db")))


def many(online):
    """Partitions, most of them empty."""
    online.helper("create", "many", PARTITIONS)
    for i in range(0, PARTITIONS, 7):
        online.helper("send", "many", i, 0, 1 + i, 10)
    done = run("read", "-q", *online.source, "-t", "many", "-e", "-f", "%p %o\\n",
               "--account", "json").expect(0)
    got = sorted(done.out.decode().splitlines(), key=lambda l: [int(n) for n in l.split()])
    check("many partitions", differ([f"{p} {o}" for p in range(0, PARTITIONS, 7)
                                     for o in range(1 + p)], got))
    check("many accounts", differ([PARTITIONS], [len(done.account())]))


# ---- Following

def follow(online, topic, to, name):
    return Running(online.folder, name, "replay", *online.source, "-t", topic, "--to", to,
                   "--follow", "--account", "json")


def read_follows(online):
    """krc read goes on until it is told to end, and shows what comes, though the broker is away
    for a while."""
    online.helper("create", "read", 2)
    reader = Running(online.folder, "read", "read", *online.source, "-t", "read", "-J")
    load(online, "read-load", "read", 2, 20)
    wait_for_load(online, "read-load", 500)
    online.broker.stop()
    online.broker.start()
    wait_for_load(online, "read-load", 500)
    count = int(online.helper("unload", "read-load").split()[0])
    reader.wait_for("all that was written", count)
    compare("krc read that follows", java_text(online, "read"), reader.interrupt().expect(0)
            .records())


def interrupted(online):
    """Ctrl-C commits what is there and ends; the next run goes on."""
    online.helper("create", "interrupted", 2)
    load(online, "interrupted-load", "interrupted", 2, 20)
    to = f"{online.folder}/interrupted"
    for name in ("interrupted-1", "interrupted-2"):
        replay = follow(online, "interrupted", to, name)
        wait_for_load(online, "interrupted-load", 300)
        replay.interrupt().expect(0).account()
        check(f"{name} is a beginning", differ(*beginning(online, jsonl(to))))
    online.helper("unload", "interrupted-load")
    krc("replay", "-q", *online.source, "-t", "interrupted", "--to", to)
    compare("a replay that was interrupted", java_text(online, "interrupted"), jsonl(to))


def beginning(online, got):
    """What Kafka's consumer reads, as far as the replay got."""
    want = java_text(online, "interrupted")
    return offsets({p: want.get(p, [])[:len(r)] for p, r in got.items()}), offsets(got)


def killed(online, kind):
    """SIGKILL at random moments, again and again: each record is there once."""
    topic = f"killed-{kind}"
    to = f"{online.folder}/{topic}" if kind == "files" else f"sqlite:{online.folder}/{topic}.db"
    online.helper("create", topic, 2)
    load(online, f"{topic}-load", topic, 2, 20)
    for i in range(KILLS):
        replay = follow(online, topic, to, f"{topic}-{i}")
        wait_for_load(online, f"{topic}-load", online.random.randrange(1000))
        replay.kill()
    online.helper("unload", f"{topic}-load")
    run("replay", "-q", *online.source, "-t", topic, "--to", to).expect(0)
    want = java_text(online, topic)
    if kind == "files":
        compare("a replay that was killed", want, jsonl(to))
    else:
        check("a replay to SQLite that was killed", differ(offsets(want), [
            (row[0], row[1], row[3]) for row in rows(to[len("sqlite:"):])]))


def followed_to_the_end(online):
    """With no time-out and no producer it waits, having committed all; then Ctrl-C."""
    to = f"{online.folder}/quiet"
    replay = follow(online, "read", to, "quiet")
    want = java_text(online, "read")
    wait_until("all of it in the files", lambda: os.path.isdir(to) and
               len(offsets(jsonl(to))) == len(offsets(want)))
    account = replay.interrupt().expect(0).account()
    compare("a replay that waits", want, jsonl(to))
    check("its account", differ([len(want[p]) for p in sorted(want)],
                                [account[p]["delivered"] for p in sorted(account)]))


def overlapping(online):
    """Offset 0 is of a transaction that commits behind the last stable offset, 1: segments that end
    there read as committed."""
    online.helper("create", "overlap", 1)
    online.helper("overlap", "overlap", 0)
    flags = ["-q", *online.source, "-t", "overlap"]
    row = run("read", *flags, "-e", "--account", "json").expect(0).account()["overlap", 0]
    check("an open transaction's account", differ(
        [0, 1, 1, 3], [row[name] for name in ("from", "to", "delivered", "undecided")]))
    for _ in range(2):
        krc("replay", *flags, "--to", f"{online.folder}/overlap", "--format", "segment")
        check("segments that end inside a transaction", differ(b"0\n", krc(
            "read", "-q", "-d", f"{online.folder}/overlap", "-f", "%o\\n")))


def check_restarted(online):
    online.broker.start()
    for what, part, *more in (("a replay begun from the folder", continue_online),
                              ("many partitions", many),
                              ("transactions that overlap", overlapping),
                              ("krc read that follows", read_follows),
                              ("a replay that waits", followed_to_the_end),
                              ("a replay that is interrupted", interrupted),
                              ("a replay that is killed", killed, "files"),
                              ("a replay to SQLite that is killed", killed, "sqlite")):
        attempt(what, part, online, *more)
    online.broker.stop()
    attempt("a replay begun online", continue_offline, online)
