"""What the checks against Apache Kafka share: counting, comparing, running krc."""
import json
import os
import signal
import subprocess
import sys
import traceback

from processes import PATIENCE, start, wait_until

KRC = os.environ.get("KRC", "build/release/krc")
LEVELS = ("read_committed", "read_uncommitted")
FATES = ("delivered", "aborted", "control", "absent", "lost", "skipped")
RUN_SECONDS = 120  # a run of krc that lasts longer has hung

passed = failed = 0


# ---- Counting

def check(what, problem):
    """One check: `problem` is None, or says what is wrong."""
    global passed, failed
    if problem is None:
        passed += 1
        return
    failed += 1
    print(f"FAILED {what}: {problem}", file=sys.stderr, flush=True)


def differ(want, got):
    """None, or the first place where two lists differ."""
    for i, (w, g) in enumerate(zip(want, got)):
        if w != g:
            return f"entry {i}: expected\n  {w!r:.2000}\ngot\n  {g!r:.2000}"
    if len(want) != len(got):
        return f"{len(want)} entries expected, {len(got)} got"
    return None


def attempt(what, part, *arguments):
    """A part of a scenario; when it cannot go on, the parts behind it still do."""
    print(f"check-brokers: {what}", flush=True)
    try:
        part(*arguments)
    except (Exception, SystemExit) as problem:
        place = traceback.extract_tb(problem.__traceback__)[1]
        check(what, f"{problem!r} in {place.name}, line {place.lineno}")


def summary():
    print(f"check-brokers: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


# ---- Running krc

class Done:
    """A run of krc that has ended."""

    def __init__(self, arguments, status, out, err):
        self.line = "krc " + " ".join(arguments)
        self.status, self.out, self.err = status, out, err

    def expect(self, *statuses):
        check(f"{self.line}, exit status", None if self.status in statuses else
              f"{statuses} expected, got {self.status}: {self.err.decode()[-1000:]}")
        return self

    def expect_word(self, word):
        """A word that is to be on stderr."""
        check(f"{self.line}, message", None if word in self.err.decode() else
              f"{word!r} expected in {self.err.decode()[-1000:]!r}")
        return self

    def account(self):
        """TOPIC, PARTITION -> its row of the account; the fates have to add up to the range."""
        lines = self.err.decode().splitlines()
        try:
            rows = json.loads(lines[-1])["partitions"]
        except (IndexError, ValueError) as problem:
            raise SystemExit(f"{self.line}: no account on stderr: {lines[-3:]}") from problem
        for row in rows:
            total = sum(row[fate] for fate in FATES)
            check(f"{self.line}, account of {row['topic']}-{row['partition']}",
                  None if total == row["to"] - row["from"] else f"does not add up: {row}")
        return {partition_of(row): row for row in rows}

    def records(self):
        return records_of(self.out)


def run(*arguments):
    arguments = [str(a) for a in arguments]
    process = start(KRC, *arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += f"(killed after {RUN_SECONDS} s)".encode()
    return Done(arguments, process.returncode, out, err)


def krc(*arguments):
    """What krc prints; any status but 0 ends everything, for nothing can be compared then."""
    done = run(*arguments)
    if done.status != 0:
        raise SystemExit(f"{done.line}: exit status {done.status}: {done.err.decode()[-1000:]}")
    return done.out


class Running:
    """A krc that goes on until it is told to end.  What it prints lies in files meanwhile."""

    def __init__(self, folder, name, *arguments):
        self.arguments = [str(a) for a in arguments]
        self.paths = f"{folder}/{name}.out", f"{folder}/{name}.err"
        with open(self.paths[0], "wb") as out, open(self.paths[1], "wb") as err:
            self.process = start(KRC, *self.arguments, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err)

        self.counted = self.bytes = 0

    def done(self):
        texts = []
        for path in self.paths:
            with open(path, "rb") as text:
                texts.append(text.read())
        return Done(self.arguments, self.process.poll(), *texts)

    def lines(self):
        """How many whole lines it has printed."""
        with open(self.paths[0], "rb") as out:
            out.seek(self.bytes)
            more = out.read()
        self.bytes += len(more)
        self.counted += more.count(b"\n")
        return self.counted

    def wait_for(self, what, lines, patience=PATIENCE):
        """Until it has printed so many lines; it has no reason to end meanwhile."""
        try:
            wait_until(what, lambda: self.lines() >= lines or self.process.poll() is not None,
                       patience)
        except SystemExit as late:
            raise SystemExit(f"{late}; {self.tell(lines)}") from late
        if self.lines() < lines:
            raise SystemExit(f"{what}: it ended; {self.tell(lines)}")

    def tell(self, lines):
        done = self.done()
        return (f"{self.counted} of {lines} lines, exit status {done.status}: "
                f"{done.err.decode()[-1000:]}")

    def interrupt(self):
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self):
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.done()

    def kill(self):
        self.process.kill()
        self.process.wait()


# ---- Records

def partition_of(line):
    return line["topic"], line["partition"]


def records_of(lines):
    """TOPIC, PARTITION -> its records' JSON objects."""
    records = {}
    for record in map(json.loads, lines.splitlines()):
        records.setdefault(partition_of(record), []).append(record)
    return records


def read(folder, level):
    """What krc reads from a folder."""
    return records_of(krc("read", "-q", "-d", folder, "-J", "--encoding", "base64",
                          "--isolation-level", level))


def java_read(path):
    """What java/Reader.java wrote: Kafka's records, TOPIC, PARTITION -> list, and its offsets,
    TOPIC, PARTITION -> object."""
    records, offsets = {}, {}
    with open(path) as lines:
        for line in map(json.loads, lines):
            if "position" in line:
                offsets[partition_of(line)] = line
            else:
                records.setdefault(partition_of(line), []).append(line)
    return records, offsets


def compare(name, want, got):
    """Two sets of records, partition by partition."""
    for topic, partition in sorted({*want, *got}):
        check(f"{name}, {topic}-{partition}, records",
              differ(want.get((topic, partition), []), got.get((topic, partition), [])))
