"""Kafka's brokers that need ZooKeeper, and franz-go's own."""
import os

from kafka import Server, free_ports
from processes import BROKERS, java

QUORUM = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
ZOOKEEPER = """\
dataDir={folder}/data
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
"""
BROKER = """\
broker.id=1
zookeeper.connect=127.0.0.1:{zookeeper}
listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={folder}/logs
auto.create.topics.enable=false
offsets.topic.num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.num.partitions=2
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
"""


def write(path, text, **values):
    with open(path, "w") as out:
        out.write(text.format(**values))
    return path


class OldBroker:
    def __init__(self, folder, version):
        keeper, port = free_ports(2)
        for name in ("zookeeper", "broker"):
            os.makedirs(f"{folder}/{name}")
        keeping = write(f"{folder}/zookeeper.properties", ZOOKEEPER, folder=folder, port=keeper)
        serving = write(f"{folder}/server.properties", BROKER, folder=f"{folder}/broker",
                        port=port, zookeeper=keeper)
        self.keeper = Server(f"{folder}/zookeeper", keeper,
                             java("200m", QUORUM, keeping, version=version))
        self.broker = Server(f"{folder}/broker", port,
                             java("500m", "kafka.Kafka", serving, version=version))
        self.logs = self.broker.logs
        self.bootstrap = f"127.0.0.1:{port}"

    def __enter__(self):
        for server in (self.keeper, self.broker):
            server.begin()
            server.ready()
        return self

    def stop(self):
        self.broker.stop()

    def __exit__(self, *_):
        self.broker.kill()
        self.keeper.kill()


class Kfake(Server):
    """Keeps everything in memory: no folder is left to look at.  It answers Kafka's own client in
    a way that this cannot read when a topic is made, so that there is one from the beginning."""

    def __init__(self, folder, topic):
        port, = free_ports(1)
        super().__init__(folder, port, [f"{BROKERS}/kfake", str(port), topic])
        self.logs = None
        self.bootstrap = f"127.0.0.1:{port}"

    def __enter__(self):
        self.begin()
        self.ready()
        return self

    def stop(self):
        self.kill()

    def __exit__(self, *_):
        self.kill()
