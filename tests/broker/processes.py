"""Processes that end when this one does, however it ends."""
import ctypes
import os
import signal
import subprocess
import time

PATIENCE = 60  # seconds for anything that a broker is to do
BROKERS = os.environ.get("BROKERS", "build/brokers")
NEWEST = "4.3.1"
OPENED = [f"--add-opens=java.base/{package}=ALL-UNNAMED"  # for brokers older than this Java
          for package in ("java.nio", "java.lang", "sun.nio.ch")]
PR_SET_PDEATHSIG = 1

libc = ctypes.CDLL(None)
started = []


def start(*arguments, **how):
    """Killed by the kernel if this process is killed."""
    process = subprocess.Popen(
        arguments, preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL), **how)
    started.append(process)
    return process


def end_all():
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


def wait_until(what, condition, patience=PATIENCE):
    """What the condition says once it says anything but no."""
    end = time.monotonic() + patience
    while True:
        said = condition()
        if said:
            return said
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {patience} s")
        time.sleep(0.1)


def java(heap, *arguments, version=NEWEST):
    folder = f"{BROKERS}/{version}"
    return ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *OPENED,
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            "-cp", f"{folder}/classes:{folder}/libs/*", *arguments]
