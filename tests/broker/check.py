#!/usr/bin/env python3
"""krc against Apache Kafka itself: `make check-brokers`."""
import glob
import sys

from broker import check_broker
from common import summary
from segments import check_segments

check_segments(sorted(glob.glob("tests/golden/fixtures/kafka-*")))
check_broker()
sys.exit(summary())
