#!/usr/bin/env python3
"""krc beside other clients, on one real broker: `make bench`, which builds what is needed.

    peers.py FOLDERS        writes bench/RESULTS.md; FOLDERS is what bench/run has said

BENCH_RECORDS, BENCH_RUNS, BENCH_CODECS ("none zstd"), BENCH_SECTIONS and BENCH_DIR narrow it.
"""
import datetime
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../tests/broker")

from certificates import Certificates  # noqa: E402
from loaded import Broker, generate  # noqa: E402
from measure import BUILD, Runs, both, ratio, table  # noqa: E402
from processes import BROKERS, NEWEST, end_all  # noqa: E402

RECORDS = int(os.environ.get("BENCH_RECORDS", 2_000_000))
RUNS = int(os.environ.get("BENCH_RUNS", 5))
CODECS = os.environ.get("BENCH_CODECS", "none lz4 snappy zstd gzip").split()
JARS = os.environ.get("JARS", f"{BROKERS}/{NEWEST}/libs")
RESULTS = os.environ.get("BENCH_RESULTS", f"{HERE}/RESULTS.md")
VALUE_BYTES = 93  # makes records of about 107 bytes
SIZES = {10: RECORDS, 10_000: RECORDS // 100, 1_000_000: RECORDS // 10_000}  # bytes: records
IDLE_SECONDS, IDLE_PARTITIONS = 20, 2000
KRC = "krc"
READERS = {
    KRC: [f"{BUILD}/bench/krc_reader"],
    "librdkafka, Debian's": [f"{BUILD}/peers/rdkafka-debian"],
    "librdkafka, PyPI's": [f"{BUILD}/peers/rdkafka-wheel"],
    "franz-go": [f"{BUILD}/peers/franz"],
    "Java": ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
             "-cp", f"{BUILD}/peers:{JARS}/*", "JavaReader"],
}
FOLLOW = (KRC, "librdkafka, Debian's", "librdkafka, PyPI's")  # know how to
BUILT = {"Java": f"{BUILD}/peers/JavaReader.class"}  # where it is not the command
KCAT = "kcat"
AT_THE_END = ["-X", "fetch.wait.max.ms=10"]  # a broker would keep the last, empty answer for 500
COLUMNS = ["reader", "CPU s", "M/CPU s", "CPU × krc", "wall s", "wall × krc", "peak MB"]
report = []


def say(text):
    print(text, flush=True)
    report.append(text)


# ---- Who takes part

def present(names=tuple(READERS)):
    return {name: READERS[name] for name in names
            if os.path.exists(BUILT.get(name, READERS[name][0]))}


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    return done.stdout.decode().strip()


def introduce():
    say(f"# krc beside other clients\n\nMade by `make bench`, {datetime.date.today()}. "
        f"{os.cpu_count()} processors: {processor()}; Linux {platform.release()}.\n"
        f"Broker: Apache Kafka {NEWEST}, on the same machine, over loopback, PLAINTEXT.\n")
    there = present()
    for name in READERS:
        version = output(*there[name]) if name in there else "MISSING: it could not be built"
        if name == KRC:
            version += f", commit {output('git', 'describe', '--always', '--dirty')}"
        say(f"- {name}: {version}")
    say(f"- kcat: {kcat_version()}\n")


def processor():
    with open("/proc/cpuinfo") as info:
        return re.search(r"model name\s*: (.*)", info.read())[1]


def kcat_version():
    if shutil.which(KCAT) is None:
        return "MISSING: it is not installed"
    return re.search(r"Version (\S+.*)", output(KCAT, "-V"))[1]


# ---- Readers

def in_turns(commands, work, runs=RUNS):
    """The runs of each, one after the other, and that again."""
    taken = {name: Runs() for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            taken[name].run(command, work)
    return taken


def same_records(taken):
    """How many records all have summed up; ends the run where one has read something else."""
    said = {line: name for name, runs in taken.items() for line in runs.said}
    if len(said) != 1:
        raise SystemExit(f"the readers have read different things: {said}")
    return int(next(iter(said)).split()[0])


def reader_rows(what, taken):
    records, krc = same_records(taken), taken[KRC]
    for name, runs in taken.items():
        yield [what, name, both(runs.cpu), f"{records / 1e6 / statistics.median(runs.cpu):.3g}",
               ratio(runs.cpu, krc.cpu), both(runs.wall), ratio(runs.wall, krc.wall),
               both(runs.peak, "{:.1f}")]


def measure_codec(broker, codec, work):
    topic = f"bench-{codec}"
    commands = {name: [*command, broker.bootstrap, topic, "1"]
                for name, command in present().items()}
    commands["wall"] = [f"{BUILD}/bench/wall", *broker.segments(topic)]
    in_turns(commands, work, 1)  # for the broker's compiler and the page cache
    return in_turns(commands, work)


def measure_readers(work):
    topics = {f"bench-{codec}": generate(BUILD, f"{work}/{codec}", codec, RECORDS, VALUE_BYTES)
              for codec in CODECS}
    with Broker(f"{work}/broker", topics) as broker:
        rows = [row for codec in CODECS
                for row in reader_rows(codec, measure_codec(broker, codec, work))]
    say(f"## Readers\n\n{RECORDS:,} records of about 107 bytes in transactions of 20,000, of "
        f"which 6 % are aborted,\nin batches of 16 KB in one partition; read_committed, else "
        f"defaults (librdkafka and kcat,\nwhich know a log's end by an empty answer, get it "
        f"after 10 ms instead of 500). Every reader is a whole process\nthat sums up offset, "
        f"timestamp, lengths and first byte of each record, all to the same checksum. {RUNS} "
        f"runs each,\nin turns. Minimum / median; ratios and rates are of medians; a rate is "
        f"million delivered records per CPU second.\nThe wall: receiving the same bytes from "
        f"sendfile, and the bare decode loop. librdkafka leaves batches' own\nchecksums "
        f"unchecked unless it is told; the others check them.\n")
    say(table(["codec", *COLUMNS], rows))


# ---- Over TLS

def measure_tls(work):
    certificates = Certificates(f"{work}/certificates")
    topics = {"bench": generate(BUILD, f"{work}/log", "none", RECORDS, VALUE_BYTES)}
    with Broker(f"{work}/broker", topics, certificates.path("server.pem")) as broker:
        os.environ["BENCH_CA"] = certificates.path("authority.crt")
        commands = {name: [*command, broker.secure, "bench", "1"]
                    for name, command in present().items()}
        in_turns(commands, work, 1)
        rows = list(reader_rows("none", in_turns(commands, work)))
        del os.environ["BENCH_CA"]
    say(f"## Over TLS\n\nThe same records, uncompressed; {RUNS} runs each, in turns.\n")
    say(table(["codec", *COLUMNS], rows))


# ---- The command

def measure_commands(work):
    topics = {"bench-none": generate(BUILD, f"{work}/none", "none", RECORDS, VALUE_BYTES)}
    with Broker(f"{work}/broker", topics) as broker:
        taken = measure_files(broker, work)
    rows = [[name, both(runs.cpu), ratio(runs.cpu, taken[base].cpu), both(runs.wall),
             ratio(runs.wall, taken[base].wall), both(runs.peak, "{:.1f}")]
            for name, base, runs in compared(taken)]
    say(f"## The command\n\nThe same {RECORDS:,} records, uncompressed, in turns, {RUNS} runs "
        f"each. krc's replays commit durably and\nexactly once; what kcat writes is not flushed. dd: "
        f"`bs=1M conv=fdatasync`, of the broker's segment. Ratios are of\nmedians, to the krc "
        f"that does the same.\n")
    say(table(["command", "CPU s", "CPU × krc", "wall s", "wall × krc", "peak MB"], rows))


def compared(taken):
    """With the name of the krc to compare with: the one before."""
    base = None
    for name, runs in taken.items():
        base = name if name.startswith(KRC) else base
        yield name, base, runs


def measure_files(broker, work):
    krc, from_broker = f"{BUILD}/krc", ["-b", broker.bootstrap, "-t", "bench-none"]
    replay = [krc, "replay", *from_broker, "-q", "--to", f"{work}/out"]
    kcat = [KCAT, "-C", *from_broker, "-p", "0", "-o", "beginning", "-e", "-q",
            *AT_THE_END]
    commands = {
        "krc read --digest": [krc, "read", *from_broker, "-e", "--digest"],
        "kcat, to nowhere": [*kcat, "-f", ""],
        "krc replay (JSON)": replay,
        "kcat -J": [*kcat, "-J"],
        "krc replay --format raw": [*replay, "--format", "raw"],
        "kcat": kcat,
        "krc replay --format segment": [*replay, "--format", "segment"],
        "dd": ["dd", f"if={broker.segments('bench-none')[0]}", f"of={work}/copy", "bs=1M",
               "conv=fdatasync"],
    }
    if shutil.which(KCAT) is None:
        commands = {name: c for name, c in commands.items() if c[0] != KCAT}
    taken = {name: Runs() for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            with open("/dev/null" if "nowhere" in name else f"{work}/file", "wb") as file:
                taken[name].run(command, work, file)
            shutil.rmtree(f"{work}/out", ignore_errors=True)
    return taken


# ---- Many partitions that have nothing to say

def measure_idle(work):
    one = generate(BUILD, f"{work}/one", "none", 1, VALUE_BYTES)
    topics = {"idle": [None] * (IDLE_PARTITIONS - 1) + one}
    with Broker(f"{work}/broker", topics) as broker:
        arguments = [broker.bootstrap, "idle", str(IDLE_PARTITIONS)]
        commands = {name: [*command, *arguments] for name, command in present(FOLLOW).items()}
        for command in commands.values():
            Runs().run([*command, str(IDLE_SECONDS / 4)], work)  # for the broker's compiler
        taken = {name: Runs() for name in commands}
        brokers = {name: [] for name in ["nobody", *commands]}
        for _ in range(RUNS):
            brokers["nobody"].append(spent(broker, lambda: time.sleep(IDLE_SECONDS)))
            for name, command in commands.items():
                brokers[name].append(
                    spent(broker, lambda: taken[name].run([*command, str(IDLE_SECONDS)], work)))
    rows = [[name, both(runs.cpu, "{:.3f}"), both(brokers[name]),
             both(runs.numbers(r"after ([0-9.]+) s"), "{:.3f}"), both(runs.peak, "{:.1f}")]
            for name, runs in taken.items()]
    say(f"## {IDLE_PARTITIONS:,} partitions\n\nOne record in the last of them, then nothing, "
        f"{IDLE_SECONDS} s in all; {RUNS} runs each, in turns.\n")
    say(table(["reader", "own CPU s", "broker's CPU s", "first record after s", "peak MB"],
              [["nobody", "", both(brokers["nobody"]), "", ""], *rows]))


def spent(broker, act):
    """What the broker has used meanwhile."""
    before = broker.cpu()
    act()
    return broker.cpu() - before


# ---- Records of other sizes

def measure_sizes(work):
    made = {size: generate(BUILD, f"{work}/{size}", "none", records, size)
            for size, records in SIZES.items()}
    rows = []
    with Broker(f"{work}/broker", {f"bench-{size}": made[size] for size in SIZES}) as broker:
        for size in SIZES:
            commands = {name: [*command, broker.bootstrap, f"bench-{size}", "1"]
                        for name, command in present().items() if name != "Java"}
            in_turns(commands, work, 1)
            rows += reader_rows(f"{size:,}", in_turns(commands, work))
    say(f"## Records of other sizes\n\nUncompressed; {RUNS} runs each, in turns.\n")
    say(table(["bytes", *COLUMNS], rows))


# ---- Memory and growth

def measure_memory(work):
    rows = []
    for times, partitions in ((1, 1), (1, 100), (10, 1), (10, 100)):
        folders = generate(BUILD, f"{work}/log", "none", RECORDS * times, VALUE_BYTES, partitions)
        with Broker(f"{work}/broker", {"bench": folders}) as broker:
            commands = {name: [*command, broker.bootstrap, "bench", str(partitions)]
                        for name, command in present().items()}
            commands["krc, asleep"] = [*commands[KRC], "asleep"]
            taken = in_turns(commands, work, RUNS if times == 1 else 1)
        shutil.rmtree(f"{work}/log")
        same_records(taken)
        rows.append([f"{RECORDS * times:,}", partitions,
                     *[f"{max(runs.peak):.1f}" for runs in taken.values()]])
    say(f"## Memory\n\nThe largest peak in MB of {RUNS} runs (of one with {RECORDS * 10:,} "
        f"records), uncompressed, with defaults.\nThe krc that is asleep sleeps 2 s behind its "
        f"first batch.\n")
    say(table(["records", "partitions", *taken], rows))


def measure_growth(work):
    sizes = [(records, 1) for records in (RECORDS // 20, RECORDS // 2, RECORDS * 5)]
    sizes += [(RECORDS // 2, partitions) for partitions in (10, 100, 1000, 5000)]
    rows = []
    for records, partitions in sizes:
        folders = generate(BUILD, f"{work}/log", "none", records, VALUE_BYTES, partitions)
        with Broker(f"{work}/broker", {"bench": folders}) as broker:
            command = [*READERS[KRC], broker.bootstrap, "bench", str(partitions)]
            in_turns({KRC: command}, work, 1)
            runs = in_turns({KRC: command}, work)[KRC]
        shutil.rmtree(f"{work}/log")
        rows.append([f"{records:,}", f"{partitions:,}", both(runs.cpu, "{:.3f}"),
                     f"{statistics.median(runs.cpu) / records * 1e9:.0f}",
                     both(runs.wall, "{:.3f}"), both(runs.peak, "{:.1f}")])
    say(f"## Growth\n\nkrc alone, uncompressed, {RUNS} runs each.\n")
    say(table(["records", "partitions", "CPU s", "CPU ns a record", "wall s", "peak MB"], rows))


# ---- Commits

def measure_commits(work):
    rows = []
    for partitions in (1, 100, 1000, 10_000):
        generate(BUILD, f"{work}/log", "none", 20 * partitions, VALUE_BYTES, partitions)
        said = []
        for i in range(RUNS):
            said.append(re.findall("[0-9.]+", output(f"{BUILD}/bench/commits", f"{work}/log",
                                                     str(partitions), f"{work}/{i}.db")))
            os.unlink(f"{work}/{i}.db")
        shutil.rmtree(f"{work}/log")
        rows.append([f"{partitions:,}", *[both([float(n) for n in column])
                                          for column in zip(*said)]])
    say(f"## Commits to the offset store\n\nMilliseconds of wall time on disk, {RUNS} runs "
        f"each: all partitions in one transaction; then one of them,\nthe others unchanged.\n")
    say(table(["partitions", "all", "then one"], rows))


def write():
    with open(RESULTS, "w") as out:
        out.write("\n".join(report).rstrip() + "\n")


SECTIONS = {"readers": measure_readers, "tls": measure_tls, "command": measure_commands, "idle": measure_idle,
            "sizes": measure_sizes, "memory": measure_memory, "growth": measure_growth,
            "commits": measure_commits}


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    introduce()
    for name in os.environ.get("BENCH_SECTIONS", " ".join(SECTIONS)).split():
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as work:
            try:
                SECTIONS[name](work)
            finally:
                end_all()
        write()
    if len(sys.argv) > 1:
        with open(sys.argv[1]) as folders:
            say(f"## Folders, without a broker\n\n```\n{folders.read()}```")
    write()


main()
