#!/bin/sh
# The properties that krc is given: -X, -X list, and -F with a properties file.

me=tests/cmd/config.sh
. tests/cmd/common
file=$dir/client.properties
ignored='krc: DIR/client.properties: these properties do not apply and are ignored:'

# read_records ARGUMENTS...: how many records of a log with aborted ones
read_records() {
    run 0 read -q -d "$LOGS" -t txns -f '%o\n' "$@"
    wc -l <"$dir/out"
}

# ---- A file, and options that say otherwise, in either order
printf '%s\n' '# as for kafka-console-consumer.sh' 'isolation.level = read_uncommitted' \
    'acks=all' 'key.deserializer org.apache.kafka.common.serialization.StringDeserializer' >"$file"
committed=$(read_records)
uncommitted=$(read_records --isolation-level read_uncommitted)
same 'some records are aborted' true "$([ "$uncommitted" -gt "$committed" ] && echo true)"
same 'a file counts' "$uncommitted" "$(read_records -F "$file")"
same 'by its long name' "$uncommitted" "$(read_records --command-config "$file")"
same 'an option counts more' "$committed" \
    "$(read_records -F "$file" --isolation-level read_committed)"
same 'whatever the order' "$committed" \
    "$(read_records --isolation-level read_committed -F "$file")"
same '-X likewise' "$committed" "$(read_records -X isolation.level=read_committed -F "$file")"
same 'in either order' "$committed" "$(read_records -F "$file" -X isolation.level=read_committed)"

# ---- Folders: those of the command line stand in the place of the file's
printf 'log.dirs = %s\n' "$FIXTURES/kafka-0.8.2" >"$file"
expect 0 v0-gzip '' read -q -F "$file" -t v0-gzip -c 1 -f '%t'
expect 0 txns '' read -q -F "$file" -d "$LOGS" -t txns -c 1 -f '%t'
expect 0 txns '' read -q -d "$LOGS" -F "$file" -t txns -c 1 -f '%t'

# ---- What does not apply is said in one line; what is wrong, with its line
printf 'acks=all\nenable.auto.commit=true\nvalue.deserializer=x\n' >"$file"
expect 0 txns "$ignored acks, enable.auto.commit, value.deserializer" \
    read -q -F "$file" -d "$LOGS" -t txns -c 1 -f '%t'
printf 'acks=all\n\nisolaton.level=read_committed\n' >"$file"
expect 2 '' "$ignored acks
krc: DIR/client.properties, line 3: there is no property \"isolaton.level\"; the nearest is isolation.level$more" \
    read -F "$file" -d "$LOGS"
printf 'security.protocol=TLS\n' >"$file"
expect 2 '' "krc: DIR/client.properties, line 1: security.protocol cannot be \"TLS\": it is one of: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL$more" \
    read -F "$file" -d "$LOGS"
expect 2 '' "krc: cannot open DIR/none: No such file or directory$more" \
    read -F "$dir/none" -d "$LOGS"

# ---- -X
expect 2 '' "krc: acks is a property of Kafka's clients that does not apply to krc: it is for producers$more" \
    read -X acks=all -d "$LOGS"
expect 2 '' "krc: there is no property \"fetch.wait.max.ms\"; the nearest is fetch.max.wait.ms$more" \
    read -X fetch.wait.max.ms=1 -d "$LOGS"
expect 2 '' "krc: fetch.max.wait.ms cannot be \"1s\": it is a number of milliseconds from 0 to 2147483647$more" \
    read -X fetch.max.wait.ms=1s -d "$LOGS"

# ---- Secrets: said of files that others can read, kept from messages
nobody=127.0.0.1:1
opened='krc: warning: DIR/client.properties holds a secret, and others can read it: chmod 600 it'
printf 'sasl.password=pass-word\n' >"$file"
chmod 644 "$file"
unsaid='krc: sasl.password is set, and security.protocol is not: set it to SASL_SSL or SASL_PLAINTEXT, or to PLAINTEXT where neither is wanted'
expect 1 '' "$opened
$unsaid" read -F "$file" -b $nobody -t txns
chmod 600 "$file"
expect 1 '' "$unsaid" read -F "$file" -b $nobody -t txns
expect 0 txns '' read -q -F "$file" -d "$LOGS" -t txns -c 1 -f '%t'
printf 'sasl.jaas.config=a\n  pass-word";\n' >"$file"
expect 2 '' "krc: DIR/client.properties, line 2: this is no name of a property (a value that goes on in the next line has a backslash at the end of its own)$more" \
    read -F "$file" -b $nobody -t txns
expect 1 '' 'krc: sasl.jaas.config: "required" is missing behind the login module' \
    read -X security.protocol=SASL_SSL -X sasl.mechanism=PLAIN -X sasl.jaas.config='pass-word;' \
    -b $nobody -t txns
expect 2 '' "krc: sasl.mechanism \"GSSAPI\" is not supported: it takes a Kerberos library, which krc does without; there are PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER$more" \
    read -X sasl.mechanism=GSSAPI -b $nobody -t txns

# ---- The list
run 0 read -X list
same '-X list has what is documented' "$(sed -n 's/^| `\([^`]*\)`.*/\1/p' docs/configuration.md)" \
    "$(sed -n 's/^\([a-z.0-9]*\) = .*/\1/p' "$dir/out")"
