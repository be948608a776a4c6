"""A real broker: what its folder says once it has stopped is what Kafka's own consumer read from
it, and a copy of the folder made meanwhile is a beginning of that."""
import base64
import glob
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from common import LEVELS, check, differ, java, krc, partition_of, read
from segments import check_segments

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 60  # seconds for anything that a broker is to do

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
log.dirs={folder}/logs
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
log.retention.ms=-1
log.message.timestamp.before.max.ms=9223372036854775807
log.cleaner.backoff.ms=200
"""


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {PATIENCE} s")
        time.sleep(0.1)


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Broker:
    """Ends, whatever happens, with the `with` that it is used in."""

    def __init__(self, folder):
        self.folder = folder
        self.logs = f"{folder}/logs"
        self.port, controller = free_ports(2)
        self.properties = f"{folder}/server.properties"
        with open(self.properties, "w") as out:
            out.write(PROPERTIES.format(folder=folder, port=self.port, controller=controller))

    def __enter__(self):
        cluster = base64.urlsafe_b64encode(b"krc check-broker").decode()[:22]
        self.output = open(f"{self.folder}/output", "wb")
        subprocess.run(java("300m", "kafka.tools.StorageTool", "format", "-t", cluster, "-c",
                            self.properties), check=True, stdout=self.output, stderr=self.output)
        self.process = subprocess.Popen(java("700m", "kafka.Kafka", self.properties),
                                        stdout=self.output, stderr=self.output)
        wait_until("a broker that listens", self.listens)
        return self

    def listens(self):
        if self.process.poll() is not None:
            with open(f"{self.folder}/output") as output:
                raise SystemExit(f"the broker ended: {output.read()[-2000:]}")
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def run(self, program, *arguments):
        return subprocess.Popen(
            java("300m", f"{HERE}/{program}.java", f"127.0.0.1:{self.port}", *arguments),
            stdout=subprocess.PIPE, stderr=self.output)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        check("the broker stops cleanly", None if self.process.wait(PATIENCE) == 143
              else f"exit status {self.process.returncode}")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.output.close()


def copy_live(logs, to):
    """What a careful copy does: which files there are first, and then these.  Only the last of a
    partition still grows, and a file may be gone by the time it is its turn."""
    for path in sorted(glob.glob(f"{logs}/**", recursive=True)):
        target = os.path.join(to, os.path.relpath(path, logs))
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
            continue
        try:
            shutil.copyfile(path, target)
        except FileNotFoundError:
            pass


def compacted(logs):
    """Whether the cleaner has gone through all that it may clean: it then leaves it alone."""
    active = max(os.path.basename(p) for p in glob.glob(f"{logs}/compacted-0/*.log"))
    checkpoint = f"{logs}/cleaner-offset-checkpoint"
    if not os.path.exists(checkpoint):
        return False
    with open(checkpoint) as lines:
        return f"compacted 0 {int(active[:20])}" in lines.read().splitlines()


def java_read(path):
    """Kafka's records, TOPIC, PARTITION -> list, and its offsets, TOPIC, PARTITION -> object."""
    records, offsets = {}, {}
    with open(path) as lines:
        for line in map(json.loads, lines):
            if "position" in line:
                offsets[partition_of(line)] = line
            else:
                records.setdefault(partition_of(line), []).append(line)
    return records, offsets


def krc_offsets(folder, level):
    """TOPIC, PARTITION -> log start, position, last stable offset, high watermark."""
    rows = [line.split() for line in krc("read", "-q", "-d", folder, "-f", "", "-O",
                                         "--isolation-level", level).decode().splitlines()]
    return {(topic, int(partition)): [int(start), int(position), int(stable), int(high)]
            for topic, partition, start, _, position, stable, high, _ in rows}


def check_scenario(logs, committed, uncommitted):
    """It holds what it is there for, whatever the seed."""
    counts = {p: (len(committed.get(p, [])), len(uncommitted[p])) for p in uncommitted}
    check("transactions were aborted in each partition",
          None if all(0 < c < u for c, u in counts.values()) else repr(counts))
    check("segments are many", None if len(glob.glob(f"{logs}/mixed-0/*.log")) > 2 else "few")
    offsets = [record["offset"] for record in uncommitted["compacted", 0]]
    check("compaction left holes", None if 0 < len(offsets) < offsets[-1] / 2
          else f"{len(offsets)} records")


def check_stopped(logs, level, want, offsets):
    got, got_offsets = read(logs, level), krc_offsets(logs, level)
    check(f"{level}, partitions", differ(sorted(offsets), sorted(got_offsets)))
    for partition, expected in offsets.items():
        name = f"{level}, {partition[0]}-{partition[1]}"
        check(f"{name}, records", differ(want.get(partition, []), got.get(partition, [])))
        start, position, stable, high = got_offsets[partition]
        end = stable if level == "read_committed" else high
        check(f"{name}, offsets",
              differ([expected["logStart"], expected["end"], expected["position"]],
                     [start, end, position]))


def check_copy(copy, level, want):
    """A beginning of what there was later; of what was compacted since, all that was left of it."""
    for partition, got in read(copy, level).items():
        name = f"live copy, {level}, {partition[0]}-{partition[1]}"
        later = want.get(partition, [])
        if partition[0] == "compacted":
            there = {record["offset"]: record for record in got}
            left = [r for r in later if r["offset"] <= got[-1]["offset"]]
            check(name, differ(left, [there.get(r["offset"]) for r in left]))
        else:
            first = later[0]["offset"]  # the log start may have moved since
            got = [r for r in got if r["offset"] >= first]
            check(name, differ(later[:len(got)], got))


def check_broker():
    seed = int(os.environ.get("SEED", random.randrange(1 << 31)))
    print(f"check-brokers: SEED={seed} makes this scenario again", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        copy, out = f"{folder}/copy", f"{folder}/out"
        os.mkdir(out)
        with Broker(folder) as broker:
            producer = broker.run("Produce", str(seed))
            check("the producer gets half way", differ(b"half\n", producer.stdout.readline()))
            copy_live(broker.logs, copy)
            check("the producer ends", differ(b"done\n", producer.communicate()[0]))
            wait_until("compaction", lambda: compacted(broker.logs))
            consumer = broker.run("Consume", out)
            consumer.communicate()
            check("the consumer ends", differ([0], [consumer.returncode]))
            broker.stop()
        read_by_java = {level: java_read(f"{out}/{level}") for level in LEVELS}
        check_scenario(broker.logs, *(records for records, _ in read_by_java.values()))
        for level, (want, offsets) in read_by_java.items():
            check_stopped(broker.logs, level, want, offsets)
            check_copy(copy, level, want)
        check_segments([broker.logs])
