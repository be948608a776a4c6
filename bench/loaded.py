"""A Kafka broker with topics whose logs were generated, not produced: seconds for millions of
records, and the same bytes for every reader."""
import glob
import os
import shutil
import subprocess

from kafka import CLUSTER, Helper, Refused, Server, free_ports
from processes import BROKERS, NEWEST, wait_until

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
log.dirs={folder}/logs
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
"""
# The same with another listener, for TLS.
TLS = """\
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},TLS://127.0.0.1:{tls}
listener.name.tls.ssl.keystore.type=PEM
listener.name.tls.ssl.keystore.location={certificate}
"""
LEFT_BY_THE_BROKER = ("*.log", "*.index", "*.timeindex", "*.snapshot", "leader-epoch-checkpoint")
TICKS = os.sysconf("SC_CLK_TCK")


def java(*arguments):
    """As a broker is run, with a compiler that optimises."""
    return ["java", "-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            "-cp", f"{BROKERS}/{NEWEST}/libs/*", *arguments]


class Broker(Server):
    """`topics`: name to the folders of its partitions' segments.

    The topics are made by a broker that is then killed, and get their segments while none runs.
    As it did not stop cleanly, the next one goes through the logs, and makes of them the indexes
    and the list of aborted transactions."""

    def __init__(self, folder, topics, certificate=None):
        os.makedirs(folder)
        port, controller, tls = free_ports(3)
        self.topics, self.properties = topics, f"{folder}/server.properties"
        self.bootstrap, self.secure = f"127.0.0.1:{port}", f"127.0.0.1:{tls}"
        with open(self.properties, "w") as out:
            out.write(PROPERTIES.format(folder=folder, port=port, controller=controller))
            if certificate is not None: # of two settings the last one counts
                out.write(TLS.format(port=port, controller=controller, tls=tls,
                                     certificate=certificate))
        super().__init__(folder, port, java("kafka.Kafka", self.properties))

    def __enter__(self):
        self.run(java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c",
                      self.properties)).wait()
        self.begin()
        self.ready()
        with Helper(self.bootstrap, self.folder) as helper:
            for topic, partitions in self.topics.items():
                helper("create", topic, len(partitions))
        wait_until("the partitions' folders", self.made)
        self.kill()
        for partition, source in self.partitions():
            self.fill(partition, source)
        self.begin()
        self.ready()
        with Helper(self.bootstrap, self.folder) as helper:
            wait_until("the partitions' records", lambda: self.filled(helper))
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder)

    def partitions(self):
        """The folder of each, and the one whose segments it gets."""
        return [(f"{self.logs}/{topic}-{i}", source)
                for topic, sources in self.topics.items() for i, source in enumerate(sources)]

    def made(self):
        return all(os.path.exists(f"{folder}/partition.metadata")
                   for folder, _ in self.partitions())

    def filled(self, helper):
        """Whether every partition that got segments has records."""
        try:
            return all(helper("end", topic, i) != "0"
                       for topic, sources in self.topics.items()
                       for i, source in enumerate(sources) if source is not None)
        except Refused:
            return False

    @staticmethod
    def fill(partition, source):
        """Moves the segments there are in the folder `source`, None: none."""
        if source is None:
            return
        for pattern in LEFT_BY_THE_BROKER:
            for path in glob.glob(f"{partition}/{pattern}"):
                os.unlink(path)
        for path in os.listdir(source):
            shutil.move(f"{source}/{path}", partition)

    def segments(self, topic):
        return sorted(glob.glob(f"{self.logs}/{topic}-0/*.log"))

    def cpu(self):
        """Seconds that it has used so far."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def generate(build, folder, codec, records, value_bytes, partitions=1):
    """The folders of generated partitions."""
    subprocess.run([f"{build}/bench/generate", folder, codec, str(records), str(value_bytes),
                    str(partitions)], check=True)
    return [f"{folder}/bench-{i}" for i in range(partitions)]
