# The tests: tests/<room>/test_*.c is one program each, built against the static library's objects
# and `check`.

CHECK_CFLAGS := $(shell $(PKG) --cflags check 2>/dev/null)
CHECK_LIBS   := $(shell $(PKG) --libs check 2>/dev/null)

UNIT_SRC := $(sort $(wildcard tests/*/test_*.c))
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)
SUPPORT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))

$(BUILD)/tests/%.o: ALL_CFLAGS += $(CHECK_CFLAGS)
$(UNIT_BIN): $(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT_OBJ) $(BUILD)/libkrc.a
	$(CC) $(ALL_LDFLAGS) $^ -o $@ $(CHECK_LIBS) $(LIBS)

.PHONY: unit
unit: $(UNIT_BIN) ## the rooms' unit tests
	@for t in $(UNIT_BIN); do $$t || exit 1; done

.PHONY: command
command: $(BUILD)/krc ## the command's tests: each script runs it as $KRC
	@for t in $(sort $(wildcard tests/cmd/*.sh)); do KRC=$(BUILD)/krc sh $$t || exit 1; done

-include $(UNIT_SRC:%.c=$(BUILD)/%.d) $(SUPPORT_OBJ:.o=.d)
