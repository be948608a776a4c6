# The tests.  tests/<room>/test_*.c is one program each, built against the static library and
# `check`; tests/cmd/*.sh run the command; tests/fuzz/fuzz_*.c are fuzz targets.

CHECK_CFLAGS := $(shell $(PKG) --cflags check 2>/dev/null)
CHECK_LIBS   := $(shell $(PKG) --libs check 2>/dev/null)

UNIT_SRC    := $(sort $(wildcard tests/*/test_*.c))
UNIT_BIN    := $(UNIT_SRC:%.c=$(BUILD)/%)
SUPPORT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))
FUZZ_SRC    := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_NAMES  := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)
EXAMPLES    := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard examples/*.c)))

$(BUILD)/tests/%.o: ALL_CFLAGS += $(CHECK_CFLAGS)
$(UNIT_BIN): $(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT_OBJ) $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(CHECK_LIBS) $(LIBS)

# Allocations that fail on demand.
$(BUILD)/tests/fault/test_alloc: ALL_LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
                                                -Wl,--wrap=strdup,--wrap=strndup

# Bytes that are moved are counted.
$(BUILD)/tests/trace/test_scale $(BUILD)/tests/store/test_committed: \
    ALL_LDFLAGS += -Wl,--wrap=memmove

# Each ends with "N passed, N failed", all of them together with the sum (scripts/tally).
CHECKS := layers documented header $(if $(filter release,$(VARIANT)),hardening) unit model command \
          corpora examples tooling faults

.PHONY: check
check: ## all of them
	+@scripts/tally "" $(CHECKS:%="$(MAKE) --no-print-directory %")

.PHONY: unit
unit: $(UNIT_BIN) ## the rooms' unit tests
	@scripts/tally unit $(UNIT_BIN)

# A broker that sends what none should.
HOSTILE := $(BUILD)/tests/cmd/hostile
$(HOSTILE): $(HOSTILE).o $(SUPPORT_OBJ) $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(CHECK_LIBS) $(LIBS)

.PHONY: command
command: $(BUILD)/krc $(HOSTILE) ## the command, run by scripts
	@KRC=$(BUILD)/krc HOSTILE=$(HOSTILE) scripts/tally command \
	    $(patsubst %,"sh %",$(sort $(wildcard tests/cmd/*.sh)))

.PHONY: tooling
tooling: all ## the Makefile's other scripts, and make install, run by scripts
	+@TEST_CFLAGS="$(CFLAGS_$(VARIANT))" scripts/tally tooling $(patsubst %,"sh %",$(sort $(wildcard tests/make/*.sh)))

# ---- The state machine ---------------------------------------------------------------------------

MODEL_SRC := $(wildcard tests/model/*.c offsets/*.c)
MODEL_OBJ := $(MODEL_SRC:%.c=$(BUILD)/model.d/%.o)

# With room for two epochs, so that there are too many soon.
$(MODEL_OBJ): $(BUILD)/model.d/%.o: %.c | deps
	@mkdir -p $(@D)
	@echo "  cc $< (model)"
	$(Q)$(CC) $(ALL_CFLAGS) -DKRC_EPOCHS_MAX=2 -c $< -o $@

$(BUILD)/model: $(MODEL_OBJ) $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(LIBS)

.PHONY: model
model: $(BUILD)/model ## walks every state of the offset-tracking machine
	@$<

# ---- What is generated, and what is public -------------------------------------------------------

GENERATED := docs/offsets.md docs/groups.md docs/configuration.md
.SECONDARY: $(GENERATED:docs/%.md=$(BUILD)/docs/generate/%.o)

$(BUILD)/docs/%.md: $(BUILD)/docs/generate/%.o $(BUILD)/libkrc.a
	@$(CC) $(ALL_LDFLAGS) $^ -o $(BUILD)/docs/generate/$* $(LIBS)
	@$(BUILD)/docs/generate/$* > $@

.PHONY: docs
docs: $(GENERATED:%=$(BUILD)/%) ## writes the generated pages anew
	@for page in $(GENERATED); do cp $(BUILD)/$$page $$page; done

.PHONY: documented
documented: $(GENERATED:%=$(BUILD)/%) ## the generated pages are those of the code
	@scripts/tally documented $(foreach page,$(GENERATED),"cmp $(BUILD)/$(page) $(page) || \
	    { echo '$(page) is not what the code says: make docs'; exit 1; }")

HEADER_FLAGS := -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only

.PHONY: header
header: ## the public header is C11 and C++17
	@mkdir -p $(BUILD)
	@printf '#include <krc.h>\nint main(void) { return KRC_OK; }\n' > $(BUILD)/header.c
	@cp $(BUILD)/header.c $(BUILD)/header.cc
	@scripts/tally header \
	    $(foreach cc,gcc clang,"$(cc) -std=c11 $(HEADER_FLAGS) $(BUILD)/header.c") \
	    $(foreach cxx,g++ clang++,"$(cxx) -std=c++17 $(HEADER_FLAGS) $(BUILD)/header.cc")

.PHONY: hardening
hardening: all ## release builds: stack protector, FORTIFY, full RELRO
	@scripts/tally hardening $(foreach file,krc libkrc.so libkrc.a,"scripts/hardening $(BUILD)/$(file)")

$(EXAMPLES): $(BUILD)/examples/%: $(BUILD)/examples/%.o $(BUILD)/libkrc.so
	$(Q)$(CC) $(ALL_LDFLAGS) $< -o $@ -L$(BUILD) -lkrc -Wl,-rpath,'$$ORIGIN/..' \
	    $(if $(findstring embedded,$@),$(shell $(PKG) --libs libuv)) \
	    $(if $(findstring own_database,$@),$(shell $(PKG) --libs sqlite3))

.PHONY: examples
examples: $(EXAMPLES) ## they are built against the shared library and read a real log
	@EXAMPLES=$(BUILD)/examples scripts/tally examples "sh tests/examples.sh"

# ---- Fuzzing ----------------------------------------------------------------------------------------

FUZZ_REPLAY := $(FUZZ_NAMES:%=$(BUILD)/fuzz/replay_%)

$(FUZZ_REPLAY): $(BUILD)/fuzz/replay_%: $(BUILD)/tests/fuzz/replay.o \
                $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/libkrc.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(LIBS)

.PHONY: corpora
corpora: $(FUZZ_REPLAY) ## each fuzz target goes through its corpus
	@scripts/tally corpora \
	    $(foreach name,$(FUZZ_NAMES),"$(BUILD)/fuzz/replay_$(name) tests/fuzz/corpus/$(name)")

FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(FUZZ_NAMES)
FUZZ_FLAGS   := -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all

.PHONY: fuzz
fuzz: | deps ## libFuzzer, FUZZ_SECONDS=60 for each of FUZZ_TARGETS
	@mkdir -p build/fuzz
	@for name in $(FUZZ_TARGETS); do \
	    clang -std=c11 -D_GNU_SOURCE -Iinclude -I. $(DEPS_CFLAGS) $(FUZZ_FLAGS) \
	        tests/fuzz/fuzz_$$name.c $(LIB_SRC) -o build/fuzz/$$name $(LIBS) || exit 1; \
	    mkdir -p build/fuzz/corpus/$$name; \
	    build/fuzz/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
	        -artifact_prefix=build/fuzz/$$name- -print_final_stats=1 build/fuzz/corpus/$$name \
	        tests/fuzz/corpus/$$name 2>build/fuzz/$$name.log || \
	        { tail -40 build/fuzz/$$name.log; exit 1; }; \
	    echo "fuzz $$name: $(FUZZ_SECONDS) s without a finding"; \
	done

# ---- Real brokers -----------------------------------------------------------------------------------

BROKERS := build/brokers
NEWEST  := 4.3.1
CLIENT  := 3.9.1
OLDER   := 0.11.0.3 1.1.1 2.8.2
BROKER_RUN := BROKERS=$(BROKERS) KRC=$(BUILD)/krc python3 -B tests/broker/check.py

.PHONY: java
java:
	@scripts/setup brokers

.PRECIOUS: $(BROKERS)/%/libs
$(BROKERS)/%/libs: tests/broker/poms/%.xml | java
	@rm -rf $@
	@mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(abspath $@)
	@touch $@

$(BROKERS)/%/classes: $(BROKERS)/%/libs $(wildcard tests/broker/java/*.java)
	@rm -rf $@
	@javac -Xlint:all -Werror -cp '$</*' -d $@ tests/broker/java/*.java

$(BROKERS)/kfake: $(wildcard tests/broker/kfake/*) | java
	@command -v go >/dev/null || { echo "kfake needs Go 1.26 or later" >&2; exit 1; }
	@cd tests/broker/kfake && go build -o $(abspath $@)

.PHONY: check-brokers
check-brokers: $(BUILD)/krc $(EXAMPLES) $(BROKERS)/$(NEWEST)/classes ## against Kafka: its tools, consumer, broker
	@$(BROKER_RUN) $(SCENARIOS)

# The clients of the newest broker talk to none before 2.1.
.PHONY: check-versions
check-versions: $(BUILD)/krc $(BROKERS)/$(CLIENT)/classes $(BROKERS)/$(NEWEST)/classes \
                $(OLDER:%=$(BROKERS)/%/libs) $(BROKERS)/kfake ## against older brokers, and another's
	@$(BROKER_RUN) versions

# ---- A fresh machine --------------------------------------------------------------------------------

.PHONY: check-fresh
check-fresh: ## README.md's commands in bare roots of Debian 12 and 13, and every compiler; as root
	@scripts/check-fresh

# ---- Faults -----------------------------------------------------------------------------------------

FAULT_RUN := KRC=$(BUILD)/krc SHIM=$(BUILD)/tests/fault/shim.so GENERATE=$(BUILD)/bench/generate \
             POWERCUT=$(BUILD)/tests/fault/powercut ASAN_OPTIONS=verify_asan_link_order=0
FAULT_DEPS := $(BUILD)/krc $(BUILD)/tests/fault/shim.so $(BUILD)/tests/fault/powercut \
              $(BUILD)/bench/generate
# Power cuts are made from a trace: what is written needs no real disk.
IN_MEMORY := $(if $(wildcard /dev/shm/.),TMPDIR=/dev/shm)

$(BUILD)/tests/fault/shim.so: tests/fault/shim.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -fPIC -O2 $(WARN) -shared $< -o $@ -pthread
$(BUILD)/tests/fault/powercut: tests/fault/powercut.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 $(WARN) $< -o $@

.PHONY: faults
faults: $(FAULT_DEPS) ## replays that are killed, lose power, meet full disks: a sample
	@$(FAULT_RUN) scripts/tally faults \
	    "$(IN_MEMORY) STRIDE=40 sh tests/fault/faults.sh" \
	    "$(IN_MEMORY) sh tests/fault/limits.sh" \
	    "KILLS=16 RECORDS=100000 sh tests/fault/kill.sh"

.PHONY: soak
soak: $(FAULT_DEPS) ## the same at every writing call, and 200 kills over 200 MB
	@$(FAULT_RUN) scripts/tally soak \
	    "$(IN_MEMORY) STRIDE=1 sh tests/fault/faults.sh" \
	    "$(IN_MEMORY) sh tests/fault/limits.sh" \
	    "KILLS=200 RECORDS=2000000 sh tests/fault/kill.sh"

# ---- valgrind ---------------------------------------------------------------------------------------

.PHONY: valgrind
valgrind: $(UNIT_BIN) ## the unit tests under valgrind
	@for t in $(UNIT_BIN); do CK_TIMEOUT_MULTIPLIER=60 valgrind -q --leak-check=full \
	    --errors-for-leak-kinds=definite --error-exitcode=9 $$t || exit 1; done

-include $(UNIT_SRC:%.c=$(BUILD)/%.d) $(SUPPORT_OBJ:.o=.d) $(MODEL_OBJ:.o=.d) $(HOSTILE:=.d) \
         $(FUZZ_SRC:%.c=$(BUILD)/%.d)
