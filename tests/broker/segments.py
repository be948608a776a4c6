"""Replayed segments, as Apache Kafka's DumpLogSegments reads them.

What it shows of each replayed segment has to be what it shows of the source, less what a replay
leaves out: aborted batches and their markers, emptied batches, and all beyond the last stable
offset.  And the records in it have to be those that krc reads from the source.
"""
import base64
import glob
import os
import re
import subprocess
import tempfile

from common import LEVELS, check, differ, krc, read
from processes import java

ROTATIONS = ([], ["--rotate", "9KiB"])
ARGUMENT_BYTES = 100_000  # the kernel takes 128 KiB in one argument
ENTRY = re.compile(rb"^(?=Dumping |Log starting offset: |baseOffset: |offset: |\| offset: )", re.M)
COMPLAINT = re.compile(r"mismatch|isvalid: false|isValid: false|Found record size|"
                       r"Found timestamp|exception|error", re.I)


# ---- What the tool shows

class Batch:
    def __init__(self, line):
        # where a batch lies in its file is the one thing that a replay may change
        self.line = re.sub(rb" position: \d+", b"", line)
        self.records = []
        text = line.decode()
        # magic 0 and 1 are named by their last record
        self.last = self.number(text, "lastOffset", self.number(text, "offset", -1))
        self.base = self.number(text, "baseOffset", self.last)
        self.count = self.number(text, "count", 1)
        self.producer = self.number(text, "producerId", -1)
        self.transactional = "isTransactional: true" in text
        self.control = "isControl: true" in text

    @staticmethod
    def number(text, name, otherwise):
        found = re.search(rf"(?:^| ){name}: (-?\d+)", text)
        return int(found[1]) if found else otherwise

    def marker(self):
        return b"endTxnMarker: COMMIT" in self.records[0] if self.records else None


def groups(paths):
    """The paths in lists that fit into one argument each."""
    group, size = [], 0
    for path in paths:
        if size + len(path) > ARGUMENT_BYTES:
            yield group
            group, size = [], 0
        group.append(path)
        size += len(path) + 1
    yield group


def dump(paths):
    """PATH -> its batches."""
    batches = {}
    for group in groups(paths):
        done = subprocess.run(
            java("300m", "org.apache.kafka.tools.DumpLogSegments", "--deep-iteration",
                 "--print-data-log", "--files", ",".join(group)), capture_output=True)
        errors = done.stderr.decode(errors="replace")
        # gaps are no fault of a log from which batches were left out
        check("DumpLogSegments", f"exit status {done.returncode}: {errors[-2000:]}"
              if done.returncode != 0 or COMPLAINT.search(errors) else None)
        take_entries(done.stdout, batches)
    return batches


def take_entries(output, batches):
    path, strange = None, []
    for entry in ENTRY.split(output):
        entry = entry[:-1]
        if entry.startswith(b"Dumping "):
            path = entry[8:].decode()
            batches[path] = []
        elif entry.startswith(b"| "):
            batches[path][-1].records.append(entry)
        elif entry and not entry.startswith(b"Log starting offset: "):
            if not entry.endswith(b" isvalid: true") or b"\n" in entry:
                strange.append((path, entry))
            batches[path].append(Batch(entry))
    check("batches are valid", f"the tool shows {strange[:3]}" if strange else None)


def logs(folder):
    """TOPIC-PARTITION -> its segments in their order."""
    found = {}
    for path in sorted(glob.glob(f"{folder}/*-[0-9]*/*.log")):
        found.setdefault(os.path.basename(os.path.dirname(path)), []).append(path)
    return found


# ---- What a replay is to hold

def starts(folder):
    """TOPIC-PARTITION -> its checkpointed log start offset."""
    path = f"{folder}/log-start-offset-checkpoint"
    if not os.path.exists(path):
        return {}
    with open(path) as lines:
        rows = [line.split() for line in lines][2:]
    return {f"{topic}-{partition}": int(start) for topic, partition, start in rows}


def fate(batches, i):
    """Whether the transaction of batch i was committed: None while nothing says so."""
    later = (b for b in batches[i:] if b.control and b.producer == batches[i].producer)
    return next((b.marker() for b in later), None)


def to_be_kept(batches, start, level):
    """A plain model of what is committed, slow and sure."""
    kept = []
    for i, batch in enumerate(batches):
        committed = fate(batches, i) if batch.transactional else True
        if level == "read_committed" and committed is None:
            return kept + late_markers(kept, batches[i:])
        if batch.last < start or not batch.records:
            continue
        if level == "read_uncommitted" or committed:
            kept.append(batch)
    return kept


def late_markers(kept, beyond):
    """The commit markers beyond the last stable offset of what lies before it, without which the
    copy would hold undecided transactions."""
    last = {batch.producer: batch for batch in kept if batch.transactional}
    late = [next(b for b in beyond if b.control and b.producer == producer)
            for producer, batch in last.items() if not batch.control]
    return sorted(late, key=lambda marker: marker.base)


def lossy(data):
    """As text: Java and Python disagree only in how many signs stand for bytes that are none."""
    return re.sub("\ufffd+", "\ufffd", data.decode(errors="replace"))


def text_of(field):
    return None if field is None else lossy(base64.b64decode(field))


def expected_entry(record):
    """How the tool shows a record, but for its sequence number."""
    key, value = text_of(record["key"]), text_of(record["value"])
    size = {name: -1 if record[name] is None else len(base64.b64decode(record[name]))
            for name in ("key", "value")}
    entry = (f"| offset: {record['offset']} {record['timestampType']}: {record['timestamp']} "
             f"keySize: {size['key']} valueSize: {size['value']} "
             f"headerKeys: [{','.join(text_of(h['key']) for h in record['headers'])}]")
    entry += "" if key is None else f" key: {key}"
    return entry + ("" if value is None else f" payload: {value}")


def shown_entries(batches, start):
    """The records of the batches that carry data, as expected_entry has them: for magic 0 and 1
    the tool shows a checksum where it shows a sequence number and headers for magic 2."""
    sequence = re.compile(r"(?<=valueSize: )(-?\d+) sequence: -?\d+")
    checksum = re.compile(r"(?<=valueSize: )(-?\d+) isValid: true crc: \d+")
    return [checksum.sub(r"\1 headerKeys: []", sequence.sub(r"\1", lossy(entry), count=1), count=1)
            for batch in batches if not batch.control for entry in batch.records
            if int(entry.split(b" ", 3)[2]) >= start]


# ---- The checks

class Replay:
    def __init__(self, source, level, rotation, to):
        self.source, self.level, self.to = source, level, to
        self.name = " ".join([os.path.basename(source), level, *rotation])
        krc("replay", "-q", "-d", source, "--to", to, "--format", "segment",
            "--isolation-level", level, *rotation)


def digests(folder, level):
    """TOPIC PARTITION RECORDS CRC, of what has records: where a partition begins and ends is
    not the same when its ends were left out."""
    rows = [line.split() for line in
            krc("read", "-q", "-d", folder, "--digest", "--isolation-level", level)
            .decode().splitlines()]
    return [[topic, partition, records, crc] for topic, partition, _, _, records, crc in rows
            if records != "0"]


def check_replay(replay, dumped):
    start = starts(replay.source)
    records = read(replay.source, replay.level)
    made = logs(replay.to)
    for log, paths in logs(replay.source).items():
        if log.startswith("__"):
            continue
        name = f"{replay.name}, {log}"
        source = [batch for path in paths for batch in dumped[path]]
        got = [batch for path in made.get(log, []) for batch in dumped[path]]
        want = to_be_kept(source, start.get(log, 0), replay.level)
        check(f"{name}, batches", differ([(b.line, b.records) for b in want],
                                         [(b.line, b.records) for b in got]))
        topic, _, partition = log.rpartition("-")
        delivered = records.get((topic, int(partition)), [])
        check(f"{name}, records", differ([expected_entry(r) for r in delivered],
                                         shown_entries(got, start.get(log, 0))))
        for path in made.get(log, []):
            check(f"{path}, name", None if dumped[path] and
                  int(os.path.basename(path)[:20]) <= dumped[path][0].base else "wrong offset")
    check(f"{replay.name}, digests", differ(digests(replay.source, replay.level),
                                            digests(replay.to, replay.level)))


def check_segments(sources):
    """Each of these log folders, replayed into segments in every way."""
    with tempfile.TemporaryDirectory() as folder:
        replays = [Replay(source, level, rotation,
                          f"{folder}/{os.path.basename(source)}.{level}.{len(rotation)}")
                   for source in sources for level in LEVELS for rotation in ROTATIONS]
        folders = {*sources, *(r.to for r in replays)}
        dumped = dump(sorted(p for f in folders for paths in logs(f).values() for p in paths))
        for replay in replays:
            check_replay(replay, dumped)
