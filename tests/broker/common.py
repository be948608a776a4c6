"""What the checks against Apache Kafka share: counting, running krc and the Java tools."""
import json
import os
import subprocess
import sys

KRC = os.environ.get("KRC", "build/release/krc")
LIBS = os.environ.get("LIBS", "build/brokers/libs")
LEVELS = ("read_committed", "read_uncommitted")

passed = failed = 0


def check(what, problem):
    """One check: `problem` is None, or says what is wrong."""
    global passed, failed
    if problem is None:
        passed += 1
        return
    failed += 1
    print(f"FAILED {what}: {problem}", file=sys.stderr)


def differ(want, got):
    """None, or the first place where two lists differ."""
    for i, (w, g) in enumerate(zip(want, got)):
        if w != g:
            return f"entry {i}: expected\n  {w!r:.2000}\ngot\n  {g!r:.2000}"
    if len(want) != len(got):
        return f"{len(want)} entries expected, {len(got)} got"
    return None


def summary():
    print(f"check-brokers: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def krc(*arguments):
    """What krc prints; any status but 0 ends everything, for nothing can be compared then."""
    done = subprocess.run([KRC, *arguments], capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"krc {' '.join(arguments)}: {done.stderr.decode()}")
    return done.stdout


def partition_of(line):
    return line["topic"], line["partition"]


def read(folder, level):
    """What krc reads from a folder: TOPIC, PARTITION -> its records' JSON objects."""
    records = {}
    for line in krc("read", "-q", "-d", folder, "-J", "--encoding", "base64",
                    "--isolation-level", level).splitlines():
        record = json.loads(line)
        records.setdefault(partition_of(record), []).append(record)
    return records


def java(heap, *arguments):
    return ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", f"{LIBS}/*", *arguments]
