"""What keeps krc from going on is said within ten seconds, by its cause, in each command."""
import os
import signal
import tempfile
import time

from common import Running, attempt, check
from kafka import Broker, Helper
from processes import wait_until
from proxy import Shears

WORDS_IN, PATIENCE = 10, 25  # seconds
LITTLE = 300  # bytes: not even the first answer comes through


def said(folder, symptom, words, *arguments):
    """How long it takes until it says so."""
    begun = time.monotonic()
    running = Running(folder, f"stall-{begun}", *arguments)
    try:
        wait_until(words, lambda: words in running.done().err.decode(), PATIENCE)
        seconds = time.monotonic() - begun
        check(f"{symptom}, {arguments[0]}: within {WORDS_IN} s",
              None if seconds <= WORDS_IN else f"after {seconds:.1f} s")
        if "STALLS" in os.environ:
            print(f"{symptom} | {arguments[0]} | {words} | {seconds:.1f} s")
    except SystemExit:
        check(f"{symptom}, {arguments[0]}: {words}", running.done().err.decode()[-1000:])
    finally:
        running.process.kill()
        running.process.wait()


def commands(folder, name, bootstrap):
    source = ["-b", bootstrap]
    return (["read", *source, "-t", "t"],
            ["replay", *source, "-t", "t", "--to", f"{folder}/{name}"],
            ["topics", *source],
            ["txns", *source, "-t", "t"],
            ["offsets", "list", *source, "-g", "g"])


def a_wrong_address(folder, broker):
    """Nobody listens where the broker says that it does."""
    for command in commands(folder, "wrong", f"127.0.0.1:{broker.proxied}"):
        said(folder, "a wrong address", "advertised.listeners", *command)


def a_wire_that_is_cut(folder, broker):
    with Shears(broker.proxy, broker.proxied, LITTLE):
        for command in commands(folder, "cut", f"127.0.0.1:{broker.proxy}"):
            said(folder, f"cut every {LITTLE} bytes",
                 "it closed the connection in the middle of an answer", *command)


def a_broker_that_sleeps(folder, broker):
    broker.node.process.send_signal(signal.SIGSTOP)
    for command in commands(folder, "sleeps", broker.bootstrap):
        said(folder, "a broker asleep", "it takes the connection, and does not answer", *command)
    broker.node.process.send_signal(signal.SIGCONT)


def a_leader_that_falls_asleep(folder, broker):
    running = Running(folder, "falls", "read", "-b", broker.bootstrap, "-t", "t")
    running.wait_for("its records", 10)
    broker.node.process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    wait_until("it is told", lambda: "it does not answer" in running.done().err.decode(), PATIENCE)
    seconds = time.monotonic() - begun
    broker.node.process.send_signal(signal.SIGCONT)
    check("a leader that falls asleep", None if seconds <= WORDS_IN else f"after {seconds:.1f} s")
    running.interrupt().expect(0)


def a_pattern_without_topics(folder, broker):
    for protocol in ("classic", "consumer"):
        said(folder, f"no topic, {protocol}", "no topic matches the pattern", "read", "-b",
             broker.bootstrap, "-t", "^none", "-g", "g", "--join", "-X",
             f"group.protocol={protocol}")


def check_stalls():
    with tempfile.TemporaryDirectory() as folder, Broker(folder) as broker, \
            Helper(broker.bootstrap, folder) as helper:
        helper("create", "t", 1)
        helper("send", "t", 0, 0, 10, 10)
        for part in (a_wrong_address, a_wire_that_is_cut, a_pattern_without_topics,
                     a_broker_that_sleeps, a_leader_that_falls_asleep):
            attempt(f"stalls: {part.__name__}", part, folder, broker)
