#!/bin/sh
# The examples that read a log folder, run twice where they keep a database.  EXAMPLES names their
# folder.

me=tests/examples.sh
. tests/cmd/common

same 'checksum' 1 "$("$EXAMPLES/checksum" "$LOGS" txns 2>/dev/null | grep -c '^228 records')"
for run in first second; do
    same "own_database, its $run run" 1 \
        "$("$EXAMPLES/own_database" "$LOGS" txns "$dir/totals.db" | grep -c '^txns-1: 122 records')"
done
