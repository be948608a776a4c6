"""Apache Kafka's brokers, one or a cluster of them, and its own clients, on free loopback ports."""
import base64
import os
import random
import select
import signal
import socket
import subprocess

from common import check
from processes import NEWEST, PATIENCE, java, start, wait_until

CLUSTER = base64.urlsafe_b64encode(b"krc check-broker").decode()[:22]
COMMON = """\
process.roles={roles}
node.id={node}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT
connections.max.idle.ms=5000
log.dirs={folder}/logs
auto.create.topics.enable=false
offsets.topic.num.partitions=2
offsets.topic.replication.factor={replication}
transaction.state.log.replication.factor={replication}
transaction.state.log.num.partitions=2
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
log.retention.check.interval.ms=300
log.initial.task.delay.ms=300
log.message.timestamp.before.max.ms=9223372036854775807
log.cleaner.backoff.ms=200
"""
FAILOVER = """\
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
replica.lag.time.max.ms=3000
replica.selector.class=org.apache.kafka.common.replica.RackAwareReplicaSelector
broker.rack=rack-{node}
"""


def is_free(port):
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def free_ports(n):
    """Below those that the system gives to whoever connects, one of which may come before us."""
    drawn = random.Random().sample(range(15000, 32000), 500)
    return [port for port in drawn if is_free(port)][:n]


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """A process with a port, a folder and a file for what it says."""

    def __init__(self, folder, port, command):
        self.folder, self.port, self.command = folder, port, command
        self.logs = f"{folder}/logs"
        self.process = None

    def begin(self):
        self.process = self.run(self.command)

    def run(self, command):
        with open(f"{self.folder}/output", "ab") as output:
            return start(*command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def ready(self):
        wait_until("a server that listens", self.listening)

    def running(self):
        return self.process is not None and self.process.poll() is None

    def listening(self):
        if not self.running():
            with open(f"{self.folder}/output") as output:
                raise SystemExit(f"the server ended: {output.read()[-2000:]}")
        return listens(self.port)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        check("the server stops cleanly", None if status == 143 else f"exit status {status}")

    def kill(self):
        if self.running():
            self.process.kill()
            self.process.wait()


class Node(Server):
    """A broker, a controller, or both, without ZooKeeper.  Of a property that `more` has as well,
    that counts."""

    def __init__(self, folder, node, roles, voters, listeners, replication, metrics=None,
                 version=NEWEST, proxy=None, more=""):
        os.makedirs(folder, exist_ok=True)
        properties = f"{folder}/server.properties"
        port = listeners.get("PLAINTEXT", listeners.get("CONTROLLER"))
        options = [] if metrics is None else [
            f"-Dcom.sun.management.jmxremote.{name}" for name in (
                f"port={metrics}", f"rmi.port={metrics}", "host=127.0.0.1", "ssl=false",
                "authenticate=false")] + ["-Djava.rmi.server.hostname=127.0.0.1"]
        super().__init__(folder, port, java("700m" if "broker" in roles else "200m", *options,
                                            "kafka.Kafka", properties, version=version))
        self.node, self.metrics = node, metrics
        with open(properties, "w") as out:
            out.write(COMMON.format(roles=roles, node=node, voters=voters, folder=folder,
                                    replication=replication))
            out.write("listeners=" + ",".join(f"{name}://127.0.0.1:{port}"
                                              for name, port in listeners.items()) + "\n")
            if proxy is not None:
                out.write(f"advertised.listeners=PLAINTEXT://127.0.0.1:{port},"
                          f"PROXIED://127.0.0.1:{proxy}\n")
            if replication > 1:
                out.write(FAILOVER.format(node=node))
            out.write(more)
        self.format = java("200m", "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c",
                           properties, version=version)

    def begin(self):
        if not os.path.exists(f"{self.logs}/meta.properties"):
            check("a formatted log folder", self.run(self.format).wait() or None)
        super().begin()


class Broker:
    """One broker that is its own controller.  At its port `proxied` it says that it listens at
    the port `proxy`."""

    def __init__(self, folder, version=NEWEST, more=""):
        self.folder = folder
        port, self.controller, self.proxied, self.proxy = free_ports(4)
        self.node = Node(folder, 1, "broker,controller", f"1@127.0.0.1:{self.controller}",
                         {"PLAINTEXT": port, "CONTROLLER": self.controller,
                          "PROXIED": self.proxied}, 1, version=version, proxy=self.proxy,
                         more=more)
        self.logs = self.node.logs
        self.bootstrap = f"127.0.0.1:{port}"

    def start(self):
        self.node.begin()
        self.node.ready()

    def stop(self):
        self.node.stop()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.node.kill()


class Cluster:
    """A controller, and brokers 1 to 3, each in a rack of its own.  The third is there, but not
    begun."""

    def __init__(self, folder):
        quorum, *ports = free_ports(7)
        voters = f"100@127.0.0.1:{quorum}"
        self.controller = Node(f"{folder}/100", 100, "controller", voters,
                               {"CONTROLLER": quorum}, 2)
        self.brokers = {i: Node(f"{folder}/{i}", i, "broker", voters, {"PLAINTEXT": ports[i - 1]},
                                2, metrics=ports[i + 2]) for i in (1, 2, 3)}
        self.bootstrap = ",".join(f"127.0.0.1:{b.port}" for b in self.brokers.values())

    def __enter__(self):
        first = [self.controller, self.brokers[1], self.brokers[2]]
        for node in first:
            node.begin()
        for node in first:
            node.ready()
        return self

    def __exit__(self, *_):
        for node in (self.controller, *self.brokers.values()):
            node.kill()


class Refused(Exception):
    """What Kafka answered to a command of the helper."""


class Helper:
    """java/Helper.java: Kafka's own clients."""

    def __init__(self, bootstrap, folder, version=NEWEST):
        self.output = open(f"{folder}/helper-output", "ab")
        self.process = start(*java("400m", "Helper", bootstrap, version=version),
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.output)

    def __call__(self, *words):
        """What it answers; what goes wrong ends everything but where it is caught."""
        self.process.stdin.write(" ".join(map(str, words)).encode() + b"\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], 3 * PATIENCE)[0]:
            raise Refused(f"{' '.join(map(str, words))}: no answer")
        answer = self.process.stdout.readline().decode().rstrip("\n")
        if not answer.startswith("ok "):
            raise Refused(f"{' '.join(map(str, words))}: {answer}")
        return answer[3:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.output.close()
