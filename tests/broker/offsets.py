"""Committed offsets: krc against Kafka's own tool, on a broker and on its folder."""
import csv
import json
import subprocess
import tempfile

from common import attempt, check, differ, krc, run
from kafka import Broker, Helper
from processes import java, start, wait_until

TOPICS = {"plain": 3, "with.dots_and-dashes": 2, "twenty-five-letters-long-x": 1}
COUNTS = {(topic, partition): 100 + 10 * i
          for i, (topic, partition) in enumerate((t, p) for t in TOPICS for p in range(TOPICS[t]))}
GROUPS = ["g", "two words", 'a "quoted", one']  # the names that CSV is about


def kafka_groups(bootstrap, *arguments):
    """What kafka-consumer-groups.sh prints."""
    return subprocess.run(
        java("200m", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
             "--bootstrap-server", bootstrap, *arguments),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout.decode()


def kafka_export(bootstrap, group):
    return kafka_groups(bootstrap, "--reset-offsets", "--to-current", "--export", "--all-topics",
                        "--dry-run", "--group", group)


def rows(text):
    return sorted(tuple(row) for row in csv.reader(text.splitlines()) if row)


def listed(*place):
    """TOPIC, PARTITION -> what krc lists."""
    lines = krc("offsets", "list", "-J", *place).splitlines()
    return {(row["topic"], row["partition"]): row for row in map(json.loads, lines)}


def committed(rows_of):
    return {place: row["committedOffset"] for place, row in rows_of.items()}


def begin(helper):
    for topic, partitions in TOPICS.items():
        helper("create", topic, partitions)
    for (topic, partition), count in COUNTS.items():
        helper("send", topic, partition, 0, count, 8)


def check_numbers(bootstrap, helper):
    """Each number of Kafka's description."""
    for i, (topic, partition) in enumerate(COUNTS):
        helper("commit", "g", topic, partition, 7 * i)
    want = {}
    for line in kafka_groups(bootstrap, "--describe", "--group", "g").splitlines():
        words = line.split()
        if words and words[0] == "g":
            want[words[1], int(words[2])] = [int(word) for word in words[3:6]]
    got = listed("-b", bootstrap, "-g", "g")
    check("committed offsets, ends and lag", differ(
        sorted(want.items()), sorted((place, [row["committedOffset"], row["highWatermark"],
                                              row["lag"]]) for place, row in got.items())))
    exact = [json.loads(line) for line in krc("offsets", "lag", "--exact", "-J", "-b", bootstrap,
                                              "-g", "g").splitlines()]
    check("the records that are left", differ(
        [row["lag"] for row in exact], [row["lagRecords"] for row in exact]))


def check_csv(folder, bootstrap):
    """A text of either is the other's, whatever a group is called."""
    exported = krc("offsets", "export", "-b", bootstrap, "-g", "g").decode()
    check("krc's export and Kafka's", differ(rows(kafka_export(bootstrap, "g")), rows(exported)))
    for group in GROUPS[1:]:
        with open(f"{folder}/krc.csv", "w") as file:
            file.write(exported)
        kafka_groups(bootstrap, "--reset-offsets", "--from-file", f"{folder}/krc.csv",
                     "--execute", "--group", group)
        check(f"Kafka took krc's offsets for {group}", differ(
            rows(exported), rows(krc("offsets", "export", "-b", bootstrap, "-g",
                                     group).decode())))
    everything = kafka_groups(bootstrap, "--reset-offsets", "--to-current", "--export",
                              "--all-topics", "--dry-run", "--all-groups")
    check("of all groups", differ(
        rows(everything), rows(krc("offsets", "export", "-b", bootstrap).decode())))
    with open(f"{folder}/krc.csv", "w") as file:
        file.write(krc("offsets", "export", "-b", bootstrap).decode())
    named = [word for group in GROUPS for word in ("--group", group)]
    kafka_groups(bootstrap, "--delete", *named)
    check("the groups are gone", krc("offsets", "export", "-b", bootstrap).decode().strip() or None)
    kafka_groups(bootstrap, "--reset-offsets", "--from-file", f"{folder}/krc.csv", "--execute",
                 *named)
    check("Kafka took all of krc's", differ(rows(everything), rows(
        krc("offsets", "export", "-b", bootstrap).decode())))
    with open(f"{folder}/kafka.csv", "w") as file:
        file.write(everything)
    run("offsets", "import", "--store", f"{folder}/store", f"{folder}/kafka.csv").expect(0)
    check("through a store", differ(rows(everything), rows(
        krc("offsets", "export", "--store", f"{folder}/store").decode())))
    with open(f"{folder}/one.csv", "wb") as file:
        file.write(krc("offsets", "export", "--store", f"{folder}/store", "-g", "two words"))
    run("offsets", "import", "-b", bootstrap, "-g", "came back", f"{folder}/one.csv").expect(0)
    check("and back into a cluster", differ(
        rows(exported), rows(kafka_export(bootstrap, "came back"))))


def planned(text):
    """TOPIC, PARTITION, the new offset: of krc's table."""
    return sorted((row[1], row[2], row[4]) for row in map(str.split, text.splitlines()[1:]))


def check_targets(bootstrap):
    """Each way to say where to is understood as Kafka does, beyond the ends of logs too."""
    for target in (["--to-earliest"], ["--to-latest"], ["--to-current"], ["--to-offset", "115"],
                   ["--shift-by", "-10"], ["--shift-by", "95"], ["--by-duration", "PT1H"],
                   ["--by-duration", "PT0S"], ["--to-datetime", "2001-02-03T04:05:06.789"]):
        want = kafka_groups(bootstrap, "--reset-offsets", *target, "--export", "--all-topics",
                            "--dry-run", "--group", "g")
        got = krc("offsets", "reset", *target, "-b", bootstrap, "-g", "g").decode()
        check(f"reset {' '.join(target)}", differ(
            [row for row in rows(want) if len(row) == 3], planned(got)))  # without warnings


def check_reset(bootstrap):
    """Shown first; then Kafka shows it too."""
    before = listed("-b", bootstrap, "-g", "g")
    run("offsets", "reset", "-b", bootstrap, "-g", "g", "--to-latest").expect(0)
    check("a dry run changes nothing", differ([before], [listed("-b", bootstrap, "-g", "g")]))
    run("offsets", "reset", "-b", bootstrap, "-g", "g", "--to-latest", "--execute").expect(0)
    want = sorted((t, str(p), str(count)) for (t, p), count in COUNTS.items())
    check("reset to latest", differ(want, rows(kafka_export(bootstrap, "g"))))
    run("offsets", "reset", "-b", bootstrap, "-g", "g", "-t", "plain:1", "--shift-by", "-30",
        "--execute").expect(0)
    check("one of them shifted", differ([COUNTS["plain", 1] - 30], [
        committed(listed("-b", bootstrap, "-g", "g"))["plain", 1]]))
    run("offsets", "list", "-b", bootstrap, "-g", "nobody").expect(1).expect_word(
        "the cluster has no group nobody")


def kafka_member(folder, bootstrap, group, protocol):
    """Kafka's console consumer."""
    properties = f"{folder}/{group}.properties"
    with open(properties, "w") as file:
        file.write(f"group.protocol={protocol}\nclient.id=busy\nauto.offset.reset=earliest\n"
                   "auto.commit.interval.ms=100\n")
    return start(*java("200m", "org.apache.kafka.tools.consumer.ConsoleConsumer",
                       "--bootstrap-server", bootstrap, "--topic", "plain", "--group", group,
                       "--command-config", properties), stdin=subprocess.DEVNULL,
                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check_members(folder, bootstrap, protocol):
    """Nothing is changed under a group's members, who are named."""
    group = f"at-work-{protocol}"
    member = kafka_member(folder, bootstrap, group, protocol)
    want = {("plain", p): COUNTS["plain", p] for p in range(3)}
    wait_until("its commits", lambda: run("offsets", "list", "-b", bootstrap, "-g", group)
               .status == 0 and committed(listed("-b", bootstrap, "-g", group)) == want)
    before = listed("-b", bootstrap, "-g", group)
    described = {int(row[2]): row[3:] for row in map(str.split, kafka_groups(
        bootstrap, "--describe", "--group", group).splitlines()) if row and row[0] == group}
    check(f"who has what, {protocol}", differ(sorted(described.items()), sorted(
        (p, [str(row["committedOffset"]), str(row["highWatermark"]), str(row["lag"]),
             row["memberId"], row["host"], row["clientId"]]) for (_, p), row in before.items())))
    check(f"at work, {protocol}", differ(["Stable"] * 3,
                                         [row["groupState"] for row in before.values()]))
    shown = ["has members", "busy", "/127.0.0.1", before["plain", 0]["memberId"]]
    for arguments, status in ((["reset", "--to-earliest"], 0),
                              (["reset", "--to-earliest", "--execute"], 1),
                              (["import", "--dry-run", f"{folder}/one.csv"], 0),
                              (["import", f"{folder}/one.csv"], 1), (["export"], 0)):
        done = run("offsets", *arguments, "-b", bootstrap, "-g", group).expect(status)
        for word in shown:
            done.expect_word(word)
    check("nothing was changed", differ([want], [
        committed(listed("-b", bootstrap, "-g", group))]))
    member.terminate()
    member.wait()
    wait_until("its end", lambda: {"Empty"} == {
        row["groupState"] for row in listed("-b", bootstrap, "-g", group).values()})
    run("offsets", "reset", "-b", bootstrap, "-g", group, "--to-earliest", "--execute").expect(0)


def check_partly(folder, bootstrap):
    """Where the broker takes some and refuses others, it is said which."""
    path = f"{folder}/partly.json"
    with open(path, "w") as file:
        json.dump([{"group": group, "topic": "plain", "partition": p, "offset": 3,
                    "metadata": "m" * (5000 if (group, p) == ("partly", 1) else 10)}
                   for group in ("before", "partly") for p in range(3)], file)
    done = run("offsets", "import", "-b", bootstrap, path).expect(1)
    for word in ("plain-1: offset 3", "OFFSET_METADATA_TOO_LARGE",
                 "committed of it: plain-0, plain-2; the groups that come before it were"):
        done.expect_word(word)
    for group, partitions in (("before", (0, 1, 2)), ("partly", (0, 2))):
        got = listed("-b", bootstrap, "-g", group)
        check(f"of {group}", differ([(p, 3, "m" * 10) for p in partitions], sorted(
            (p, row["committedOffset"], row["metadata"]) for (_, p), row in got.items())))
    with open(f"{folder}/nowhere.csv", "w") as file:
        file.write("plain,0,3\nnowhere,0,3\n")
    run("offsets", "import", "-b", bootstrap, "-g", "never", f"{folder}/nowhere.csv").expect(
        1).expect_word("the cluster has no partition nowhere-0")
    run("offsets", "list", "-b", bootstrap, "-g", "never").expect(1)


def check_open(bootstrap, helper):
    """What is committed in a transaction counts once that is; until then the commit before is
    shown, at once, and marked."""
    helper("commit", "open", "plain", 0, 5)
    helper("commit-open", "open", "plain", 0, 50)
    before = listed("-b", bootstrap, "-g", "open")
    check("before it is committed", differ([({("plain", 0): 5}, [True])], [
        (committed(before), [row["pending"] for row in before.values()])]))
    check("it is marked", "pending in a transaction" not in krc(
        "offsets", "list", "-b", bootstrap, "-g", "open").decode() or None)
    done = run("offsets", "export", "-b", bootstrap).expect(0).expect_word(
        "group open: plain-0: a newer commit is pending in an open transaction")
    check("of all groups all is told", differ(
        [True, True], [word in done.out.decode() for word in ("open,plain,0,5\n", "g,plain,0")]))
    run("read", "-b", bootstrap, "-g", "open", "-t", "plain", "-p", "0", "-e", "--timeout-ms",
        "2000").expect(1).expect_word(
            "the committed offset of plain-0 is pending in a transaction that is still open")
    helper("commit-end", "open")
    after = listed("-b", bootstrap, "-g", "open")
    check("once it is committed", differ([({("plain", 0): 50}, [False])], [
        (committed(after), [row["pending"] for row in after.values()])]))
    helper("commit-open", "open", "plain", 0, 60)  # stays so, in the folder


def check_folder(logs, by_cluster):
    """The stopped broker's folder says the same, and what is pending besides."""
    by_folder = rows(krc("offsets", "export", "-d", logs).decode())
    check("the folder's group log", differ(by_cluster, by_folder))
    pending = listed("-d", logs, "-g", "open")["plain", 0]
    check("what is pending", differ([(50, True, 60)], [
        (pending["committedOffset"], pending["pending"], pending["pendingOffset"])]))


def check_offsets():
    with tempfile.TemporaryDirectory() as folder, Broker(folder) as broker, \
            Helper(broker.bootstrap, folder) as helper:
        begin(helper)
        attempt("numbers", check_numbers, broker.bootstrap, helper)
        attempt("CSV, both ways", check_csv, folder, broker.bootstrap)
        attempt("targets", check_targets, broker.bootstrap)
        attempt("reset", check_reset, broker.bootstrap)
        for protocol in ("classic", "consumer"):
            attempt(f"a group at work, {protocol}", check_members, folder, broker.bootstrap,
                    protocol)
        attempt("offsets in a transaction", check_open, broker.bootstrap, helper)
        attempt("some refused", check_partly, folder, broker.bootstrap)
        by_cluster = [row for group in [*GROUPS, "came back", "before", "partly"] for row in rows(
            "".join(f'"{group}",{line}\n'.replace('"quoted"', '""quoted""') for line in krc(
                "offsets", "export", "-b", broker.bootstrap, "-g", group).decode().splitlines()
                if line))]
        by_cluster += [("at-work-" + protocol, "plain", str(p), "0")
                       for protocol in ("classic", "consumer") for p in range(3)]
        broker.stop()
        attempt("the same of the folder", check_folder, broker.logs,
                sorted([*by_cluster, ("open", "plain", "0", "50")]))
