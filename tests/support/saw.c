#include "tests/support/saw.h"

#include <check.h>
#include <stdio.h>

#include "tests/support/tempdir.h"

struct saw saw;

void see(krc *handle)
{
    snprintf(saw.delivered, sizeof saw.delivered, "%s", consume_all(handle));
    saw.error = *krc_last_error(handle);
    saw.at = consume_position(handle, "t", 0);
    snprintf(saw.account, sizeof saw.account, "%s", consume_account(handle, "t", 0));
    consume_events(handle, &saw.events);
}

void see_from(int64_t start, const char *name, const char *value)
{
    krc *handle = consume_open(tempdir_path("data"), name, value, NULL);
    consume_assign(handle, "t", 0, start, KRC_NO_END);
    see(handle);
    krc_close(handle);
}

void see_committed(void)
{
    see_from(KRC_EARLIEST, "isolation.level", "read_committed");
}

void check_saw(const char *delivered, const char *account)
{
    ck_assert_str_eq(saw.delivered, delivered);
    ck_assert_str_eq(saw.account, account);
}
