# krc: libkrc and the command krc.
#
#   make                 build/release/krc, libkrc.a, libkrc.so
#   make check           the tests; VARIANT=release|asan|ubsan|tsan|cov
#   make help            everything else
#
# V=1 shows the commands; WERROR=1 makes warnings errors, as .ci/run does.

Q := $(if $(V),,@)
VARIANT ?= release
CC      ?= cc
BUILD   := build/$(VARIANT)
PKG     := pkg-config

ROOMS   := base records txnfilter logdir offsets store protocol security groups cluster consumer \
           admin replay
LIB_SRC := $(sort $(foreach room,$(ROOMS),$(wildcard $(room)/*.c)))
CMD_SRC := $(sort $(wildcard cmd/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(BUILD)/%.o)

REQUIRED := libuv sqlite3 libzstd liblz4 zlib openssl
include scripts/deps.mk

WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
          -Wwrite-strings -Wcast-qual -Wpointer-arith -Wvla -Wformat=2 -Wundef \
          $(if $(WERROR),-Werror)
# The C library fortifies only what is optimised, and sanitizers look for the same themselves; a
# packager's own choice of it stands.
NO_FORTIFY := $(filter -O0,$(lastword $(filter -O%,$(CFLAGS)))) $(filter -fsanitize=%,$(CFLAGS)) \
              $(findstring _FORTIFY_SOURCE,$(CFLAGS))
HARDEN     := -fstack-protector-strong \
              $(if $(strip $(NO_FORTIFY)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
CFLAGS_release := -O2 -g $(HARDEN)
LDFLAGS_release := -Wl,-z,relro,-z,now
CFLAGS_asan    := -O1 -g -fsanitize=address -fno-omit-frame-pointer
CFLAGS_ubsan   := -O1 -g -fsanitize=undefined -fno-sanitize-recover=all
CFLAGS_tsan    := -O1 -g -fsanitize=thread
CFLAGS_cov     := -O0 -g --coverage
CHECKED        := $(if $(filter release,$(VARIANT)),,-DKRC_CHECKED)
ifeq ($(CFLAGS_$(VARIANT)),)
$(error VARIANT is one of release, asan, ubsan, tsan, cov: not "$(VARIANT)")
endif
ALL_CFLAGS  := -std=c11 -D_GNU_SOURCE -Iinclude -I. -fPIC -fvisibility=hidden -pthread -MMD -MP \
               $(WARN) $(CFLAGS_$(VARIANT)) $(CHECKED) $(DEPS_CFLAGS) $(CFLAGS)
ALL_LDFLAGS := $(CFLAGS_$(VARIANT)) $(LDFLAGS_$(VARIANT)) -pthread $(LDFLAGS)
LIBS        := $(DEPS_LIBS) -pthread

.DEFAULT_GOAL := all
.PHONY: all
all: $(BUILD)/krc $(BUILD)/libkrc.a $(BUILD)/libkrc.so

$(BUILD)/%.o: %.c | deps
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BUILD)/libkrc.a: $(LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/libkrc.so: $(LIB_OBJ)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libkrc.so.0 $^ -o $@ $(LIBS)
	@ln -sf libkrc.so $(BUILD)/libkrc.so.0

$(BUILD)/krc: $(CMD_OBJ) $(BUILD)/libkrc.a
	$(Q)$(CC) $(ALL_LDFLAGS) -pie $^ -o $@ $(LIBS)

include tests/tests.mk
include bench/bench.mk

PREFIX ?= /usr/local

.PHONY: install
install: all ## into PREFIX (/usr/local)
	install -D -m 644 include/krc.h $(DESTDIR)$(PREFIX)/include/krc.h
	install -D -m 644 $(BUILD)/libkrc.a $(DESTDIR)$(PREFIX)/lib/libkrc.a
	install -D -m 755 $(BUILD)/libkrc.so $(DESTDIR)$(PREFIX)/lib/libkrc.so.0
	ln -sf libkrc.so.0 $(DESTDIR)$(PREFIX)/lib/libkrc.so
	install -D -m 755 $(BUILD)/krc $(DESTDIR)$(PREFIX)/bin/krc
	mkdir -p $(DESTDIR)$(PREFIX)/lib/pkgconfig
	version=$$(sed -n 's/^.define KRC_VERSION "\(.*\)"/\1/p' include/krc.h); \
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBS@|$(LIBS)|' -e "s|@VERSION@|$$version|" scripts/krc.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/krc.pc
	@$(if $(DESTDIR),,scripts/loader $(PREFIX)/lib)

.PHONY: demo
demo: all ## a replay that is killed on the way, goes on, and accounts for every offset
	@KRC=$(BUILD)/krc scripts/demo

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile tests/tests.mk bench/bench.mk | \
	    awk -F '|' '{ printf "  make %-14s %s\n", $$1, $$2 }'

.PHONY: layers
layers: ## every room sees only rooms above it
	@scripts/layers

.PHONY: clean
clean:
	rm -rf build

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d)
