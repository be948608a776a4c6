"""What replays have written."""
import os
import re
import sqlite3
import subprocess

UNPACK = {"jsonl": "cat", "zst": "zstdcat", "gz": "zcat"}
PLACE = re.compile(rb'"partition":(\d+),"offset":(\d+)')


def places(to):
    """PARTITION, OFFSET of each record in an output of one topic."""
    if to.startswith("sqlite:"):
        with sqlite3.connect(to[7:]) as db:
            return db.execute("SELECT partition, offset FROM records").fetchall()
    found = []
    for name in os.listdir(to):
        if ".jsonl" in name:
            data = subprocess.run([UNPACK[name.rsplit(".")[-1]], f"{to}/{name}"],
                                  stdout=subprocess.PIPE, check=True).stdout
            found += [(int(p), int(o)) for p, o in PLACE.findall(data)]
    return found
