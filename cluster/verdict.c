#include "cluster/verdict.h"

#include "protocol/errors.h"

enum { KRC_KAFKA_OTHERS = INT16_MAX };

static const struct {
    int16_t error_code;
    uint8_t fetch, list_offsets, epoch;
} rows[] = {
#define ROW(code, fetch, list_offsets, epoch) \
    {KRC_KAFKA_##code, KRC_DO_##fetch, KRC_DO_##list_offsets, KRC_DO_##epoch},
    KRC_VERDICTS(ROW)
#undef ROW
};

static int row_of(int16_t error_code)
{
    int last = sizeof rows / sizeof *rows - 1, i = 0;
    while (i < last && rows[i].error_code != error_code)
        i++;
    return i;
}

enum krc_verdict krc_fetch_verdict(int16_t error_code)
{
    return (enum krc_verdict)rows[row_of(error_code)].fetch;
}

enum krc_verdict krc_list_offsets_verdict(int16_t error_code)
{
    return (enum krc_verdict)rows[row_of(error_code)].list_offsets;
}

enum krc_verdict krc_epoch_verdict(int16_t error_code)
{
    return (enum krc_verdict)rows[row_of(error_code)].epoch;
}
