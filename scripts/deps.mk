# What the build needs, and what it does without.  Optional libraries that are missing are named,
# with what is lost; WITHOUT_ISAL=1, WITHOUT_SNAPPY=1 and WITHOUT_CURL=1 build as if they were.

MISSING := $(strip $(foreach p,$(REQUIRED),$(if $(shell $(PKG) --exists $(p) 2>/dev/null && echo y),,$(p))))
DEPS_CFLAGS := $(shell $(PKG) --cflags $(REQUIRED) 2>/dev/null)
DEPS_LIBS   := $(shell $(PKG) --libs $(REQUIRED) 2>/dev/null)

HAVE_ISAL := $(if $(WITHOUT_ISAL),,$(shell $(PKG) --exists libisal 2>/dev/null && echo y))
ifeq ($(HAVE_ISAL),y)
DEPS_CFLAGS += -DKRC_WITH_ISAL
DEPS_LIBS   += $(shell $(PKG) --libs libisal)
else
LOST += "note: built without ISA-L (libisal-dev): gzip and checksums take about twice the time"
endif

# snappy's C interface; Debian's snappy has a pkg-config file, but others may not
HAVE_SNAPPY := $(if $(WITHOUT_SNAPPY),,$(shell printf '\#include <snappy-c.h>\n' | \
                 $(CC) -E - >/dev/null 2>&1 && echo y))
ifeq ($(HAVE_SNAPPY),y)
DEPS_CFLAGS += -DKRC_WITH_SNAPPY
DEPS_LIBS   += -lsnappy
else
LOST += "note: built without snappy (libsnappy-dev): batches compressed with snappy are refused"
endif

# libcurl is loaded by who fetches tokens (security/token_curl.c), not linked.
HAVE_CURL := $(if $(WITHOUT_CURL),,$(shell $(PKG) --exists libcurl 2>/dev/null && echo y))
ifeq ($(HAVE_CURL),y)
DEPS_CFLAGS += -DKRC_WITH_CURL $(shell $(PKG) --cflags libcurl)
DEPS_LIBS   += -ldl
else
LOST += "note: built without libcurl (libcurl4-openssl-dev): no OAUTHBEARER tokens by HTTP"
endif

.PHONY: deps
deps:
ifneq ($(MISSING),)
	@echo "krc needs these libraries, which pkg-config does not find: $(MISSING)" >&2
	@echo "on Debian: scripts/setup build; on other systems: README.md names the packages" >&2
	@exit 1
endif
	@for line in $(LOST); do echo "$$line"; done
