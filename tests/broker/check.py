#!/usr/bin/env python3
"""krc against Apache Kafka itself: `make check-brokers`; `check.py SCENARIO...` for some of it."""
import glob
import signal
import sys

from broker import check_broker
from cluster import check_cluster
from common import attempt, summary
from elections import check_elections
from groups import check_groups
from migrate import check_migrate
from offsets import check_offsets
from processes import end_all
from refused import check_refused
from secure import check_secure
from segments import check_segments
from stalls import check_stalls
from stress import check_stress
from txns import check_txns
from versions import check_versions

SCENARIOS = {
    "segments": lambda: check_segments(sorted(glob.glob("tests/golden/fixtures/kafka-*"))),
    "online": check_broker,
    "stress": check_stress,
    "cluster": check_cluster,
    "elections": check_elections,
    "stalls": check_stalls,
    "refused": check_refused,
    "secure": check_secure,
    "groups": check_groups,
    "txns": check_txns,
    "offsets": check_offsets,
    "migrate": check_migrate,
    "versions": check_versions,
}
DEFAULT = ("segments", "online", "stress", "cluster", "elections", "stalls", "refused", "secure",
           "groups", "txns", "offsets", "migrate")


def main():
    names = sys.argv[1:] or DEFAULT
    unknown = sorted({*names} - {*SCENARIOS})
    if unknown:
        sys.exit(f"no scenario {unknown[0]}; there are {', '.join(SCENARIOS)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # a shell that begins this in the background ignores it, and so would what is begun here, until
    # it has a handler of its own
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for name in names:
            attempt(name, SCENARIOS[name])
    finally:
        end_all()
    sys.exit(summary())


main()
