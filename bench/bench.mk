# Measurements: whole processes, taken in turns, minimum and median; ratios, never asserted.

B := $(BUILD)/bench
PEERS := $(BUILD)/peers
BENCH_BIN := $(addprefix $B/,generate bare wall measure krc_reader commits)
WHEEL := confluent-kafka==2.16.1
JARS  := $(BROKERS)/$(NEWEST)/libs

$B/generate: $B/generate.o $(BUILD)/tests/support/build.o $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(CHECK_LIBS) $(LIBS)
$B/bare $B/wall: $B/%: $B/%.o $B/decode.o $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(LIBS)
$B/krc_reader $B/commits: $B/%: $B/%.o $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(LIBS)
$B/measure: $B/measure.o
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@

# The others.  Each may be missing: without its library, its language, or the network.
RDKAFKA := $(CC) -std=c11 -D_GNU_SOURCE -I. -O2 $(WARN) bench/peers/rdkafka.c -pthread
$(PEERS)/rdkafka-debian: bench/peers/rdkafka.c bench/checksum.h
	@mkdir -p $(@D)
	$(Q)$(RDKAFKA) -o $@ -lrdkafka
$(PEERS)/rdkafka-wheel: bench/peers/rdkafka.c bench/checksum.h
	@rm -rf $(PEERS)/wheel
	@python3 -m pip install -q --root-user-action=ignore --no-deps --only-binary :all: \
	    --target $(PEERS)/wheel $(WHEEL)
	$(Q)$(RDKAFKA) -o $@ $(PEERS)/wheel/*.libs/librdkafka-*.so.1 \
	    -Wl,-rpath,'$$ORIGIN/wheel/confluent_kafka.libs'
$(PEERS)/franz: $(wildcard bench/peers/franz/*)
	@cd bench/peers/franz && go build -o $(abspath $@)
$(PEERS)/JavaReader.class: bench/peers/JavaReader.java $(JARS)
	@javac -Xlint:all -Werror -cp '$(JARS)/*' -d $(PEERS) $<

.PHONY: bench-peers
bench-peers: $(addprefix $(PEERS)/,rdkafka-debian rdkafka-wheel franz JavaReader.class)

.PHONY: bench
bench: $(BENCH_BIN) $(BUILD)/krc $(BUILD)/examples/checksum ## krc beside other clients
	@scripts/setup bench
	@$(MAKE) -k -s bench-peers || echo "bench: goes on without what could not be built" >&2
	@$(MAKE) -s $(BROKERS)/$(NEWEST)/classes
	@BUILD=$(BUILD) bench/run >$B/folders.txt && cat $B/folders.txt
	@BUILD=$(BUILD) BROKERS=$(BROKERS) JARS=$(JARS) python3 -B bench/peers.py $B/folders.txt

-include $(wildcard $B/*.d)
