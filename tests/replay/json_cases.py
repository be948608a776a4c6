"""Each line of a file: a value in hexadecimal, and the JSON line that is to hold it."""
import base64
import json
import sys


def expected(value):
    try:
        return "value", value.decode()
    except UnicodeDecodeError:
        return "valueBase64", base64.b64encode(value).decode()


cases = 0
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        text, _, got = line.partition(b" ")
        name, want = expected(bytes.fromhex(text.decode()))
        if json.loads(got).get(name) != want:
            sys.exit(f"{text!r}: {got!r}")
        cases += 1
if cases < 300_000:
    sys.exit(f"only {cases} cases")
