# Measurements: whole processes, taken in turns, minimum and median; ratios, never asserted.

BENCH_BIN := $(BUILD)/bench/generate $(BUILD)/bench/bare $(BUILD)/bench/measure

$(BUILD)/bench/generate: $(BUILD)/bench/generate.o $(BUILD)/tests/support/build.o \
                         $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(CHECK_LIBS) $(LIBS)
$(BUILD)/bench/bare: $(BUILD)/bench/bare.o $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(LIBS)

$(BUILD)/bench/measure: $(BUILD)/bench/measure.o
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@

.PHONY: bench
bench: $(BENCH_BIN) $(BUILD)/krc $(BUILD)/examples/checksum ## measures; BENCH_RECORDS=2000000
	@BUILD=$(BUILD) bench/run
