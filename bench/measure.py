"""What runs of a command took, and tables of that."""
import os
import re
import statistics
import subprocess

from processes import start

BUILD = os.environ.get("BUILD", "build/release")
RUN_SECONDS = 600  # one that lasts longer has hung


class Runs:
    """The runs of one command."""

    def __init__(self):
        self.cpu, self.wall, self.peak, self.said = [], [], [], []

    def run(self, command, work, output=subprocess.PIPE):
        """Once more; ends everything where it fails."""
        took = f"{work}/took"
        process = start(f"{BUILD}/bench/measure", took, *command, stdin=subprocess.DEVNULL,
                        stdout=output, stderr=subprocess.PIPE)
        said, errors = process.communicate(timeout=RUN_SECONDS)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}: "
                             f"{errors.decode()[-1000:]}")
        with open(took) as file:
            cpu, wall, kilobytes = file.read().split()
        os.unlink(took)
        self.cpu.append(float(cpu))
        self.wall.append(float(wall))
        self.peak.append(int(kilobytes) / 1024)
        self.said.append((said or b"").decode().strip())

    def numbers(self, pattern):
        """A number that each run says."""
        return [float(re.search(pattern, said)[1]) for said in self.said]


def both(values, form="{:.2f}"):
    """Minimum and median."""
    return " / ".join(form.format(v) for v in (min(values), statistics.median(values)))


def ratio(values, base):
    """How many times the base's median."""
    return f"{statistics.median(values) / max(statistics.median(base), 1e-9):.2f}"


def table(head, rows):
    """A table of Markdown, whose columns line up in a terminal too."""
    rows = [head, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    rows.insert(1, ["-" * width for width in widths])
    return "".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths))
                   + " |\n" for row in rows)
