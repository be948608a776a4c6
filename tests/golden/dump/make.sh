#!/bin/sh
# Writes what Apache Kafka's own DumpLogSegments shows of every segment in ../fixtures:
#     FOLDER/TOPIC-PARTITION/SEGMENT.txt.gz
# with keys and values, except for the codec-* topics, whose large values the fixtures' expected
# files have already.
#
#     make.sh LIBS     a folder with the jars of kafka_2.13, kafka-tools 4.3.1 and slf4j-simple
set -eu
libs=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
cd "$here/../fixtures"
for log in */*-[0-9]*/*.log; do
    case $log in
    */codec-*) print= ;;
    *) print=--print-data-log ;;
    esac
    mkdir -p "$here/$(dirname "$log")"
    java -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$libs/*" \
        org.apache.kafka.tools.DumpLogSegments --deep-iteration $print --files "$log" 2>/dev/null |
        gzip -9n >"$here/${log%.log}.txt.gz"
done
