"""krc and a broker at rest: what Kafka's own consumer reads, record by record, whatever the flags;
and, once the broker has stopped, the same as krc makes of the folder."""
import os
import sqlite3
import subprocess

from common import KRC, LEVELS, attempt, check, compare, differ, krc, run
from kafka import free_ports
from proxy import Proxy, Shears
from refused import check_address, check_unknown

TOPICS = ("mixed", "appended", "trimmed", "compacted", "never")
REPLAYS = {"jsonl": [], "raw": ["--format", "raw"], "segment": ["--format", "segment"],
           "packed": ["--compress", "zstd", "--rotate", "100KiB"], "jobs": ["--jobs", "2"]}
SIZES = (["max.partition.fetch.bytes=1"], ["fetch.max.bytes=1", "fetch.min.bytes=1"],
         ["max.partition.fetch.bytes=3000", "fetch.max.bytes=10000"],
         ["fetch.min.bytes=1000000", "fetch.max.wait.ms=20"])
BASE64 = ("-J", "--encoding", "base64")


def only(records, *partition):
    return {partition: records.get(partition, [])}


def files(folder):
    """Of a replay: path -> bytes, but for what says where they come from: store and lock."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            if not name.startswith(("krc.db", "krc.lock")):
                path = os.path.join(parent, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


def differ_files(want, got):
    """None, or which of the files of two replays differ, and where."""
    if sorted(want) != sorted(got):
        return f"files {sorted(want)} expected, got {sorted(got)}"
    return next((f"{name}: {differ(want[name].splitlines(), got[name].splitlines())}"
                 for name in want if want[name] != got[name]), None)


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=60).stdout.decode()


def rows(path):
    with sqlite3.connect(path) as database:
        return list(database.execute("SELECT * FROM records"))


class Online:
    """`by_java`: LEVEL -> Kafka's records and offsets of each partition."""

    def __init__(self, broker, helper, folder, by_java, random):
        self.broker, self.helper, self.folder = broker, helper, folder
        self.by_java, self.random = by_java, random
        self.source = ["-b", broker.bootstrap]
        self.asked = []  # what is asked again of the stopped broker's folder: flags, answer

    def topics(self):
        return [flag for topic in TOPICS for flag in ("-t", topic)]

    def read(self, *flags):
        """From the cluster, to its end; the folder has to say the same."""
        done = run("read", "-q", *self.source, "-e", "--account", "json", *flags).expect(0)
        self.asked.append((flags, done))
        return done

    def replay(self, source, to, *flags):
        krc("replay", "-q", *source, *self.topics(), "--to", to, *flags)

    # ---- While it runs

    def check(self):
        for level in LEVELS:
            attempt(f"krc read -b, {level}", self.check_level, level)
        for part in (self.check_starts, self.check_times, self.check_ends, self.check_store,
                     self.check_selection, self.check_sizes, self.check_addresses, self.check_group,
                     self.check_topics, self.check_examples, self.check_replays,
                     self.check_network, self.check_cuts):
            attempt(f"a broker at rest: {part.__name__[6:]}", part)

    def check_level(self, level):
        want, offsets = self.by_java[level]
        flags = self.topics() + ["--isolation-level", level]
        done = self.read(*flags, *BASE64)
        compare(f"krc read -b, {level}", want, done.records())
        account = done.account()
        for partition, expected in offsets.items():
            row = account[partition]
            check(f"{level}, {partition}, range and delivered",
                  differ([expected["logStart"], expected["end"], len(want.get(partition, []))],
                         [row["from"], row["to"], row["delivered"]]))
        self.check_offsets(level, flags, offsets)
        self.read(*flags, "--digest")

    def check_offsets(self, level, flags, offsets):
        """Log start, position and last stable offset or high watermark."""
        lines = self.read(*flags, "-f", "", "-O").out.decode().splitlines()
        check(f"{level}, partitions", differ(sorted(offsets), sorted(
            (topic, int(partition)) for topic, partition, *_ in map(str.split, lines))))
        for topic, partition, start, _, position, stable, high, *_ in map(str.split, lines):
            want = offsets[topic, int(partition)]
            end = stable if level == "read_committed" else high
            check(f"{level}, {topic}-{partition}, offsets",
                  differ([want["logStart"], want["position"], want["end"]],
                         [int(start), int(position), int(end)]))

    def check_starts(self):
        records, offsets = self.by_java["read_committed"]
        end = offsets["mixed", 0]["end"]
        start = self.random.randrange(end)
        back = self.random.randrange(1, end)
        for flag, first in ((start, start), (-back, end - back), ("earliest", 0),
                            ("latest", end), ("beginning", 0), ("end", end)):
            done = self.read("-t", "mixed", "-p", "0", "-o", flag, *BASE64)
            compare(f"-o {flag}", only({("mixed", 0): [
                r for r in records["mixed", 0] if r["offset"] >= first]}, "mixed", 0),
                done.records())

    def check_times(self):
        for topic in ("mixed", "appended"):
            records = self.by_java["read_committed"][0][topic, 0]
            time = self.random.choice(records)["timestamp"]
            at = int(self.helper("at", topic, 0, time))
            for flags, which in ((["-o", f"@{time}"], lambda r: r["offset"] >= at),
                                 (["--until", f"@{time}"], lambda r: r["offset"] < at),
                                 (["-o", f"s@{time}"], lambda r: r["offset"] >= at)):
                done = self.read("-t", topic, "-p", "0", *flags, *BASE64)
                compare(f"{topic} {flags}", {(topic, 0): list(filter(which, records))},
                        done.records())

    def check_ends(self):
        records = self.by_java["read_committed"][0]
        until = self.random.choice(records["mixed", 1])["offset"]
        done = self.read("-t", "mixed", "-p", "1", "--until", until, *BASE64)
        compare("--until N", {("mixed", 1): [r for r in records["mixed", 1]
                                             if r["offset"] < until]}, done.records())
        count = self.random.randrange(1, len(records["mixed", 1]))
        done = self.read("-t", "mixed", "-p", "1", "-c", count, *BASE64)
        compare("-c N", {("mixed", 1): records["mixed", 1][:count]}, done.records())

    def check_store(self):
        """The second run continues where the first one stopped."""
        store = f"{self.folder}/read.db"
        flags = ["-q", *self.source, "-e", *self.topics(), *BASE64, "--store", store]
        count = self.random.randrange(1, 500)
        first, second, third = (run("read", *flags, *more).expect(0)
                                for more in (["-c", count], [], []))
        check("-c", differ([count], [first.out.count(b"\n")]))
        got = first.records()
        for partition, more in second.records().items():
            got[partition] = got.get(partition, []) + more
        compare("--store", self.by_java["read_committed"][0], got)
        check("--store at the end", None if third.out == b"" else f"{third.out[:200]}")

    def check_selection(self):
        records = self.by_java["read_committed"][0]
        done = self.read("-t", "^(mix|app).*", *BASE64)
        compare("-t ^REGEX", {p: r for p, r in records.items() if p[0] in ("mixed", "appended")},
                done.records())
        done = self.read("-t", "mixed", "-p", "0,2", *BASE64)
        compare("-p LIST", {p: records[p] for p in (("mixed", 0), ("mixed", 2))}, done.records())

    def check_sizes(self):
        """However little comes at a time, it is the same."""
        for properties in SIZES:
            flags = [flag for p in properties for flag in ("-X", p)]
            done = run("read", "-q", *self.source, "-e", *self.topics(), *flags, *BASE64).expect(0)
            compare(" ".join(properties), self.by_java["read_committed"][0], done.records())

    def check_network(self):
        """Connections that carry little at a time, that break, and that fall silent."""
        broker, want = self.broker, self.by_java["read_committed"][0]
        flags = ["-q", "-b", f"127.0.0.1:{broker.proxy}", *self.topics(),
                 "-X", "fetch.max.bytes=20000", "-X", "request.timeout.ms=1000"]
        with Proxy(broker.proxy, broker.proxied, self.random.randrange(1 << 31)) as proxy:
            compare("a network that breaks", want,
                    run("read", *flags, "-e", *BASE64).expect(0).records())
            run("replay", *flags, "--to", f"{self.folder}/broken").expect(0)
            check("connections broken", None if proxy.broken > 4 else f"{proxy.broken}")
        check("a replay through a network that breaks", differ_files(
            files(f"{self.folder}/b.jsonl"), files(f"{self.folder}/broken")))

    def check_cuts(self):
        """Connections that end in the middle of answers: what fits through comes through."""
        broker = self.broker
        self.helper("create", "__cuts", 1)
        for i in range(15):
            self.helper("send", "__cuts", 0, 50 * i, 50, 20)
        want = krc("read", "-q", *self.source, "-e", "-t", "__cuts")
        for most in (3000, 8000, 20_000, 60_000, 200_000):
            with Shears(broker.proxy, broker.proxied, most) as shears:
                done = run("read", "-q", "-b", f"127.0.0.1:{broker.proxy}", "-e", "-t", "__cuts")
            check(f"cut every {most} bytes", None if done.expect(0).out == want
                  else f"{done.out.count(10)} of 750 records")
            check("a connection was cut", None if shears.cut > 0 or most > 30_000 else "none was")

    def check_addresses(self):
        """One that nobody listens at does no harm; a controller is no broker; and a topic that is
        not there is told."""
        good = self.broker.bootstrap
        for bootstrap in (f"127.0.0.1:{free_ports(1)[0]},{good}", f"{good},no-such-host.invalid:9",
                          good.replace("127.0.0.1", "localhost")):
            done = run("read", "-q", "-b", bootstrap, "-e", "-t", "mixed", *BASE64).expect(0)
            compare(f"-b {bootstrap}", {p: r for p, r in self.by_java["read_committed"][0].items()
                                        if p[0] == "mixed"}, done.records())
        check_address(f"127.0.0.1:{self.broker.controller}")
        check_unknown(good)

    def check_group(self):
        """Starts at what Kafka's consumer committed; elsewhere at the beginning."""
        at = self.random.choice(self.by_java["read_committed"][0]["mixed", 0])["offset"]
        self.helper("commit", "a-group", "mixed", 0, at)
        done = run("read", "-q", *self.source, "-e", "-t", "mixed", "-g", "a-group",
                   *BASE64).expect(0)
        compare("-g GROUP", {p: [r for r in records if p[1] != 0 or r["offset"] >= at]
                             for p, records in self.by_java["read_committed"][0].items()
                             if p[0] == "mixed"}, done.records())

    def check_topics(self):
        """A line names a topic and a partition, and shows its offsets."""
        lines = [line.split() for line in krc("topics", *self.source).decode().splitlines()]
        for (topic, partition), want in self.by_java["read_committed"][1].items():
            line = next((l for l in lines if l[:2] == [topic, str(partition)]), [])
            missing = [name for name in ("logStart", "end") if str(want[name]) not in line[2:]]
            check(f"krc topics, {topic}-{partition}",
                  f"{missing} of {want} not in {line}" if missing else None)

    def check_examples(self):
        """Those that need a cluster; the totals of one in a database of its own stay as they are."""
        records = self.by_java["read_committed"][0]
        count = sum(len(found) for (topic, _), found in records.items() if topic == "mixed")
        folder = os.path.join(os.path.dirname(KRC), "examples")
        embedded = output_of(f"{folder}/embedded", self.broker.bootstrap, "mixed")
        check("examples/embedded", differ([f"{count} records"], embedded.splitlines()))
        database = f"{self.folder}/totals.db"
        totals = [output_of(f"{folder}/own_database", self.broker.bootstrap, "mixed", database)
                  for _ in range(2)]
        check("examples/own_database, twice", differ(*map(str.splitlines, totals)))
        got = sum(int(line.split()[1]) for line in totals[0].splitlines())
        check("examples/own_database", differ([count], [got]))

    def check_replays(self):
        for name, flags in REPLAYS.items():
            self.replay(self.source, f"{self.folder}/b.{name}", *flags)
        self.replay(self.source, f"sqlite:{self.folder}/b.db")

    # ---- Once it has stopped

    def check_stopped(self):
        attempt("the same of the folder", self.check_asked)
        attempt("replays, online and of the folder", self.check_replayed)

    def check_asked(self):
        for flags, online in self.asked:
            folder = run("read", "-q", "-d", self.broker.logs, "-e", "--account", "json",
                         *flags).expect(0)
            # no client can ask a cluster for the log end, the last word
            cut = (lambda line: line.split()[:-1]) if "-O" in flags else (lambda line: line)
            sides = [sorted(map(cut, done.out.splitlines())) for done in (folder, online)]
            check(f"{online.line}, output", differ(*sides))
            sides = [done.account() for done in (folder, online)]
            if "-c" in flags:  # a folder does not know of the end that it has not reached
                for row in (row for side in sides for row in side.values()):
                    del row["undecided"]
            check(f"{online.line}, account", differ(*(sorted(s.items()) for s in sides)))

    def check_replayed(self):
        """Checkpoints beside segments may differ: a cluster tells less of them."""
        logs = ["-d", self.broker.logs]
        for name, flags in REPLAYS.items():
            self.replay(logs, f"{self.folder}/d.{name}", *flags)
            sides = [{path: data for path, data in files(f"{self.folder}/{side}.{name}").items()
                      if not path.endswith("-checkpoint")} for side in "db"]
            check(f"a replay, {name} {flags}", differ_files(*sides))
        self.replay(logs, f"sqlite:{self.folder}/d.db")
        check("replay to SQLite", differ(rows(f"{self.folder}/d.db"), rows(f"{self.folder}/b.db")))
