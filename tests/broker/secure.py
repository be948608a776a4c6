"""TLS and SASL against a real broker: over each of its listeners krc reads what it reads in the
open; and whoever is refused is told why, in one line, without a secret in it."""
import base64
import json
import os
import subprocess
import tempfile
import time

from certificates import PASSWORD, Certificates
from common import Running, attempt, check, krc, run
from kafka import Helper, Node, free_ports, listens
from online import differ_files, files
from processes import start, wait_until
from provider import CLIENT, SECRET as CLIENT_SECRET, Provider
from refused import check_line

TOPIC = "secured"
SECRET = "s3cret-password"  # every secret has "s3cret" in it
MODULES = "org.apache.kafka.common.security."
PLAIN_MODULE = MODULES + "plain.PlainLoginModule"
SCRAM_MODULE = MODULES + "scram.ScramLoginModule"
OAUTH_MODULE = MODULES + "oauthbearer.OAuthBearerLoginModule"
SCRAMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")

# Name -> protocol, certificate, and what else it is told.
LISTENERS = {
    "PLAINTEXT": ("PLAINTEXT", None, {}),
    "CONTROLLER": ("PLAINTEXT", None, {}),
    "TLS": ("SSL", "server", {}),
    "OLDER": ("SSL", "server", {"ssl.enabled.protocols": "TLSv1.2", "ssl.protocol": "TLSv1.2"}),
    "NEWER": ("SSL", "server", {"ssl.enabled.protocols": "TLSv1.3"}),
    "MUTUAL": ("SSL", "server", {"ssl.client.auth": "required"}),
    "EXPIRED": ("SSL", "expired", {}),
    "ELSEWHERE": ("SSL", "elsewhere", {}),
    "OPEN": ("SASL_PLAINTEXT", None, {}),
    "CLOSED": ("SASL_SSL", "server", {}),
    "SHORT": ("SASL_PLAINTEXT", None, {"connections.max.reauth.ms": 2000}),
    "ONE": ("SASL_PLAINTEXT", None, {"sasl.enabled.mechanisms": "SCRAM-SHA-256"}),
}


def listener_properties(certificates):
    """Of each listener, those of a broker."""
    lines = ["listener.security.protocol.map=" +
             ",".join(f"{name}:{protocol}" for name, (protocol, *_) in LISTENERS.items()),
             f"sasl.enabled.mechanisms=PLAIN,{','.join(SCRAMS)},OAUTHBEARER"]
    for name, (protocol, certificate, more) in LISTENERS.items():
        own = dict(more)
        if certificate:
            own.update({"ssl.keystore.type": "PEM", "ssl.truststore.type": "PEM",
                        "ssl.keystore.location": certificates.path(f"{certificate}.pem"),
                        "ssl.truststore.location": certificates.path("authority.crt")})
        if protocol.startswith("SASL"):
            own["plain.sasl.jaas.config"] = f'{PLAIN_MODULE} required user_alice="{SECRET}";'
            own["oauthbearer.sasl.jaas.config"] = f"{OAUTH_MODULE} required;"
            for scram in SCRAMS:
                own[f"{scram.lower()}.sasl.jaas.config"] = f"{SCRAM_MODULE} required;"
        lines += [f"listener.name.{name.lower()}.{key}={value}" for key, value in own.items()]
    return "\n".join(lines) + "\n"


def jaas(module, name, password):
    return f'{module} required username="{name}" password="{password}";'


def token(seconds):
    """One that a broker without a validator of its own takes: it is not signed."""
    def part(claims):
        return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    now = time.time()
    return f"{part({'alg': 'none'})}.{part({'sub': 'alice', 'iat': now, 'exp': now + seconds})}."


def escaped(text):
    """As a value in a properties file."""
    return str(text).replace("\\", "\\\\").replace("\n", "\\n")


class Secure:
    def __init__(self, folder):
        self.folder, self.certificates = folder, Certificates(f"{folder}/certificates")
        self.ports = dict(zip(LISTENERS, free_ports(len(LISTENERS))))
        self.node = Node(f"{folder}/broker", 1, "broker,controller",
                         f"1@127.0.0.1:{self.ports['CONTROLLER']}", self.ports, 1,
                         more=listener_properties(self.certificates))
        for scram in SCRAMS:
            self.node.format += ["--add-scram", f"{scram}=[name=alice,password={SECRET}]"]
        self.provider = Provider(self.certificates.path("server.pem"), lambda: token(3600))
        self.made = 0

    def __enter__(self):
        self.provider.__enter__()
        self.node.begin()
        self.node.ready()
        return self

    def __exit__(self, *_):
        self.node.kill()
        self.provider.__exit__()

    def address(self, listener):
        return f"127.0.0.1:{self.ports[listener]}"

    def flags(self, listener, properties):
        """-b and -F."""
        self.made += 1
        lines = [f"{name}={escaped(value)}\n" for name, value in properties.items()]
        path = self.certificates.write(f"{self.made}.properties", "".join(lines))
        return ["-b", self.address(listener), "-F", path]

    # ---- Properties

    def trusting(self, **more):
        return {"security.protocol": "SSL",
                "ssl.truststore.location": self.certificates.path("authority.crt"),
                **{name.replace("_", "."): value for name, value in more.items()}}

    def as_user(self, mechanism, password=SECRET, protocol="SASL_PLAINTEXT"):
        module = PLAIN_MODULE if mechanism == "PLAIN" else SCRAM_MODULE
        return {**self.trusting(), "security.protocol": protocol, "sasl.mechanism": mechanism,
                "sasl.jaas.config": jaas(module, "alice", password)}

    def as_bearer(self, seconds, name="token", protocol="SASL_PLAINTEXT"):
        path = self.certificates.write(name, token(seconds) + "\n")
        return {**self.trusting(), "security.protocol": protocol, "sasl.mechanism": "OAUTHBEARER",
                "sasl.oauthbearer.token.endpoint.url": f"file://{path}"}

    def as_client(self, secret=CLIENT_SECRET, authority="authority"):
        """The token is the provider's."""
        options = {"clientId": CLIENT, "clientSecret": secret, "scope": "kafka read",
                   "ssl.truststore.type": "PEM",
                   "ssl.truststore.location": self.certificates.path(f"{authority}.crt")}
        told = " ".join(f'{name}="{value}"' for name, value in options.items())
        return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER",
                "sasl.oauthbearer.token.endpoint.url": self.provider.url,
                "sasl.jaas.config": f"{OAUTH_MODULE} required {told};"}

    def ways(self):
        """What is told -> listener, properties."""
        path, text = self.certificates.path, self.certificates.text
        password = self.certificates.write("password", SECRET + "\n")
        mutual = self.trusting(ssl_keystore_location=path("client.pem"))
        yield "TLS", "TLS", self.trusting()
        yield "TLS 1.2", "OLDER", self.trusting()
        yield "TLS 1.3", "NEWER", self.trusting()
        yield "TLS 1.2 of both", "TLS", self.trusting(ssl_enabled_protocols="TLSv1.2")
        yield "a folder", "TLS", self.trusting(ssl_truststore_location=path("folder"))
        yield "PKCS12", "TLS", self.trusting(ssl_truststore_location=path("authority.p12"),
                                             ssl_truststore_password=PASSWORD)
        yield "PKCS12 that is called JKS", "TLS", self.trusting(
            ssl_truststore_location=path("authority.p12"), ssl_truststore_type="JKS",
            ssl_truststore_password=PASSWORD)
        yield "PEM in place", "TLS", {"security.protocol": "SSL", "ssl.truststore.type": "PEM",
                                      "ssl.truststore.certificates": text("authority.crt")}
        yield "another host's name", "ELSEWHERE", {
            **self.trusting(), "ssl.endpoint.identification.algorithm": ""}
        yield "our certificate", "MUTUAL", mutual
        yield "our certificate, PKCS12", "MUTUAL", self.trusting(
            ssl_keystore_location=path("client.p12"), ssl_keystore_password=PASSWORD)
        yield "our certificate, encrypted", "MUTUAL", self.trusting(
            ssl_keystore_location=path("encrypted.pem"), ssl_key_password=PASSWORD)
        yield "our certificate, in place", "MUTUAL", {
            **self.trusting(), "ssl.keystore.type": "PEM",
            "ssl.keystore.key": text("client.key"),
            "ssl.keystore.certificate.chain": text("client.crt")}
        for listener, protocol in (("OPEN", "SASL_PLAINTEXT"), ("CLOSED", "SASL_SSL")):
            for mechanism in ("PLAIN", *SCRAMS):
                yield mechanism, listener, self.as_user(mechanism, protocol=protocol)
            yield "OAUTHBEARER", listener, self.as_bearer(3600, protocol=protocol)
        yield "a token from a command", "OPEN", {
            "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.token.command": f"cat {path('token')}"}
        yield "a token from a provider", "OPEN", self.as_client()
        yield "a password in a file", "CLOSED", {
            **self.trusting(), "security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN",
            "sasl.username": "alice", "sasl.password": f"file:{password}"}

    # ---- Reading

    def check_ways(self):
        plain = ["-b", self.address("PLAINTEXT")]
        digest = self.read("in the open", plain)
        self.replay(plain, "plain")
        check("something was read", None if digest.count(b"\n") == 2 else f"{digest}")
        for what, listener, properties in self.ways():
            attempt(f"{what}, at {listener}", self.check_way, listener, properties, digest)

    def check_way(self, listener, properties, digest):
        flags = self.flags(listener, properties)
        got = self.read(listener, flags)
        check(f"{listener}, digest", None if got == digest else f"{digest} expected, got {got}")
        self.replay(flags, f"to-{self.made}")
        check(f"{listener}, a replay", differ_files(files(f"{self.folder}/plain"),
                                                    files(f"{self.folder}/to-{self.made}")))

    def read(self, what, flags):
        done = run("read", "-q", *flags, "-e", "-t", TOPIC, "--digest").expect(0)
        check(f"{what}, nothing on stderr", None if done.err == b"" else f"{done.err[-500:]}")
        return done.out

    def replay(self, flags, to):
        krc("replay", "-q", *flags, "-t", TOPIC, "--to", f"{self.folder}/{to}")

    # ---- Refusals

    def refusals(self):
        """What is wrong -> listener, properties, words of the message."""
        path, write = self.certificates.path, self.certificates.write
        plain = {"security.protocol": "PLAINTEXT"}
        yield "a wrong password, PLAIN", "OPEN", self.as_user("PLAIN", "s3cret"), (
            "Authentication failed", "password")
        for mechanism in SCRAMS:
            yield f"a wrong password, {mechanism}", "CLOSED", self.as_user(
                mechanism, "s3cret", "SASL_SSL"), ("Authentication failed", "credentials")
        yield "no such mechanism", "ONE", self.as_user("PLAIN"), ("PLAIN", "SCRAM-SHA-256")
        yield "a token that has expired", "OPEN", self.as_bearer(-60, "expired"), ("token",)
        yield "a wrong secret at a provider", "OPEN", self.as_client("s3cret"), (
            "401", "invalid_client", "no such client")
        yield "a provider of another authority", "OPEN", self.as_client(authority="stranger"), (
            "token", "certificate")
        write("no-token", "s3cret token\n")
        yield "no token", "OPEN", {**self.as_bearer(60, "other"),
                                   "sasl.oauthbearer.token.endpoint.url":
                                   f"file://{path('no-token')}"}, ("no-token", "token")
        yield "another authority", "TLS", self.trusting(
            ssl_truststore_location=path("stranger.crt")), ("certificate",)
        yield "the system's authorities", "TLS", {"security.protocol": "SSL"}, (
            "certificate", "ssl.truststore.location")
        yield "an expired certificate", "EXPIRED", self.trusting(), ("certificate", "expired")
        yield "another host's certificate", "ELSEWHERE", self.trusting(), (
            "certificate", "127.0.0.1")
        yield "no certificate of ours", "MUTUAL", self.trusting(), (
            "certificate", "ssl.keystore")
        yield "one of a stranger's", "MUTUAL", self.trusting(
            ssl_keystore_location=self.stranger()), ("certificate",)
        yield "TLS 1.3 to TLS 1.2", "OLDER", self.trusting(ssl_enabled_protocols="TLSv1.3"), (
            "version",)
        yield "PLAINTEXT to TLS", "TLS", plain, ("TLS", "security.protocol")
        yield "SASL_PLAINTEXT to SASL_SSL", "CLOSED", self.as_user("PLAIN"), (
            "TLS", "security.protocol")
        yield "TLS to PLAINTEXT", "PLAINTEXT", self.trusting(), ("TLS", "security.protocol")
        yield "PLAINTEXT to SASL", "OPEN", plain, ("SASL", "security.protocol")
        yield "SASL to PLAINTEXT", "PLAINTEXT", self.as_user("PLAIN"), ("SASL",)
        yield "TLS to SASL_SSL", "CLOSED", self.trusting(), ("SASL", "security.protocol")
        yield "SASL_SSL to SASL_PLAINTEXT", "OPEN", self.as_user("PLAIN", protocol="SASL_SSL"), (
            "TLS",)
        yield "a wrong password of a key", "MUTUAL", self.trusting(
            ssl_keystore_location=path("encrypted.pem"), ssl_key_password="s3cret"), (
                "ssl.key.password",)
        yield "a wrong password of a file", "TLS", self.trusting(
            ssl_truststore_location=path("authority.p12"), ssl_truststore_password="s3cret"), (
                "ssl.truststore.password",)
        yield "no password", "OPEN", {"security.protocol": "SASL_PLAINTEXT",
                                      "sasl.mechanism": "PLAIN", "sasl.username": "alice"}, (
                                          "sasl.password",)
        yield "no file of authorities", "TLS", self.trusting(
            ssl_truststore_location=path("none")), ("ssl.truststore.location", "none")

    def stranger(self):
        """A certificate that an authority signed whom the broker does not know."""
        text = self.certificates.text
        return self.certificates.write("stranger.pem", text("stranger.key") + text("stranger.crt"))

    def check_refusals(self):
        for what, listener, properties, words in self.refusals():
            attempt(f"refused: {what}", self.check_refusal, self.address(listener),
                    self.flags(listener, properties), words)
        attempt("refused: TLS 1.1", self.check_old_tls)

    def check_refusal(self, address, flags, words):
        for done in check_line(address, "-t", TOPIC, *flags[2:]):
            for word in words:
                done.expect_word(word)
            check(f"{done.line}, secrets", None if b"s3cret" not in done.err + done.out
                  else f"{done.err}")

    def check_old_tls(self):
        port, = free_ports(1)
        path = self.certificates.path
        server = start("openssl", "s_server", "-accept", str(port), "-cert", path("server.crt"),
                       "-key", path("server.key"), "-tls1_1", "-cipher", "ALL:@SECLEVEL=0",
                       "-quiet", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        try:
            wait_until("an old server", lambda: listens(port))
            self.check_refusal(f"127.0.0.1:{port}", self.flags("TLS", self.trusting()),
                               ("version",))
        finally:
            server.kill()
            server.wait()

    # ---- Sessions that end

    def follow(self, helper, name, properties, seconds, meanwhile=lambda: None):
        """Follows a topic that grows for so long, each record after the one before was read; ends
        sooner if krc does."""
        helper("create", name, 1)
        running = Running(self.folder, name, "read", *self.flags("SHORT", properties), "-t", name,
                          "-f", "%o\n")
        sent, end = 0, time.monotonic() + seconds
        while time.monotonic() < end and running.process.poll() is None:
            helper("send", name, 0, sent, 1, 10)
            sent += 1
            wait_until(f"{name}: record {sent}", lambda: running.lines() >= sent or
                       running.process.poll() is not None)
            meanwhile()
        return running, sent

    def check_again(self, helper):
        """Brokers end a session after two seconds, unless the client says again who it is."""
        ways = {"again-scram": self.as_user("SCRAM-SHA-256"), "again-plain": self.as_user("PLAIN"),
                "again-token": self.as_bearer(3, "again")}
        for name, properties in ways.items():
            running, sent = self.follow(helper, name, properties, 7,
                                        lambda: self.as_bearer(3, "again"))
            check(f"{name}, goes on", None if running.process.poll() is None else "it ended")
            done = running.interrupt().expect(0)
            got = done.out.decode().split()
            check(f"{name}, records", None if got == [str(i) for i in range(sent)] else f"{got}")

    def check_expiry(self, helper):
        running, _ = self.follow(helper, "expires", self.as_bearer(5, "expires"), 30)
        done = running.wait().expect(1)
        lines = [line for line in done.err.decode().splitlines() if line.startswith("krc: ")]
        check("a token that expires", None if len(lines) == 1 and "token" in lines[0]
              else f"{done.err}")

    def check_processes(self, helper):
        """What -X is given as a secret is not to be seen by who lists processes."""
        flags = ["-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN", "-X",
                 "sasl.username=alice", "-X", f"sasl.password={SECRET}"]
        running = Running(self.folder, "processes", "read", "-b", self.address("OPEN"), "-t", TOPIC,
                          "-f", "%o\n", *flags)
        running.wait_for("records", 1)
        with open(f"/proc/{running.process.pid}/cmdline", "rb") as arguments:
            seen = arguments.read()
        check("a list of processes", None if b"sasl.password" in seen and b"s3cret" not in seen
              else f"{seen}")
        running.interrupt().expect(0)


def check_secure():
    with tempfile.TemporaryDirectory() as folder, Secure(folder) as secure, \
            Helper(secure.address("PLAINTEXT"), folder) as helper:
        helper("create", TOPIC, 2)
        for partition in (0, 1):
            helper("send", TOPIC, partition, 0, 3000, 500)
        secure.check_ways()
        secure.check_refusals()
        for part in (secure.check_again, secure.check_expiry, secure.check_processes):
            attempt(part.__name__[6:], part, helper)
